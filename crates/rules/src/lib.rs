//! Templates of URLs: which rule a pathname matches, which URL a document has, which rules overlap.
//!
//! Pure: no clock, no file, no network, no thread. Everything else in this workspace is built on these
//! types, whose constructors check: [`Template`], [`Pathname`], [`Locale`], [`ContentTypeUid`] and
//! [`frontend_url::BaseUrl`] cannot hold an invalid value.
//!
//! - A [`RuleSet`] has the rules of a site in one trie. A pathname goes through it depth first, in the
//!   order of precedence (D8), and the first match wins.
//! - [`frontend_url`] goes the other way: base URL, rule and document give the URL, or the reason why
//!   there is none, as data. Each value is checked (D13) and encoded (D14).
//! - `overlap` finds rules that match the same paths, for `check`.
//!
//! # Design
//!
//! - **The trie.** `RuleSet` sorts the patterns by the specificity of their segments (D8), which
//!   gives each its rank, and compiles them into a trie of edges hashed by node and segment. A
//!   look-up is depth first and skips a branch that cannot contain a pattern of smaller rank than
//!   the best match so far. A rule set whose worst case exceeds 5,000 steps is refused with the
//!   settings. The linear search remains: it lists the candidates of a 404, and the tests compare
//!   the trie with it.
//! - **Templates and patterns.** A template is what is configured; a pattern is one form that its
//!   paths can have (optional segments left out from the right, one per locale with a template of
//!   its own, one without `{locale}` for `except-default`). Matching uses only patterns, building
//!   only templates, and the property tests in `tests/laws` check that the two agree (D16).
//! - **Ancestors** are read as ordinary field paths (`parent.slug`, `parent.parent.slug`, …), one
//!   level deeper than allowed, so that too long a chain is detected. Lists and single documents
//!   use the same query. Strapi reads 20 levels of a query, which is nine relations, or eight
//!   ancestors and the one too many.
//! - **Conditions** become filters of the list if every rule of a type has them, and are checked
//!   again on each document. Above 20 alternatives or 2 KiB there is no filter, because Strapi
//!   refuses a request head of 16 KiB; there is none on `locale`, which would override the
//!   parameter.
//! - **Values** are checked in the order of D13: as they are, decoded once, and decoded twice. A
//!   value that passes is encoded except for unreserved characters (D14), so a path is ASCII and
//!   needs no escaping in XML, JSON or HTML.
//! - **Hosts.** A site with a host for each locale has one snapshot and one path index of each
//!   content type; ownership of paths, the look-up by path and the sitemap files are by host
//!   (`Hosts`, D39). `RuleSet` has the patterns of each host's locales a second time, only if
//!   templates differ by locale, so that a look-up for a host does not search those of other
//!   hosts. With one host nothing is added to a look-up.
//! - **Base URLs** are parsed from the text; a URL parser only confirms that it would change
//!   nothing. A finished URL is the text of the base followed by the text of the path: joining
//!   with a URL library would let a slug like `//evil` change the host.

mod building;
mod constraint;
mod document;
mod encode;
#[cfg(test)]
mod fixtures;
pub mod frontend_url;
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
pub use rule::{
    AbsentKey, Condition, ENCODED_REST, Literal, Param, REDIRECT_STATUSES, Redirect, RedirectFault,
    RedirectFields, Rule, SitemapOptions, Target, Templates, text_for_path,
};
pub use template::{
    AncestorStep, DatePart, FieldPath, Placeholder, Segment, Source, Template, TemplateError,
};
pub use uid::{ContentTypeUid, UidError};
pub use url_safety::{Fault, is_visible};
