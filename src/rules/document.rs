//! A document as the rules see it: who it is, which locale, and the fields they need.

use std::sync::Arc;

use super::FieldPath;

/// What a field holds, as far as a URL can be built from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// The field is absent or null, or a relation on the way to it is.
    Missing,
    /// Text, or an integer of `i64` or `u64` written in decimal.
    Text(String),
    /// `true` or `false`: of use to conditions alone.
    Boolean(bool),
    /// Anything else: a fraction, an object, a list.
    NotText,
}

/// The locale that a document says it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentLocale {
    /// Null or absent: the document is not localised and stands under the site's default (D19).
    None,
    /// A code, not yet compared with the site's.
    Named(String),
    /// Something that is not text.
    NotText,
}

/// One version of one document: one `documentId`, one locale, draft or published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Strapi's `documentId`.
    pub id: String,
    /// The locale of this version.
    pub locale: DocumentLocale,
    /// Whether it says `publishedAt: null`; nothing else means not published (D18).
    pub unpublished: bool,
    /// Which fields were asked for.
    pub fields: Arc<[FieldPath]>,
    /// Their values, in the same order.
    pub values: Vec<FieldValue>,
}

impl Document {
    /// The value at a field path; one that was not asked for is missing.
    #[must_use]
    pub fn field(&self, path: &FieldPath) -> &FieldValue {
        let slot = self.fields.iter().position(|field| field == path);
        slot.and_then(|slot| self.values.get(slot)).unwrap_or(&FieldValue::Missing)
    }
}
