//! Documents as the rules see them: id, locale and the fields that the rules need.

use std::borrow::Cow;
use std::sync::Arc;

use crate::locale::{Locale, Locales};
use crate::template::FieldPath;

/// The longest `documentId`, in bytes (D3).
const MAX_ID: usize = 64;

/// Whether a text can be a `documentId`: `[A-Za-z0-9_-]{1,64}` (D20).
pub fn is_document_id(text: &str) -> bool {
    let is_fine = |byte: u8| matches!(byte, b'_' | b'-') | byte.is_ascii_alphanumeric();
    // Without an early exit, so that the compiler vectorizes it.
    let are_fine = |part: &[u8]| part.iter().fold(true, |fine, byte| fine & is_fine(*byte));
    let bytes = text.as_bytes();
    match (bytes.first_chunk::<16>(), bytes.last_chunk::<16>()) {
        // Ids of Strapi have 24 bytes. Two chunks that overlap are vectorized; a loop over the bytes
        // behind the first chunk is not.
        (Some(first), Some(last)) if bytes.len() <= 32 => are_fine(first) && are_fine(last),
        _ => (1..=MAX_ID).contains(&bytes.len()) && are_fine(bytes),
    }
}

/// The value of a field, as far as URLs and conditions need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue<'a> {
    /// The field is null.
    Missing,
    /// A relation or component in the path is null: the one at this position of the path. In a content
    /// file also: the key there is absent.
    NullAt(usize),
    /// The field was requested from the CMS, and the response lacks the key at this position of the
    /// path (D32): the value is unknown.
    Absent(usize),
    /// Text, or an integer of `i64` or `u64` written in decimal.
    Text(Cow<'a, str>),
    /// `true` or `false`: used by conditions only.
    Boolean(bool),
    /// The values of a path through a list: a to-many relation or a repeatable component. Used by
    /// conditions only.
    List(Box<[Self]>),
    /// Anything else: a fraction, an object or a list.
    NotText,
}

/// The locale of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentLocale<'a> {
    /// Null or absent: the document is not localized and counts as one in the site's default (D19).
    None,
    /// A code, which may not be one of the site's.
    Named(Cow<'a, str>),
    /// A value that is not text.
    NotText,
}

impl DocumentLocale<'_> {
    /// Whether a version with this locale is one in the locale with this code. One that is not localized
    /// is in each of them, and one whose locale is not text is in none.
    pub fn is_in(&self, code: &str) -> bool {
        match self {
            Self::None => true,
            Self::Named(name) => name == code,
            Self::NotText => false,
        }
    }

    /// As [`Self::is_in`], but a locale that is not text may be any: it is left to the rules.
    pub fn may_be_in(&self, code: &str) -> bool {
        *self == Self::NotText || self.is_in(code)
    }

    /// Whether it is a locale that a site with these ones does not have: the version belongs to
    /// other sites then. A value that is no locale code belongs to none.
    pub fn is_of_other_site(&self, locales: &Locales) -> bool {
        match self {
            Self::Named(code) => locales.get(code).is_none() && Locale::parse(code).is_ok(),
            Self::None | Self::NotText => false,
        }
    }
}

/// One version of a document: one `documentId`, one locale, draft or published. Its texts may
/// borrow from the response that it was parsed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document<'a> {
    /// Strapi's `documentId`.
    pub id: Cow<'a, str>,
    /// The locale of this version.
    pub locale: DocumentLocale<'a>,
    /// Whether it has `publishedAt: null`; nothing else means unpublished (D18).
    pub unpublished: bool,
    /// The fields that were requested.
    pub fields: Arc<[FieldPath]>,
    /// The values of `fields`, in the same order.
    pub values: Vec<FieldValue<'a>>,
}

