//! Rules that overlap: pairs that match one path, which one wins and why, and rules that never
//! match. For those who write rules; resolving needs none of it.

mod automaton;
mod budget;
mod comparison;
mod index;
mod product;
mod search;
mod shadowed;
mod span;
#[cfg(test)]
mod tests;

use std::fmt;

use super::rule::Rule;
use super::template::Template;

/// What is known about the overlaps of a rule set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlaps<'a> {
    /// Pairs of templates of two rules, in the order of evaluation.
    pub pairs: Vec<Overlap<'a>>,
    /// Rules that never match, in the order of the settings.
    pub shadowed: Vec<ShadowedRule<'a>>,
    /// Why there may be more than these.
    pub incomplete: Option<Incomplete>,
}

/// Why not every pair is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// There are too many rules, or too many values, to compare each with each: one path of each
    /// was tried.
    Budget,
    /// There are more pairs than are worth reporting.
    PairLimit,
}

/// A rule and one of its templates.
#[derive(Clone, Copy, Debug)]
pub struct RuleTemplate<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The template.
    pub template: &'a Template,
}

/// Two rules that match one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap<'a> {
    /// The one that is tried first.
    pub winner: RuleTemplate<'a>,
    /// The one that it hides there.
    pub loser: RuleTemplate<'a>,
    /// A path that both match, in its normal form.
    pub example: String,
    /// Why the winner is tried first.
    pub why: PrecedenceReason,
    /// A third rule that takes this path, where no path was found that it leaves to the winner.
    pub taken_by: Option<RuleTemplate<'a>>,
}

/// Why one of two rules that match a path is tried first (D8).
///
/// That one of them ends first is none of the reasons: then no path matches both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrecedenceReason {
    /// Static text before a placeholder in this segment, counted from 0.
    StaticText(usize),
    /// More static text around the placeholder in this segment.
    MoreText(usize),
    /// A placeholder before a catch-all in this segment.
    BeforeCatchAll(usize),
    /// Nothing but the order of the settings.
    SameShape,
}

/// A rule that no path ever reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShadowedRule<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// Rules that take its paths before it, each once; none if it would match nothing anyway.
    pub hidden_by: Vec<RuleTemplate<'a>>,
}

/// Two sides are equal when they are the same: equal rules may stand in the settings twice.
impl PartialEq for RuleTemplate<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.rule, other.rule) && self.template == other.template
    }
}

impl Eq for RuleTemplate<'_> {}

impl fmt::Display for RuleTemplate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.rule.content_type, self.template)
    }
}

impl fmt::Display for PrecedenceReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StaticText(at) => {
                write!(f, "static text before a placeholder in segment {}", at + 1)
            }
            Self::MoreText(at) => write!(f, "more static text in segment {}", at + 1),
            Self::BeforeCatchAll(at) => {
                write!(f, "a placeholder before a catch-all in segment {}", at + 1)
            }
            Self::SameShape => f.write_str("same shape: order of the settings"),
        }
    }
}
