//! Explanations: which rule matches a pathname and why the others do not, and which rule builds the
//! URL of a document and why the others do not.
//!
//! Pure. The field names are those of `explain --json`.

mod document;
mod document_decision;
mod pathname;
mod redirect;

pub use document::{
    ConditionResult, DocumentExplanation, OwnPathResult, PlaceholderResult, RuleExplanation,
    RuleOutcome, explain_document,
};
pub use document_decision::{DocumentDecision, PathDocument, deciding_types};
pub use pathname::{
    MatchedRule, PathnameExplanation, PatternOutcome, PatternResult, SegmentResult,
    explain_pathname,
};
pub use redirect::{RedirectExplanation, RedirectOutcome, explain_redirect};
