//! The documents of a batch as the client names them.

mod scan;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use self::scan::scan;
use super::{MAX_DOCUMENTS, check_count};
use crate::http::request::params::{MAX_LOCALE_BYTES, MAX_UID_BYTES, parse_locale};
use crate::http::response::error::ApiError;
use crate::rules::is_document_id;

/// The part of a text that the result repeats if an item is malformed, in characters.
const MAX_ECHO: usize = 128;

/// A document that a client names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Item<'a> {
    /// The content type.
    pub(super) uid: Option<Cow<'a, str>>,
    pub(super) document_id: Option<Cow<'a, str>>,
    /// The requested locale.
    pub(super) locale: Option<Cow<'a, str>>,
    /// Whether it can name a document. The parameters of a single request have the same conditions.
    pub(super) is_valid: bool,
}

impl<'a> Item<'a> {
    /// An item with these members; an empty text counts as absent. Its content type and locale are not
    /// checked again if they are those of the item before it, as they are as a rule.
    pub(super) fn new(members: [Option<&'a str>; 3], before: Option<&Self>) -> Self {
        Self::checked(members.map(|text| text.map(Cow::Borrowed)), before)
    }

    fn checked(members: [Option<Cow<'a, str>>; 3], before: Option<&Self>) -> Self {
        let [uid, document_id, locale] = members.map(|text| text.filter(|text| !text.is_empty()));
        let locale = locale.filter(|code| code != "null");
        let mut item = Self { uid, document_id, locale, is_valid: false };
        let is_as_before = before.is_some_and(|before| before.is_valid && item.is_like(before));
        item.is_valid = item.document_id.as_deref().is_some_and(is_document_id)
            && (is_as_before || item.has_valid_kind());
        item
    }

    /// Whether both have the same content type and locale.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.uid == other.uid && self.locale == other.locale
    }

    /// Whether the content type and the locale are well-formed.
    fn has_valid_kind(&self) -> bool {
        let is_uid = |uid: &str| uid.len() <= MAX_UID_BYTES && !uid.contains(char::is_control);
        let is_locale =
            |code: &str| code.len() <= MAX_LOCALE_BYTES && parse_locale(Some(code)).is_ok();
        self.uid.as_deref().is_some_and(is_uid) && self.locale.as_deref().is_none_or(is_locale)
    }

    /// A malformed item with those of its members that are text.
    fn malformed(json: &str) -> Self {
        let value: Value = serde_json::from_str(json).unwrap_or_default();
        let text = |name: &str| {
            let text = value.get(name)?.as_str()?.chars().take(MAX_ECHO).collect();
            Some(Cow::Owned(text))
        };
        let [uid, document_id, locale] = ["uid", "documentId", "locale"].map(text);
        Self { uid, document_id, locale, is_valid: false }
    }

    /// Reads one of the items of a body.
    fn read(json: &'a RawValue) -> Self {
        let json = json.get();
        let fields: Result<Object<Fields<'a>>, _> = serde_json::from_str(json);
        if let Ok(Object(Fields { uid, document_id, locale, status })) = fields {
            let members = [uid, document_id, locale].map(|text| text.map(|Text(text)| text));
            let item = Self::checked(members, None);
            let is_published = status.is_none_or(|Text(status)| status == "published");
            if item.is_valid && is_published {
                return item;
            }
        }
        Self::malformed(json)
    }
}

/// The items of a body.
///
/// # Errors
/// 400 if it is not an object with a list `documents` of 1 to [`MAX_DOCUMENTS`] items.
pub(super) fn read(body: &[u8]) -> Result<Vec<Item<'_>>, ApiError> {
    read_usual(body).map_or_else(|| read_any(body), Ok)
}

/// The items of a body of the usual form, if none of them is malformed.
fn read_usual(body: &[u8]) -> Option<Vec<Item<'_>>> {
    let found = scan(str::from_utf8(body).ok()?, MAX_DOCUMENTS)?;
    let mut items: Vec<Item<'_>> = Vec::with_capacity(found.len());
    for members in found {
        items.push(Item::new(members, items.last()));
    }
    items.iter().all(|item| item.is_valid).then_some(items)
}

fn read_any(body: &[u8]) -> Result<Vec<Item<'_>>, ApiError> {
    let documents: Result<Object<Documents<'_>>, _> = serde_json::from_slice(body);
    let Ok(Object(Documents { documents })) = documents else {
        let message = "the body must be a JSON object with a list `documents`";
        return Err(ApiError::validation(message));
    };
    // Before they are read: a body has room for 100,000.
    check_count("documents", documents.len())?;
    Ok(documents.into_iter().map(Item::read).collect())
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
    uid: Option<Text<'a>>,
    #[serde(borrow)]
    document_id: Option<Text<'a>>,
    #[serde(borrow)]
    locale: Option<Text<'a>>,
    #[serde(borrow)]
    status: Option<Text<'a>>,
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

/// A text, borrowed where it has no escapes: serde borrows no `Option<Cow<str>>`.
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(text.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(text.to_owned().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_usual_agrees_with_serde_json_about_each_change_of_a_byte() {
        let body = r#"{ "documents":[
            {"uid":"a","documentId":"b","locale":"de"},{"locale":null, "documentId":"c","uid":"a"}
        ]}"#;
        assert_eq!(read_usual(body.as_bytes()).map(|items| items.len()), Some(2));
        let mut usual = 0;
        for at in 0..=body.len() {
            let (start, end) = body.as_bytes().split_at(at);
            let behind = &end[end.len().min(1)..];
            for byte in b"\"\\{}[],: \n\0\xffan0".iter().map(Some).chain([None]) {
                for end in [end, behind] {
                    let body: Vec<u8> = start.iter().chain(byte).chain(end).copied().collect();
                    if let Some(items) = read_usual(&body) {
                        usual += 1;
                        let text = String::from_utf8_lossy(&body);
                        assert_eq!(Some(items), read_any(&body).ok(), "{text}");
                    }
                }
            }
        }
        assert!(usual > 300, "{usual} bodies of the usual form");
    }

    #[test]
    fn read_usual_leaves_other_forms_to_serde_json() {
        let one = r#"{"uid":"a","documentId":"b"}"#;
        let with =
            |member: &str| format!(r#"{{"documents":[{{"uid":"a","documentId":"b",{member}}}]}}"#);
        for (body, count) in [
            (with(r#""more":1"#), Some(1)),
            (with(r#""status":"published""#), Some(1)),
            (with(r#""loc\u0061le":"de""#), Some(1)),
            (with(r#""locale":"d\u0065""#), Some(1)),
            (with(r#""locale":"e_""#), Some(1)),
            (with(r#""uid":null"#), Some(1)),
            (format!(r#"{{"more":1,"documents":[{one}]}}"#), Some(1)),
            (format!(r#"{{"documents":[{one}],"more":1}}"#), Some(1)),
            (format!(r#"{{"documents":[{}]}}"#, vec![one; MAX_DOCUMENTS + 1].join(",")), None),
            (r#"{"documents":[]}"#.to_owned(), None),
        ] {
            assert_eq!(read_usual(body.as_bytes()), None, "{body}");
            assert_eq!(read(body.as_bytes()).ok().map(|items| items.len()), count, "{body}");
        }
    }
}
