//! Placeholders: their names, where a document's value comes from, which values they take.

use super::FieldPath;
use crate::rules::constraint::Constraint;

/// A placeholder of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// The name as written, without braces, star and question mark: the key in `params`.
    pub name: String,
    /// Where a document's value comes from.
    pub source: Source,
    /// Which values it takes; `None` for all that a segment can hold.
    pub constraint: Option<Constraint>,
}

/// Where the value of a placeholder comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `{locale}`: the locale of the document.
    Locale,
    /// `{documentId}`: the document's own identifier.
    DocumentId,
    /// Any other name: a field, or a field of a related document.
    Field(FieldPath),
    /// `{publishedAt:year}`: a part of a date, in UTC.
    Date(FieldPath, DatePart),
    /// The document's own field and that of each of its ancestors, the topmost first.
    Ancestors(Box<[AncestorStep]>),
}

/// A part of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DatePart {
    /// Four digits.
    Year,
    /// Two digits, from `01`.
    Month,
    /// Two digits, from `01`.
    Day,
}

impl DatePart {
    /// The name behind the colon.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Month => "month",
            Self::Day => "day",
        }
    }

    /// The part that a name behind a colon means.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Year, Self::Month, Self::Day].into_iter().find(|part| part.as_str() == name)
    }

    /// Whether text can be this part of a date.
    #[must_use]
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

/// One document on the way to the top: who it is, and its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AncestorStep {
    /// The way to its `documentId`.
    pub id: FieldPath,
    /// The way to its field.
    pub value: FieldPath,
}

impl Source {
    /// The chain of ancestors along `parent`, at most `depth` of them; a document with more has no
    /// URL, so one step more is looked at.
    ///
    /// # Panics
    /// Never: `documentId` is a field name.
    #[must_use]
    pub fn ancestors(field: &FieldPath, parent: &FieldPath, depth: usize) -> Self {
        let id = FieldPath::parse("documentId").expect("a field name");
        let step = |times| AncestorStep {
            id: parent.repeated(times, &id),
            value: parent.repeated(times, field),
        };
        Self::Ancestors((0..=depth + 1).map(step).collect())
    }

    /// The fields that have to be read for it.
    pub fn fields(&self) -> impl Iterator<Item = &FieldPath> {
        let (one, steps): (Option<&FieldPath>, &[AncestorStep]) = match self {
            Self::Locale | Self::DocumentId => (None, &[]),
            Self::Field(path) | Self::Date(path, _) => (Some(path), &[]),
            Self::Ancestors(steps) => (None, steps),
        };
        one.into_iter().chain(steps.iter().flat_map(|step| [&step.id, &step.value]))
    }
}
