//! Rules: which rule matches a pathname, which path a rule builds for a document, and which rules
//! overlap.
//!
//! Pure: no HTTP, clock, environment, files or network, and no other module of the crate.

mod building;
mod constraint;
mod document;
mod encode;
#[cfg(test)]
mod fixtures;
mod locale;
mod matching;
mod overlap;
mod page_paths;
mod pathname;
mod rule;
mod template;
mod uid;
mod url_safety;

pub use building::{
    BuiltSegment, NoPath, PlaceholderValue, SegmentOutput, TemplateValues, TrailingSlash,
    UnusableValue,
};
pub use constraint::{Constraint, ConstraintError, ValuePattern, ValueSet};
pub use document::{Document, DocumentLocale, FieldValue, is_document_id};
pub use encode::{encode, percent_decode};
pub use locale::{
    HreflangError, Locale, LocaleError, LocalePrefix, Locales, LocalesError, SegmentError,
    SiteLocale,
};
pub use matching::{
    AmbiguityError, Candidate, Match, Mismatch, MismatchReason, Params, PatternTrace,
    PatternsByRule, RuleSet, RuleSubset, TooCostly, TraceStep,
};
pub use overlap::{
    Incomplete, Overlap, Overlaps, PrecedenceReason, RuleTemplate, ShadowedRule, TieBreak,
};
pub use page_paths::PagePaths;
pub use pathname::{PATHNAME_NEEDS_SLASH, PathSegment, Pathname, without_trailing_slash};
pub use rule::{AbsentKey, Condition, Literal, Param, Rule, SitemapOptions, Templates};
pub use template::{
    AncestorStep, DatePart, FieldPath, Placeholder, Segment, Source, Template, TemplateError,
};
pub use uid::{ContentTypeUid, UidError};
pub use url_safety::{Fault, is_visible};
