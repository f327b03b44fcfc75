//! URL templates (D11): `/{locale}/articles/{slug}`.

mod error;
mod parse;

pub use error::TemplateError;

use std::fmt;

/// A parsed URL template: segments of static text and placeholders. `Display` gives it back
/// as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    segments: Vec<Segment>,
}

/// What stands between two slashes of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Raw text, compared with the decoded segment of a pathname.
    Static(String),
    /// One placeholder, with text before and after it (mostly none).
    Placeholder {
        /// Text before the placeholder.
        prefix: String,
        /// What the segment takes its value from.
        placeholder: Placeholder,
        /// Text after the placeholder.
        suffix: String,
    },
    /// `{*name}`: one or more segments, last only.
    CatchAll(Placeholder),
}

/// A placeholder's name and where its value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// The name as written, without braces and star: the key in `params`.
    pub name: String,
    /// Where a document's value comes from.
    pub source: Source,
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
}

/// The way to a field: `slug`, or `category.slug` through a relation. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldPath(Box<[Box<str>]>);

impl FieldPath {
    /// Reads dotted field names: a letter or `_`, then letters, digits, `_` and `-`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let starts = |b: u8| b.is_ascii_alphabetic() || b == b'_';
        let goes_on = |b: u8| starts(b) || b.is_ascii_digit() || b == b'-';
        let name =
            |name: &str| name.bytes().next().is_some_and(starts) && name.bytes().all(goes_on);
        text.split('.').all(name).then(|| Self(text.split('.').map(Into::into).collect()))
    }

    /// The names on the way, relations first, the field last.
    #[must_use]
    pub fn segments(&self) -> &[Box<str>] {
        &self.0
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// [`TemplateError`] with the template, the position and what is wrong there.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        parse::template(text).map(|segments| Self { segments })
    }

    /// The segments, none for `/`.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The placeholders from left to right.
    pub fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        self.segments.iter().filter_map(Segment::placeholder)
    }
}

impl Segment {
    /// The placeholder in this segment, if there is one.
    #[must_use]
    pub fn placeholder(&self) -> Option<&Placeholder> {
        match self {
            Self::Static(_) => None,
            Self::Placeholder { placeholder, .. } | Self::CatchAll(placeholder) => {
                Some(placeholder)
            }
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.segments.is_empty() {
            return f.write_str("/");
        }
        self.segments.iter().try_for_each(|segment| write!(f, "/{segment}"))
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Static(text) => f.write_str(text),
            Self::Placeholder { prefix, placeholder, suffix } => {
                write!(f, "{prefix}{{{}}}{suffix}", placeholder.name)
            }
            Self::CatchAll(placeholder) => write!(f, "{{*{}}}", placeholder.name),
        }
    }
}
