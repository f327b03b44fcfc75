//! Numbers of 128 bits, which JSON does not have.

use serde::{Deserialize, Deserializer, Serializer, de};

/// Writes a number as text.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(value: &u128, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&format!("{value:032x}"))
}

/// Reads a number from text.
///
/// # Errors
/// When the text is no such number.
pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<u128, D::Error> {
    let text = String::deserialize(from)?;
    u128::from_str_radix(&text, 16).map_err(de::Error::custom)
}
