//! The outermost object of a content file: documents by content type, in the order of the file.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Every member as it was written. A map would keep the last of two lists for one type, and the
/// documents of the first would be missing without a word.
pub(super) struct Types(pub(super) Vec<(String, Vec<Box<RawValue>>)>);

impl<'de> Deserialize<'de> for Types {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Types;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of lists of documents")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Types, A::Error> {
        let mut types = Vec::new();
        while let Some(member) = members.next_entry()? {
            types.push(member);
        }
        Ok(Types(types))
    }
}
