//! The documents of a batch as the client names them.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::http::request::params::{MAX_LOCALE_BYTES, MAX_UID_BYTES, parse_document_locale};
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
    /// An item with these members; an empty text counts as absent.
    pub(super) fn new(
        uid: Option<&'a str>,
        document_id: Option<&'a str>,
        locale: Option<&'a str>,
    ) -> Self {
        Self::checked([uid, document_id, locale].map(|text| text.map(Cow::Borrowed)))
    }

    fn checked(members: [Option<Cow<'a, str>>; 3]) -> Self {
        let [uid, document_id, locale] = members.map(|text| text.filter(|text| !text.is_empty()));
        let is_uid = |uid: &str| uid.len() <= MAX_UID_BYTES && !uid.contains(char::is_control);
        let is_locale = |code: &str| {
            code.len() <= MAX_LOCALE_BYTES && parse_document_locale(Some(code)).is_ok()
        };
        let is_valid = uid.as_deref().is_some_and(is_uid)
            && document_id.as_deref().is_some_and(is_document_id)
            && locale.as_deref().is_none_or(is_locale);
        let locale = locale.filter(|code| code != "null");
        Self { uid, document_id, locale, is_valid }
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

    /// Reads one of the texts of [`read`].
    pub(super) fn read(json: &'a RawValue) -> Self {
        let json = json.get();
        let fields: Result<Fields<'a>, _> = serde_json::from_str(json);
        match fields {
            Ok(Fields { uid, document_id, locale, status }) if is_object(json.as_bytes()) => {
                let members = [uid, document_id, locale].map(|text| text.map(|Text(text)| text));
                let item = Self::checked(members);
                let is_published = status.is_none_or(|Text(status)| status == "published");
                if item.is_valid && is_published { item } else { Self::malformed(json) }
            }
            _ => Self::malformed(json),
        }
    }
}

/// The items of a body as texts, which are counted before they are read: a body has room for 100,000.
///
/// # Errors
/// 400 if it is not an object with a list `documents`.
pub(super) fn read(body: &[u8]) -> Result<Vec<&RawValue>, ApiError> {
    let documents: Option<Documents<'_>> = serde_json::from_slice(body).ok();
    let found = documents.filter(|_| is_object(body)).map(|found| found.documents);
    let message = "the body must be a JSON object with a list `documents`";
    found.ok_or_else(|| ApiError::validation(message))
}

/// Whether a JSON text is an object. `serde` reads the members of a struct from a list as well.
fn is_object(json: &[u8]) -> bool {
    json.trim_ascii_start().starts_with(b"{")
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
