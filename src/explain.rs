//! Why a pathname belongs to a rule or to none, and why a document has its URL or none.
//!
//! Pure; the field names are what `explain --json` shows.

mod document;
mod pathname;

pub use document::{
    ConditionResult, DocumentExplanation, PlaceholderResult, RuleExplanation, RuleOutcome,
    explain_document,
};
pub use pathname::{
    MatchedRule, PathnameExplanation, PatternOutcome, PatternResult, SegmentResult,
    explain_pathname,
};
