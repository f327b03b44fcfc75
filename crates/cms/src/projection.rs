//! Reads documents from JSON: the fields that the rules need alone, without a tree of the whole.

mod path_tree;
mod reader;
mod rows;

pub(super) use rows::Rows;

use std::borrow::Cow;
use std::sync::Arc;

use frontend_map_rules::{Document, DocumentLocale, FieldPath};
use path_tree::PathTree;

/// Which fields of a content type's documents to read.
#[derive(Clone, Debug)]
pub struct Projection {
    fields: Arc<[FieldPath]>,
    /// The paths of `fields`, then [`SYSTEM_KEYS`]; each path's position is its slot.
    tree: PathTree,
    /// Whether the values are JSON texts.
    is_of_content: bool,
}

/// The keys that are read of every document.
const SYSTEM_KEYS: [&str; 3] = ["documentId", "locale", "publishedAt"];

/// A list item that is not a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadItem;

impl Projection {
    /// A projection of these fields.
    ///
    /// # Panics
    /// Never: the system keys are field names.
    pub fn new(fields: Vec<FieldPath>) -> Self {
        let system = SYSTEM_KEYS.map(|key| FieldPath::parse(key).expect("a field name"));
        let tree = PathTree::new(fields.iter().chain(&system));
        Self { fields: fields.into(), tree, is_of_content: false }
    }

    /// A projection of fields with content: each value is its JSON text, of whatever form it is. A path may
    /// lead through dynamic zones. None is the beginning of another one.
    pub fn of_content(fields: Vec<FieldPath>) -> Self {
        let mut projection = Self::new(fields);
        projection.tree.read_as_json(&*projection.fields);
        projection.is_of_content = true;
        projection
    }

    /// Whether the values are JSON texts.
    pub(crate) fn is_of_content(&self) -> bool {
        self.is_of_content
    }

    /// The fields that the rules need, without the system keys.
    pub fn paths(&self) -> &[FieldPath] {
        &self.fields
    }

    /// Reads one document in Strapi's flat form. A value that cannot be read (half of a
    /// surrogate pair, `1e999`) is one that is not text.
    ///
    /// # Errors
    /// [`BadItem`] when the text is not an object with a `documentId`.
    pub fn decode<'a>(&'a self, json: &'a str) -> Result<Document<'a>, BadItem> {
        let mut rows = Rows::with_capacity(self, 1);
        rows.push(json);
        rows.into_single()
    }

    /// The number of slots of a document.
    fn width(&self) -> usize {
        self.fields.len() + SYSTEM_KEYS.len()
    }

