//! Conditions on documents: `where = { section = "news" }`.

use super::document::FieldValue;
use super::template::FieldPath;

/// A field has to hold exactly this value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The field, or a field of a related document.
    pub field: FieldPath,
    /// Its value.
    pub equals: Literal,
}

/// A value as the settings write it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Literal {
    /// Text, or an integer in decimal.
    Text(String),
    /// `true` or `false`.
    Boolean(bool),
}

impl Literal {
    /// The value as a filter of the CMS has it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Boolean(true) => "true",
            Self::Boolean(false) => "false",
        }
    }
}

impl Condition {
    /// Whether a document's value is the wanted one.
    #[must_use]
    pub fn holds(&self, value: &FieldValue<'_>) -> bool {
        match (&self.equals, value) {
            (Literal::Text(wanted), FieldValue::Text(found)) => wanted == found,
            (Literal::Boolean(wanted), FieldValue::Boolean(found)) => wanted == found,
            _ => false,
        }
    }
}
