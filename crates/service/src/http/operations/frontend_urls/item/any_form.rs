//! Reads a body in any form that JSON allows, by `serde_json`. A malformed item does not make the
//! others unreadable.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Items, Members, Text};
use crate::http::operations::frontend_urls::check_count;
use crate::http::response::error::ApiError;

/// The part of a text that the result repeats if an item is malformed, in characters.
const MAX_ECHO: usize = 128;

/// As [`super::read`].
pub(super) fn read(body: &[u8]) -> Result<Items<'_>, ApiError> {
    let documents: Result<Object<Documents<'_>>, _> = serde_json::from_slice(body);
    let Ok(Object(Documents { documents })) = documents else {
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
    let Object(Fields { uid, document_id, locale, status }) = serde_json::from_str(json).ok()?;
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

/// A struct that is an object in JSON: serde reads the members of a struct from a list as well.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(Object)
    }
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
struct BorrowedText<'a>(Text<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for BorrowedText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = BorrowedText<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<BorrowedText<'de>, E> {
        Ok(BorrowedText(text.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<BorrowedText<'de>, E> {
        Ok(BorrowedText(text.to_owned().into()))
    }
}
