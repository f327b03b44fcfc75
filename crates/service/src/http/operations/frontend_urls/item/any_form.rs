//! Reads a body in any form that JSON allows, by `serde_json`. A malformed item does not make the
//! others unreadable.

use std::collections::HashMap;

use serde::Deserialize;
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

/// The beginnings of those members of a malformed item that are text; of several with one name, the last
/// one counts. Each value is read by itself: one with half of a surrogate pair makes no other member
/// unreadable. The name of a member with half of one does.
fn echoes<'a>(json: &str) -> Members<Text<'a>> {
    let members: HashMap<String, &RawValue> = serde_json::from_str(json).unwrap_or_default();
    ["uid", "documentId", "locale"].map(|name| {
        let text: String = serde_json::from_str(members.get(name)?.get()).ok()?;
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

/// A text, borrowed where it has no escapes: serde borrows no `Option<Cow<str>>`.
#[derive(Deserialize)]
struct BorrowedText<'a>(#[serde(borrow)] Text<'a>);
