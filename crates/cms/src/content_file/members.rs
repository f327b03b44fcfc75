//! The outermost object of a content file: lists of documents by content type.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Every member in the order of the file. A map would silently keep the last of two lists for one
/// type.
pub(super) struct Members<'t>(pub(super) Vec<(String, Vec<&'t RawValue>)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of lists of documents")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Members<'de>, A::Error> {
        let mut found = Vec::new();
        while let Some(member) = entries.next_entry()? {
            found.push(member);
        }
        Ok(Members(found))
    }
}
