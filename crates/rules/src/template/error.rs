//! What can be wrong with a template, and where.

/// The most optional segments: each adds a pattern to the template.
pub(super) const MAX_OPTIONAL: usize = 8;
/// The most segments: a pathname has no more (D3).
pub(super) const MAX_SEGMENTS: usize = 1_024;

/// The text is not a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("template `{}`, position {position}: {problem}", template.escape_debug())]
pub struct TemplateError {
    /// The template as written.
    pub template: String,
    /// The position of the problem, in characters from 1.
    pub position: usize,
    /// The problem at that position.
    pub problem: Problem,
}

/// A problem at a position of a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("a template must start with `/`")]
    NoLeadingSlash,
    #[error("a segment is empty")]
    EmptySegment,
    #[error("a template must not end with `/`")]
    TrailingSlash,
    #[error("`.` and `..` are not segments")]
    DotSegment,
    #[error("`{}` is not allowed in a template: static text is raw, not encoded", .0.escape_debug())]
    Forbidden(char),
    #[error("a `{{` is not closed")]
    Unclosed,
    #[error("an optional placeholder must be a whole segment")]
    OptionalNotWhole,
    #[error("an optional segment and a catch-all in one template would be ambiguous")]
    OptionalBeforeCatchAll,
    #[error("a template has at most {MAX_OPTIONAL} optional segments")]
    TooManyOptional,
    #[error("a template has at most {MAX_SEGMENTS} segments: no pathname has more")]
    TooManySegments,
    #[error("a stray `{0}`")]
    StrayBrace(char),
    #[error("a segment can have only one placeholder")]
    SecondPlaceholder,
    #[error(
        "`{}` is not a placeholder: names are letters, digits, `_` and `-`, starting with a letter or `_`, with dots through relations, and `:year`, `:month` or `:day` for a date", .0.escape_debug()
    )]
    BadName(String),
    #[error("`{0}` is reserved and is not a relation, optional or a catch-all")]
    Reserved(String),
    #[error("`{{locale}}` must be a whole segment")]
    LocaleNotWhole,
    #[error("a catch-all must be a whole segment")]
    CatchAllNotWhole,
    #[error("a part of a date cannot be a catch-all")]
    DateAsCatchAll,
    #[error("a catch-all must be the last segment")]
    CatchAllNotLast,
    #[error("write single braces, `{0}`")]
    DoubledBraces(String),
    #[error("`{}` is a placeholder of another system: write `{instead}`", written.escape_debug())]
    Foreign {
        /// As written.
        written: String,
        /// As a placeholder of a template.
        instead: String,
    },
    #[error(
        "`{{{0}}}` is not the locale; did you mean `{{locale}}`? For a field named `{0}`, write a placeholder of another name, with `params.<name> = {{ field = \"{0}\" }}`"
    )]
    NotLocale(String),
    #[error("`{0}` is not the document's identifier; did you mean `{{documentId}}`?")]
    NotDocumentId(String),
    #[error("placeholder `{0}` is repeated")]
    Repeated(String),
}
