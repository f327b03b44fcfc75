//! Reads a body in any form that JSON allows, by `serde_json`. A malformed item does not make the
//! others unreadable.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Items, Members, Text};
use crate::http::operations::frontend_urls::check_count;
use crate::http::response::error::ApiError;

/// The part of a text that the result repeats if an item is malformed, in characters.
const MAX_ECHO: usize = 128;

/// As [`super::read`].
pub(super) fn read(body: &[u8]) -> Result<Items<'_>, ApiError> {
    let Some(Documents { documents }) = object(body) else {
        let message = "the body must be a JSON object with a list `documents`";
        return Err(ApiError::validation(message));
    };
    // Before they are read: a body has room for 100,000.
    check_count("documents", documents.len())?;
    let mut found = Items::default();
    for document in documents {
        let members = members(document.get());
        if members.and_then(|members| found.push(members)).is_none() {
            found.push_malformed(echoes(document.get()));
        }
    }
    Ok(found)
}

/// The members of an item that names a published document.
fn members(json: &str) -> Option<Members<Text<'_>>> {
    let Fields { uid, document_id, locale, status } = object(json.as_bytes())?;
    let is_published =
        status.is_none_or(|BorrowedText(status)| status.is_empty() || status == "published");
    is_published.then(|| [uid, document_id, locale].map(|text| text.map(|BorrowedText(text)| text)))
}

/// The beginnings of those members of a malformed item that are text. Each is read by itself: an
/// escape that is half of a surrogate pair makes no other member unreadable.
fn echoes<'a>(json: &str) -> Members<Text<'a>> {
    let Echoed(members) = serde_json::from_str(json).unwrap_or_default();
    members.map(|json| {
        let text: String = serde_json::from_str(json?.get()).ok()?;
        Some(text.chars().take(MAX_ECHO).collect::<String>().into())
    })
}

#[derive(Deserialize)]
struct Documents<'a> {
    #[serde(borrow)]
    documents: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields<'a> {
    #[serde(borrow)]
    uid: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    document_id: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    locale: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    status: Option<BorrowedText<'a>>,
}

/// Reads an object: serde reads the members of a struct from a list as well.
fn object<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Option<T> {
    json.trim_ascii_start().starts_with(b"{").then(|| serde_json::from_slice(json).ok()).flatten()
}

/// The values of the members that a result repeats, as written. Of several with one name, the last
/// one counts.
#[derive(Default)]
struct Echoed<'a>(Members<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Echoed<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EchoedVisitor)
    }
}

struct EchoedVisitor;

impl<'de> Visitor<'de> for EchoedVisitor {
    type Value = Echoed<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Echoed<'de>, A::Error> {
        let mut found = Echoed::default();
        while let Some((name, value)) = members.next_entry::<&RawValue, &RawValue>()? {
            let name: String = serde_json::from_str(name.get()).unwrap_or_default();
            let names = ["uid", "documentId", "locale"];
            if let Some(at) = names.iter().position(|own| *own == name) {
                found.0[at] = Some(value);
            }
        }
        Ok(found)
    }
}

/// A text, borrowed where it has no escapes: serde borrows no `Option<Cow<str>>`.
#[derive(Deserialize)]
struct BorrowedText<'a>(#[serde(borrow)] Text<'a>);