impl<'a> Document<'a> {
    /// The value of a field; [`FieldValue::Missing`] if it was not requested.
    pub fn field(&self, path: &FieldPath) -> &FieldValue<'a> {
        let slot = self.fields.iter().position(|field| field == path);
        slot.and_then(|slot| self.values.get(slot)).unwrap_or(&FieldValue::Missing)
    }

    /// This document with each absent key as a missing value, as in a content file (D32).
    pub fn without_absent(self) -> Self {
        let values = self.values.into_iter().map(FieldValue::without_absent).collect();
        Self { values, ..self }
    }

    /// Whether a requested key is absent, so that not all values are known (D32).
    pub fn has_absent(&self) -> bool {
        let may_be =
            |value: &FieldValue<'_>| matches!(value, FieldValue::Absent(_) | FieldValue::List(_));
        self.values.iter().any(|value| may_be(value) && value.absent_at().is_some())
    }

    /// A copy that borrows nothing.
    pub fn into_owned(self) -> Document<'static> {
        let Self { id, locale, unpublished, fields, values } = self;
        let values = values.into_iter().map(FieldValue::into_owned).collect();
        let (id, locale) = (Cow::Owned(id.into_owned()), locale.into_owned());
        Document { id, locale, unpublished, fields, values }
    }
}

impl FieldValue<'_> {
    /// A copy that borrows nothing.
    pub fn into_owned(self) -> FieldValue<'static> {
        match self {
            Self::Missing => FieldValue::Missing,
            Self::NullAt(at) => FieldValue::NullAt(at),
            Self::Absent(at) => FieldValue::Absent(at),
            Self::Text(text) => FieldValue::Text(Cow::Owned(text.into_owned())),
            Self::Boolean(value) => FieldValue::Boolean(value),
            Self::List(values) => {
                FieldValue::List(values.into_iter().map(FieldValue::into_owned).collect())
            }
            Self::NotText => FieldValue::NotText,
        }
    }

    /// The position of the key that is absent in its path, or in the path of a value in its list.
    pub fn absent_at(&self) -> Option<usize> {
        match self {
            Self::Absent(at) => Some(*at),
            Self::List(values) => values.iter().find_map(Self::absent_at),
            Self::Missing | Self::NullAt(_) | Self::Text(_) | Self::Boolean(_) | Self::NotText => {
                None
            }
        }
    }

    /// This value with absent keys as missing values, as in a content file.
    fn without_absent(self) -> Self {
        match self {
            Self::Absent(at) => Self::NullAt(at),
            Self::List(values) => {
                Self::List(values.into_iter().map(Self::without_absent).collect())
            }
            value => value,
        }
    }
}

impl DocumentLocale<'_> {
    fn into_owned(self) -> DocumentLocale<'static> {
        match self {
            Self::None => DocumentLocale::None,
            Self::Named(code) => DocumentLocale::Named(Cow::Owned(code.into_owned())),
            Self::NotText => DocumentLocale::NotText,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{field, text};

    #[test]
    fn document_id_is_a_word_of_at_most_64_bytes() {
        let [longest, too_long] = [64, 65].map(|length| "a".repeat(length));
        for good in ["a", "Az09_-", "_", "-", "v6wxd4nx5hcbqmqd0zu5tyx9", &longest] {
            assert!(is_document_id(good), "{good}");
        }
        for bad in ["", "a b", "a/b", "a.b", "é", "a\0", &too_long] {
            assert!(!is_document_id(bad), "{bad}");
        }
        for length in 1..=64 {
            for at in 0..length {
                let with = |byte: &str| "a".repeat(at) + byte + &"a".repeat(length - at - 1);
                assert!(is_document_id(&with("9")), "{length} {at}");
                assert!(!is_document_id(&with("\"")), "{length} {at}");
            }
        }
    }

    #[test]
    fn field_that_was_not_requested_is_missing() {
        let document = Document {
            id: "id".into(),
            locale: DocumentLocale::Named("en".into()),
            unpublished: false,
            fields: ["slug", "category.slug"].map(field).into(),
            values: vec![text("a"), FieldValue::Boolean(true)],
        };
        for document in [document.clone(), document.into_owned()] {
            assert_eq!(document.field(&field("slug")), &text("a"));
            assert_eq!(document.field(&field("category.slug")), &FieldValue::Boolean(true));
            assert_eq!(document.field(&field("category")), &FieldValue::Missing);
        }
    }
}
