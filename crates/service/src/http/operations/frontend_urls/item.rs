//! The documents of a batch as the client names them.

mod any_form;
mod scan;

use std::borrow::Cow;

use self::scan::{Scanned, scan};
use super::MAX_DOCUMENTS;
use crate::http::request::params::{MAX_LOCALE_BYTES, MAX_UID_BYTES, parse_locale};
use crate::http::response::error::ApiError;
use frontend_map_rules::is_document_id;

/// The usual length of an item in a body, in bytes.
const USUAL_BYTES: usize = 64;

/// A text, borrowed from the request where it has no escapes.
type Text<'a> = Cow<'a, str>;

/// `uid`, `documentId` and `locale` of an item.
type Members<T> = [Option<T>; 3];

/// The documents that a client names, in its order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Items<'a> {
    /// Items that follow each other usually share one.
    types_and_locales: Vec<TypeAndLocale<'a>>,
    items: Vec<Item<'a>>,
}

/// The content type and the requested locale of items.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TypeAndLocale<'a> {
    pub(super) uid: Option<Text<'a>>,
    pub(super) locale: Option<Text<'a>>,
    /// Whether both are well-formed. The parameters of a single request have the same conditions.
    pub(super) is_valid: bool,
}

/// A document that a client names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Item<'a> {
    /// The position of its content type and locale.
    pub(super) type_and_locale: usize,
    pub(super) document_id: Option<Text<'a>>,
    /// Whether it can name a document. Then its content type and locale are too.
    pub(super) is_valid: bool,
}

impl<'a> Items<'a> {
    /// Documents of one content type in one locale.
    pub(super) fn of_one_type(
        uid: &'a str,
        locale: Option<&'a str>,
        ids: impl Iterator<Item = &'a str>,
    ) -> Self {
        let type_and_locale =
            TypeAndLocale::new(Some(uid.into()), requested(locale.map(Text::from)));
        let is_valid = type_and_locale.is_valid;
        let mut found = Self { types_and_locales: vec![type_and_locale], items: Vec::new() };
        for id in ids {
            found.push_like_last(present(Some(id.into())), is_valid && is_document_id(id));
        }
        found
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Item<'a>> {
        self.items.iter()
    }

    pub(super) fn types_and_locales(&self) -> &[TypeAndLocale<'a>] {
        &self.types_and_locales
    }

    /// Adds an item, where an empty text counts as absent. `None`: the item is malformed.
    fn push(&mut self, [uid, document_id, locale]: Members<Text<'a>>) -> Option<()> {
        let document_id = document_id.filter(|id| is_document_id(id))?;
        let (uid, locale) = (present(uid), requested(locale));
        let is_like =
            |last: &TypeAndLocale<'_>| last.is_valid && last.uid == uid && last.locale == locale;
        if !self.types_and_locales.last().is_some_and(is_like) {
            let type_and_locale = Some(TypeAndLocale::new(uid, locale))
                .filter(|type_and_locale| type_and_locale.is_valid)?;
            self.types_and_locales.push(type_and_locale);
        }
        self.push_like_last(Some(document_id), true);
        Some(())
    }

    /// Adds an item with the content type and the locale of the item before it.
    fn push_like_last(&mut self, document_id: Option<Text<'a>>, is_valid: bool) {
        self.items.push(Item {
            type_and_locale: self.types_and_locales.len() - 1,
            document_id,
            is_valid,
        });
    }

    /// Adds a malformed item with those of its members that are text.
    fn push_malformed(&mut self, [uid, document_id, locale]: Members<Text<'a>>) {
        self.types_and_locales.push(TypeAndLocale { uid, locale, is_valid: false });
        self.push_like_last(document_id, false);
    }
}

impl<'a> TypeAndLocale<'a> {
    fn new(uid: Option<Text<'a>>, locale: Option<Text<'a>>) -> Self {
        let is_uid = |uid: &str| uid.len() <= MAX_UID_BYTES && !uid.contains(char::is_control);
        let is_locale =
            |code: &str| code.len() <= MAX_LOCALE_BYTES && parse_locale(Some(code)).is_ok();
        let is_valid =
            uid.as_deref().is_some_and(is_uid) && locale.as_deref().is_none_or(is_locale);
        Self { uid, locale, is_valid }
    }
}

/// An empty text counts as absent.
fn present(text: Option<Text<'_>>) -> Option<Text<'_>> {
    text.filter(|text| !text.is_empty())
}

/// `null` counts as absent too: Strapi has it for a document that is not localized (D19).
fn requested(locale: Option<Text<'_>>) -> Option<Text<'_>> {
    present(locale).filter(|code| code != "null")
}

/// The items of a body.
///
/// # Errors
/// 400 if it is not an object with a list `documents` of 1 to [`MAX_DOCUMENTS`] items.
pub(super) fn read(body: &[u8]) -> Result<Items<'_>, ApiError> {
    read_usual(body).map_or_else(|| any_form::read(body), Ok)
}

/// The items of a body of the usual form, if none of them is malformed.
fn read_usual(body: &[u8]) -> Option<Items<'_>> {
    let mut found = Items::default();
    found.items.reserve(MAX_DOCUMENTS.min(body.len() / USUAL_BYTES));
    scan(str::from_utf8(body).ok()?, MAX_DOCUMENTS, |item| match item {
        Scanned::LikeBefore(document_id) => {
            found.push_like_last(Some(document_id.into()), true);
            Some(())
        }
        Scanned::Members(members) => found.push(members.map(|text| text.map(Text::from))),
    })?;
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_usual_agrees_with_serde_json_about_each_change_of_a_byte() {
        let body = r#"{ "documents":[
            {"uid":"a","documentId":"b","locale":"de"},{"uid":"a","documentId":"c","locale":"de"},
            {"locale":null, "documentId":"c","uid":"a"} , {"locale":null, "documentId":"d","uid":"a"}
        ]}"#;
        assert_eq!(read_usual(body.as_bytes()).map(|items| items.len()), Some(4));
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
                        assert_eq!(Some(items), any_form::read(&body).ok(), "{text}");
                    }
                }
            }
        }
        assert!(usual > 600, "{usual} bodies of the usual form");
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

    #[test]
    fn items_of_a_valid_type_do_not_take_that_of_a_malformed_item() {
        let malformed = r#"{"uid":"a","documentId":"b/c","locale":"de"}"#;
        let one = r#"{"uid":"a","documentId":"b","locale":"de"}"#;
        let body = format!(r#"{{"documents":[{one},{malformed},{one},{one}]}}"#);
        let items = read(body.as_bytes()).unwrap();
        let types_and_locales: Vec<_> = items
            .iter()
            .map(|item| (item.is_valid, items.types_and_locales()[item.type_and_locale].is_valid))
            .collect();
        assert_eq!(types_and_locales, [(true, true), (false, false), (true, true), (true, true)]);
    }
}
