//! The core: from pathnames to rules and from documents to paths.
//!
//! Pure: nothing here knows HTTP, the clock, the environment or the network, and nothing here
//! imports another part of the crate.

mod build;
mod document;
mod encode;
mod locale;
mod matcher;
mod pathname;
mod precedence;
mod rule_set;
mod template;
mod uid;
mod usable;

pub use build::{Unusable, Values};
pub use document::{Document, DocumentLocale, FieldValue};
pub use encode::{encode, percent_decode};
pub use locale::{Locale, LocaleError, Locales, LocalesError};
pub use matcher::{Match, Mismatch, Reason};
pub use pathname::{PathSegment, Pathname};
pub use rule_set::{Candidate, Rule, RuleSet};
pub use template::{FieldPath, Placeholder, Segment, Source, Template, TemplateError};
pub use uid::{ContentTypeUid, UidError};
pub use usable::Fault;
