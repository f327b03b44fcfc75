//! URL templates (D11): `/{locale}/articles/{slug}`.

mod error;
mod field_path;
mod foreign;
mod parse;
mod placeholder;

pub use error::TemplateError;
pub use field_path::FieldPath;
pub use placeholder::{AncestorStep, DatePart, Placeholder, Source};

use std::fmt;

/// A parsed URL template: segments of static text and placeholders. `Display` prints it as it was
/// written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    text: String,
    segments: Vec<Segment>,
}

/// One segment of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Raw text, compared with the decoded segment of a pathname.
    Static(String),
    /// One placeholder, with optional text before and after it.
    Placeholder {
        /// Text before the placeholder.
        prefix: String,
        /// The placeholder.
        placeholder: Placeholder,
        /// Text after the placeholder.
        suffix: String,
    },
    /// `{name?}`: a segment that the path omits when the document has no value for it.
    Optional(Placeholder),
    /// `{*name}`: one or more segments, last only.
    CatchAll(Placeholder),
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// [`TemplateError`] with the template, the position and what is wrong there.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        parse::template(text).map(|segments| Self { text: text.to_owned(), segments })
    }

    /// The template as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The segments, none for `/`.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The placeholders, to apply the settings of `params`.
    pub(super) fn placeholders_mut(&mut self) -> impl Iterator<Item = &mut Placeholder> {
        self.segments.iter_mut().filter_map(Segment::placeholder_mut)
    }

    /// The placeholders from left to right.
    pub fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        self.segments.iter().filter_map(Segment::placeholder)
    }
}

impl Segment {
    /// The placeholder in this segment, if there is one.
    pub fn placeholder(&self) -> Option<&Placeholder> {
        match self {
            Self::Static(_) => None,
            Self::Placeholder { placeholder, .. }
            | Self::Optional(placeholder)
            | Self::CatchAll(placeholder) => Some(placeholder),
        }
    }
}

impl Segment {
    fn placeholder_mut(&mut self) -> Option<&mut Placeholder> {
        match self {
            Self::Static(_) => None,
            Self::Placeholder { placeholder, .. }
            | Self::Optional(placeholder)
            | Self::CatchAll(placeholder) => Some(placeholder),
        }
    }

    /// The text before and after its placeholder.
    pub(super) fn around(&self) -> [&str; 2] {
        match self {
            Self::Placeholder { prefix, suffix, .. } => [prefix, suffix],
            Self::Static(_) | Self::Optional(_) | Self::CatchAll(_) => ["", ""],
        }
    }

    /// Whether this is `{locale}`.
    pub fn is_locale(&self) -> bool {
        self.placeholder().is_some_and(|placeholder| placeholder.source == Source::Locale)
    }
}

/// From the segments, so that a test can compare it with the template as written.
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
            Self::Optional(placeholder) => write!(f, "{{{}?}}", placeholder.name),
            Self::CatchAll(placeholder) => write!(f, "{{*{}}}", placeholder.name),
        }
    }
}
