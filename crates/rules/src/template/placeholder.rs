//! Placeholders: their names, the sources of their values, and their constraints.

use strum::{EnumString, IntoStaticStr};

use super::FieldPath;
use crate::constraint::Constraint;

/// A placeholder of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// The name as written, without braces, star and question mark: the key in `params`.
    pub name: String,
    /// The source of the value for a document.
    pub source: Source,
    /// Which values are allowed; `None` for all.
    pub constraint: Option<Constraint>,
}

/// The source of a placeholder's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `{locale}`: the locale of the document.
    Locale,
    /// `{documentId}`: the document's own identifier.
    DocumentId,
    /// A field of the document, or of a related document.
    Field(FieldPath),
    /// `{publishedAt:year}`: a part of a date, in UTC.
    Date(FieldPath, DatePart),
    /// A field of each ancestor and of the document itself, the topmost ancestor first.
    Ancestors(Box<[AncestorStep]>),
}

/// A part of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum DatePart {
    /// Four digits.
    Year,
    /// Two digits, from `01`.
    Month,
    /// Two digits, from `01`.
    Day,
}

impl DatePart {
    /// The name after the colon.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The part with this name.
    pub fn parse(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// Whether text can be this part of a date.
    pub fn is_valid(self, text: &str) -> bool {
        let (digits, range) = match self {
            Self::Year => (4, 0..=9999),
            Self::Month => (2, 1..=12),
            Self::Day => (2, 1..=31),
        };
        let plain = text.len() == digits && text.bytes().all(|b| b.is_ascii_digit());
        plain && text.parse().is_ok_and(|number: u16| range.contains(&number))
    }
}

/// A document or one of its ancestors: the paths to its id and to its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AncestorStep {
    /// The path to its `documentId`.
    pub id: FieldPath,
    /// The path to its field.
    pub value: FieldPath,
}

impl Source {
    /// The ancestors along the relation `parent`, at most `depth` of them. A document with more has
    /// no URL, so one more is read.
    ///
    /// # Panics
    /// Never: `documentId` is a field name.
    pub fn ancestors(field: &FieldPath, parent: &FieldPath, depth: usize) -> Self {
        let id = FieldPath::parse("documentId").expect("a field name");
        let step = |times| AncestorStep {
            id: parent.repeated(times, &id),
            value: parent.repeated(times, field),
        };
        Self::Ancestors((0..=depth + 1).map(step).collect())
    }

    /// The fields that the value needs.
    pub fn fields(&self) -> impl Iterator<Item = &FieldPath> {
        let (one, steps): (Option<&FieldPath>, &[AncestorStep]) = match self {
            Self::Locale | Self::DocumentId => (None, &[]),
            Self::Field(path) | Self::Date(path, _) => (Some(path), &[]),
            Self::Ancestors(steps) => (None, steps),
        };
        one.into_iter().chain(steps.iter().flat_map(|step| [&step.id, &step.value]))
    }
}
