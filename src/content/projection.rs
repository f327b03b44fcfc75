//! Reads documents from JSON: only the fields that the rules need, no tree in between.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::rules::{Document, DocumentLocale, FieldPath, FieldValue};

/// Which fields of a content type's documents to read.
#[derive(Clone, Debug)]
pub struct Projection {
    fields: Arc<[FieldPath]>,
    /// `fields`, then [`OWN_KEYS`].
    wanted: Vec<FieldPath>,
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
        let wanted = fields.iter().cloned().chain(own).collect();
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
    pub fn decode(&self, json: &str) -> Result<Document, BadItem> {
        let mut found = vec![Found::Absent; self.wanted.len()];
        let wanted = self.wanted.iter().map(FieldPath::segments).enumerate().collect();
        let mut reader = serde_json::Deserializer::from_str(json);
        let read = Object(Node { wanted, found: &mut found }).deserialize(&mut reader);
        let [document_id, locale, published_at] = own_values(&mut found);
        match (read.and_then(|()| reader.end()), document_id) {
            (Ok(()), Found::Text(id)) => Ok(Document {
                id,
                locale: locale.into(),
                unpublished: published_at == Found::Null,
                fields: Arc::clone(&self.fields),
                values: found.into_iter().map(Into::into).collect(),
            }),
            _ => Err(BadItem { id: id_of(json) }),
        }
    }
}

fn own_values(found: &mut Vec<Found>) -> [Found; 3] {
    let own = found.split_off(found.len() - OWN_KEYS.len());
    own.try_into().unwrap_or([const { Found::Absent }; 3])
}

/// The `documentId` of an object, whatever else is in it.
pub(super) fn id_of(json: &str) -> Option<String> {
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

/// What stands at one wanted path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    Absent,
    Null,
    Text(String),
    Integer(String),
    Boolean(bool),
    Other,
}

impl From<Found> for FieldValue {
    fn from(found: Found) -> Self {
        match found {
            Found::Absent | Found::Null => Self::Missing,
            Found::Text(text) | Found::Integer(text) => Self::Text(text),
            Found::Boolean(value) => Self::Boolean(value),
            Found::Other => Self::NotText,
        }
    }
}

impl From<Found> for DocumentLocale {
    fn from(found: Found) -> Self {
        match found {
            Found::Absent | Found::Null => Self::None,
            Found::Text(text) => Self::Named(text),
            Found::Integer(_) | Found::Boolean(_) | Found::Other => Self::NotText,
        }
    }
}

/// Slot in `found`, and what is left of the path from here.
type Wanted<'p> = (usize, &'p [Box<str>]);

/// What is wanted of the value under `key`.
fn below<'p>(wanted: &[Wanted<'p>], key: &str) -> Vec<Wanted<'p>> {
    let through = |&(slot, rest): &Wanted<'p>| match rest {
        [first, rest @ ..] if **first == *key => Some((slot, rest)),
        _ => None,
    };
    wanted.iter().filter_map(through).collect()
}

/// A value in the document, and which wanted paths lead to it or through it.
struct Node<'p, 'f> {
    wanted: Vec<Wanted<'p>>,
    found: &'f mut [Found],
}

impl Node<'_, '_> {
    /// A value without keys: what ends here has it, what leads on finds nothing to follow.
    fn set(self, value: &Found) {
        for (slot, rest) in self.wanted {
            let leads_on = !rest.is_empty() && *value != Found::Null;
            self.found[slot] = if leads_on { Found::Other } else { value.clone() };
        }
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.set(&Found::Null);
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.set(&Found::Text(text.to_owned()));
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.set(&Found::Integer(number.to_string()));
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.set(&Found::Integer(number.to_string()));
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.set(&Found::Other);
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.set(&Found::Boolean(value));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        self.set(&Found::Other);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        for (slot, rest) in &self.wanted {
            self.found[*slot] = if rest.is_empty() { Found::Other } else { Found::Absent };
        }
        while let Some(key) = entries.next_key::<String>()? {
            let wanted = below(&self.wanted, &key);
            if wanted.is_empty() {
                entries.next_value::<IgnoredAny>()?;
            } else {
                entries.next_value_seed(Node { wanted, found: self.found })?;
            }
        }
        Ok(())
    }
}

/// A [`Node`] that has to be an object.
struct Object<'p, 'f>(Node<'p, 'f>);

impl<'de> DeserializeSeed<'de> for Object<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<(), A::Error> {
        self.0.visit_map(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn projection(paths: &[&str]) -> Projection {
        Projection::new(paths.iter().map(|path| FieldPath::parse(path).unwrap()).collect())
    }

    fn text(text: &str) -> FieldValue {
        FieldValue::Text(text.to_owned())
    }

    #[test]
    fn only_what_is_wanted_is_read() {
        let json = r#"{"id":1,"documentId":"d","locale":"en","publishedAt":"2024-03-06T22:19:54.649Z",
            "slug":"x","year":2024,"neg":-7,"part":1.5,"category":{"slug":"c","parent":{"slug":"p"}},"blocks":[[1]]}"#;
        let document = projection(&[
            "slug",
            "year",
            "neg",
            "part",
            "category.slug",
            "category.parent.slug",
            "no",
        ])
        .decode(json)
        .unwrap();
        assert_eq!((document.id.as_str(), document.unpublished), ("d", false));
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
            let document = projection(&["a", "a.slug"]).decode(&json).unwrap();
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
            let document = projection(&["publishedAt"]).decode(&json).unwrap();
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
