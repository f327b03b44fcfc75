//! The core: from pathnames to rules and from documents to paths.
//!
//! Pure: nothing here knows HTTP, the clock, the environment or the network, and nothing here
//! imports another part of the crate.

mod build;
mod condition;
mod conflict;
mod constraint;
mod document;
mod encode;
mod locale;
mod matcher;
mod pathname;
mod pattern;
mod places;
mod precedence;
mod rule;
mod rule_set;
#[cfg(test)]
mod shorthand;
mod switches;
mod template;
mod trace;
mod trie;
mod uid;
mod usable;
mod value;

pub use build::{Given, NoPath, Part, Unusable};
pub use condition::{Condition, Literal};
pub use conflict::{Conflict, Conflicts, Incomplete, NeverMatches, Side, Why};
pub use constraint::{Constraint, ConstraintError, ValuePattern, ValueSet};
pub use document::{Document, DocumentLocale, FieldValue, is_document_id};
pub use encode::{encode, percent_decode};
pub use locale::{Locale, LocaleError, Locales, LocalesError};
pub use matcher::{Mismatch, Reason};
pub use pathname::{PathSegment, Pathname};
pub use pattern::LocalePrefix;
pub use places::Params;
pub use rule::{Param, Rule, Templates};
pub use rule_set::{Candidate, GapError, Match, RuleSet, TooCostly};
pub use switches::Switches;
pub use template::{
    DatePart, FieldPath, Placeholder, Segment, Source, Step, Template, TemplateError,
};
pub use trace::{Trace, TraceStep};
pub use uid::{ContentTypeUid, UidError};
pub use usable::{Fault, is_visible};
pub use value::{Usable, Values};
