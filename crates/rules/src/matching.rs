//! From a pathname to the rule that matches it (D7–D10).

mod captures;
mod linear;
mod pattern;
mod rule_set;
mod specificity;
mod trace;
mod trie;

pub use captures::Params;
pub(super) use linear::matches_text;
pub use linear::{Mismatch, MismatchReason};
pub(super) use pattern::{Pattern, ValueConditions};
pub use rule_set::{
    AmbiguityError, Candidate, Match, PatternsByRule, RuleSet, RuleSubset, TooCostly,
};
pub(super) use specificity::{Specificity, same_shape, specificity};
pub use trace::{PatternTrace, TraceStep};
