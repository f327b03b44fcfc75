//! Reads documents from JSON: only the fields that the rules need, no tree in between.

mod read;
mod rows;
mod wanted;

pub(super) use rows::Rows;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;

use crate::rules::{Document, DocumentLocale, FieldPath};
use wanted::Wanted;

/// Which fields of a content type's documents to read.
#[derive(Clone, Debug)]
pub struct Projection {
    fields: Arc<[FieldPath]>,
    /// `fields`, then [`OWN_KEYS`], each in its slot.
    wanted: Wanted,
}

/// What every document is asked for, whatever the templates say.
const OWN_KEYS: [&str; 3] = ["documentId", "locale", "publishedAt"];

/// A list item that is not a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadItem {
    /// Its `documentId`, if at least that can be read: a walk needs it to go on.
    pub id: Option<String>,
}

impl Projection {
    /// Reads these fields, each once.
    ///
    /// # Panics
    /// Never: the own keys are field names.
    #[must_use]
    pub fn new(fields: Vec<FieldPath>) -> Self {
        let own = OWN_KEYS.map(|key| FieldPath::parse(key).expect("a field name"));
        let wanted = Wanted::new(fields.iter().chain(&own));
        Self { fields: fields.into(), wanted }
    }

    /// The fields that the templates need, without the own keys of every document.
    #[must_use]
    pub fn paths(&self) -> &[FieldPath] {
        &self.fields
    }

    /// Reads one document in Strapi's flat form.
    ///
    /// # Errors
    /// [`BadItem`] when the text is not an object with a `documentId`, or not JSON that can be
    /// read as text (a lone surrogate in a field that is needed).
    pub fn decode<'a>(&'a self, json: &'a str) -> Result<Document<'a>, BadItem> {
        let mut rows = Rows::with_capacity(self, 1);
        rows.push(json);
        rows.into_one()
    }

    /// How many slots a document fills.
    fn width(&self) -> usize {
        self.fields.len() + OWN_KEYS.len()
    }

    /// A document to be filled.
    fn blank<'a>(&self) -> Document<'a> {
        Document {
            id: Cow::Borrowed(""),
            locale: DocumentLocale::None,
            unpublished: false,
            fields: Arc::clone(&self.fields),
            values: Vec::with_capacity(self.fields.len()),
        }
    }
}

/// The `documentId` of an object, whatever else is in it.
fn id_of(json: &str) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Identified {
        document_id: String,
    }
    // A derived struct would accept a list in place of an object.
    let object = json.trim_start().starts_with('{');
    let identified: Option<Identified> = object.then(|| serde_json::from_str(json).ok()).flatten();
    identified.map(|item| item.document_id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::FieldValue;

    fn projection(paths: &[&str]) -> Projection {
        Projection::new(paths.iter().map(|path| FieldPath::parse(path).unwrap()).collect())
    }

    fn text(text: &str) -> FieldValue<'_> {
        FieldValue::Text(text.into())
    }

    #[test]
    fn only_what_is_wanted_is_read() {
        let json = r#"{"id":1,"documentId":"d","locale":"en","publishedAt":"2024-03-06T22:19:54.649Z",
            "slug":"x","year":2024,"neg":-7,"part":1.5,"category":{"slug":"c","parent":{"slug":"p"}},"blocks":[[1]]}"#;
        let paths = ["slug", "year", "neg", "part", "category.slug", "category.parent.slug", "no"];
        let projection = projection(&paths);
        let document = projection.decode(json).unwrap();
        assert_eq!((&*document.id, document.unpublished), ("d", false));
        assert_eq!(document.locale, DocumentLocale::Named("en".into()));
        let expected = [
            text("x"),
            text("2024"),
            text("-7"),
            FieldValue::NotText,
            text("c"),
            text("p"),
            FieldValue::Missing,
        ];
        assert_eq!(document.values, expected);
        assert_eq!(document.field(&FieldPath::parse("category.slug").unwrap()), &text("c"));
    }

    #[test]
    fn what_a_field_may_hold() {
        for (value, alone, through) in [
            ("null", FieldValue::Missing, FieldValue::Missing),
            ("true", FieldValue::Boolean(true), FieldValue::NotText),
            ("[\"a\"]", FieldValue::NotText, FieldValue::NotText),
            ("{}", FieldValue::NotText, FieldValue::Missing),
            ("{\"slug\":null}", FieldValue::NotText, FieldValue::Missing),
            ("18446744073709551615", text("18446744073709551615"), FieldValue::NotText),
            ("18446744073709551616", FieldValue::NotText, FieldValue::NotText),
            ("1.0", FieldValue::NotText, FieldValue::NotText),
        ] {
            let json = format!(r#"{{"documentId":"d","a":{value}}}"#);
            let projection = projection(&["a", "a.slug"]);
            let document = projection.decode(&json).unwrap();
            assert_eq!(document.values, [alone, through], "{value}");
        }
    }

    #[test]
    fn locales_and_publication() {
        for (extra, locale, unpublished) in [
            ("", DocumentLocale::None, false),
            (r#","locale":null,"publishedAt":null"#, DocumentLocale::None, true),
            (r#","locale":5,"publishedAt":"""#, DocumentLocale::NotText, false),
        ] {
            let json = format!(r#"{{"documentId":"d"{extra}}}"#);
            let projection = projection(&["publishedAt"]);
            let document = projection.decode(&json).unwrap();
            assert_eq!((document.locale, document.unpublished), (locale, unpublished));
        }
    }

    #[test]
    fn anything_else_is_a_bad_item_that_may_still_be_known() {
        for (json, id) in [
            ("null", None),
            (r#"["d"]"#, None),
            (r#"{"documentId":5}"#, None),
            (r#"{"slug":"x"}"#, None),
            (r#"{"documentId":"d","slug":"\ud800"}"#, Some("d")),
        ] {
            let id = id.map(str::to_owned);
            assert_eq!(projection(&["slug"]).decode(json), Err(BadItem { id }), "{json}");
        }
    }
}