    /// A document to be filled.
    fn empty_document<'a>(&self) -> Document<'a> {
        Document {
            id: Cow::Borrowed(""),
            locale: DocumentLocale::None,
            unpublished: false,
            fields: Arc::clone(&self.fields),
            values: Vec::with_capacity(self.fields.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend_map_rules::FieldValue;

    fn projection(paths: &[&str]) -> Projection {
        Projection::new(paths.iter().map(|path| FieldPath::parse(path).unwrap()).collect())
    }

    fn text(text: &str) -> FieldValue<'_> {
        FieldValue::Text(text.into())
    }

    fn list<'a>(values: &[FieldValue<'a>]) -> FieldValue<'a> {
        FieldValue::List(values.into())
    }

    #[test]
    fn decode_reads_the_fields_of_the_projection_alone() {
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
            FieldValue::Absent(0),
        ];
        assert_eq!(document.values, expected);
        assert_eq!(document.field(&FieldPath::parse("category.slug").unwrap()), &text("c"));
    }

    #[test]
    fn decode_reads_text_integers_and_booleans() {
        for (value, alone, through) in [
            ("null", FieldValue::Missing, FieldValue::NullAt(0)),
            ("true", FieldValue::Boolean(true), FieldValue::NotText),
            ("[\"a\"]", FieldValue::NotText, list(&[FieldValue::NotText])),
            ("{}", FieldValue::NotText, FieldValue::Absent(1)),
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
    fn decode_tells_an_absent_key_from_null_at_each_level() {
        let absent = FieldValue::Absent;
        for (json, slug, id) in [
            ("", absent(0), absent(0)),
            (r#","a":null"#, FieldValue::NullAt(0), FieldValue::NullAt(0)),
            (r#","a":{}"#, absent(1), absent(1)),
            (r#","a":{"b":null}"#, FieldValue::NullAt(1), FieldValue::NullAt(1)),
            // A `documentId` is not requested: Strapi sends it wherever there is one.
            (r#","a":{"b":{}}"#, absent(2), FieldValue::Missing),
            (r#","a":{"b":{"slug":null,"documentId":"i"}}"#, FieldValue::Missing, text("i")),
            (r#","a":{"b":{"slug":"x"}},"a":{}"#, absent(1), absent(1)),
        ] {
            let json = format!(r#"{{"documentId":"d"{json}}}"#);
            let projection = projection(&["a.b.slug", "a.b.documentId", "locale"]);
            let document = projection.decode(&json).unwrap();
            assert_eq!(document.values, [slug, id, FieldValue::Missing], "{json}");
            let has_absent = document.has_absent();
            let in_file = document.without_absent();
            assert_eq!(has_absent, json.contains("{}") || json == r#"{"documentId":"d"}"#);
            assert!(!in_file.has_absent(), "{in_file:?}");
        }
    }

    #[test]
    fn decode_reads_the_values_of_lists_on_a_path() {
        let absent = FieldValue::Absent;
        for (json, expected) in [
            ("[]", list(&[])),
            (r#"[{"b":{"slug":"x"}},null,{"b":null}]"#, list(&[text("x")])),
            (
                r#"[{"b":[{"slug":"x"},{"slug":"y"}]},{"b":[]},{"b":{"slug":5}}]"#,
                list(&[text("x"), text("y"), text("5")]),
            ),
            (
                r#"[{},{"b":[{"slug":"x"},{}]},7]"#,
                list(&[absent(1), text("x"), absent(2), FieldValue::NotText]),
            ),
            (r#"{"b":[{"slug":"x"}]}"#, list(&[text("x")])),
            (r#"[{"b":{"slug":"x"}}],"a":{"b":{"slug":"y"}}"#, text("y")),
        ] {
            let json = format!(r#"{{"documentId":"d","a":{json}}}"#);
            let projection = projection(&["a.b.slug"]);
            let document = projection.decode(&json).unwrap();
            assert_eq!(document.values, [expected], "{json}");
        }
    }

    #[test]
    fn decode_of_content_reads_json_texts_through_lists_of_any_items() {
        let json = r#"{"documentId":"d","body":"a\\n\"b","blocks":[{"x":1}],"no":null,
            "zone":[{"__component":"a.b","text":"t"},{"__component":"a.c","other":1},null,{"text":[1]}],
            "seo":{"url":"/u"},"none":null}"#;
        let paths = ["body", "blocks", "no", "zone.text", "seo.url", "none.url", "absent"];
        let fields = paths.iter().map(|path| FieldPath::parse(path).unwrap()).collect();
        let projection = Projection::of_content(fields);
        let document = projection.decode(json).unwrap();
        let expected = [
            text(r#""a\\n\"b""#),
            text(r#"[{"x":1}]"#),
            text("null"),
            list(&[text(r#""t""#), FieldValue::Absent(1), text("[1]")]),
            text(r#""/u""#),
            FieldValue::NullAt(0),
            FieldValue::Absent(0),
        ];
        assert_eq!(document.values, expected);
    }

    #[test]
    fn decode_reads_locale_and_publication() {
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
    fn decode_of_a_value_that_cannot_be_read_costs_its_field_alone() {
        let half = r#""Noodles \ud83c""#;
        for (field, value) in [
            (half.to_owned(), FieldValue::NotText),
            ("1e999".to_owned(), FieldValue::NotText),
            (format!(r#"{{"x":{half}}}"#), FieldValue::Absent(1)),
            (format!(r#"{{"b":{half}}}"#), FieldValue::NotText),
            (format!(r#"{{"b":{{"slug":{half}}}}}"#), FieldValue::NotText),
            (
                format!(r#"[{{"b":{{"slug":{half}}}}},{{"b":{{"slug":"s"}}}}]"#),
                list(&[FieldValue::NotText, text("s")]),
            ),
        ] {
            let json = format!(
                r#"{{"documentId":"d","title":{half},"a":{field},"other":{half},"slug":"\ud83c\udf5c","publishedAt":null}}"#
            );
            let projection = projection(&["title", "a.b.slug", "slug", "no"]);
            let document = projection.decode(&json).unwrap();
            let expected = [FieldValue::NotText, value, text("🍜"), FieldValue::Absent(0)];
            assert_eq!(document.values, expected, "{json}");
            assert_eq!((&*document.id, document.unpublished), ("d", true));
        }
        let json = format!(r#"{{"documentId":"d","locale":{half}}}"#);
        assert_eq!(projection(&[]).decode(&json).unwrap().locale, DocumentLocale::NotText);
    }

    #[test]
    fn decode_of_lists_in_lists_ends_whatever_their_depth() {
        let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
        let json = format!(r#"{{"documentId":"d","a":{open}{close},"slug":"x"}}"#);
        let projection = projection(&["a.b.slug", "slug"]);
        let document = projection.decode(&json).unwrap();
        assert_eq!(document.values, [list(&[FieldValue::NotText]), text("x")]);
    }

    #[test]
    fn document_that_can_be_read_is_the_same_value_by_value() {
        let members = [
            r#""a":{"b":{"slug":"x"}}"#,
            r#""a":{"b":{"slug":"x","slug":null,"documentId":"i"}}"#,
            r#""a":[{"b":[{"slug":"x"},null,{"slug":5}]},null,7,[{"b":{"slug":"y"}}],[[]]]"#,
            r#""a":null"#,
            r#""a":{}"#,
            r#""a":[]"#,
            r#""a":{"b":1.5}"#,
            r#""a":[{"b":{"slug":"x"}}],"a":{"b":{"slug":"\u00e9"}}"#,
            r#""slug":"\ud83c\udf5c","a":true"#,
            r#""slug":-7,"slug":18446744073709551616"#,
        ];
        let projection = projection(&["a.b.slug", "a.b.documentId", "a", "slug"]);
        for members in members {
            let json = format!(r#"{{"documentId":"d","locale":"en",{members}}}"#);
            let read = |by_value: bool| {
                let mut rows = Rows::with_capacity(&projection, 1);
                let read =
                    if by_value { rows.read::<true>(&json) } else { rows.read::<false>(&json) };
                read.unwrap();
                rows.into_single().unwrap()
            };
            assert_eq!(read(true), read(false), "{json}");
        }
    }

    #[test]
    fn decode_of_anything_else_is_a_bad_item() {
        for json in [
            "null",
            r#"["d"]"#,
            r#"{"documentId":5}"#,
            r#"{"documentId":"\ud800"}"#,
            r#"{"slug":"x"}"#,
            r#"{"documentId":"d","\ud800":"x"}"#,
        ] {
            assert_eq!(projection(&["slug"]).decode(json), Err(BadItem), "{json}");
        }
    }
}
