//! Why a pathname belongs to a rule or to none, and why a document has its URL or none.
//!
//! Pure; the field names are what `explain --json` shows.

mod document;
mod pathname;

pub use document::{ConditionLook, DocumentLook, PlaceholderLook, RuleUse, Use, explain_document};
pub use pathname::{Fit, Matched, Outcome, PathnameLook, SegmentLook, explain_pathname};
