//! Overlaps: pairs of rules that match the same path, which rule wins and why, and shadowed rules,
//! which never match. For `check` and the warnings at start; resolving does not need it.
//!
//! [`tree`] finds the earlier patterns that may match a path of a given one, [`comparison`] finds a
//! text that both match in each segment, and [`search`] puts these together to a path.

mod automaton;
mod budget;
mod comparison;
mod search;
mod shadowed;
#[cfg(test)]
mod tests;
mod texts;
mod tree;

use std::fmt;

use crate::rule::Rule;
use crate::template::Template;

/// The overlaps of a rule set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlaps<'a> {
    /// Pairs of templates that match the same path, in the order of evaluation.
    pub pairs: Vec<Overlap<'a>>,
    /// Rules that never match, in the order of the settings.
    pub shadowed: Vec<ShadowedRule<'a>>,
    /// Why there may be more; `None` when this is all.
    pub incomplete: Option<Incomplete>,
}

/// What decides between rules that match a path with equal precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieBreak {
    /// The order of the settings.
    Order,
    /// The document that has the path, so that a rule is not shadowed by one of equal precedence.
    Documents,
}

/// Why not all overlaps are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// The search reached its bound. For each remaining pattern, only one path was tried.
    Budget,
    /// There are more than 1,000 pairs.
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

/// Two rules that match the same path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap<'a> {
    /// The rule that is evaluated first.
    pub winner: RuleTemplate<'a>,
    /// The other rule.
    pub loser: RuleTemplate<'a>,
    /// A path that both match, normalized.
    pub example: String,
    /// Why the winner is evaluated first.
    pub why: PrecedenceReason,
    /// A third rule that is evaluated before both and matches `example`, when no path was found that
    /// belongs to the winner.
    pub taken_by: Option<RuleTemplate<'a>>,
}

/// Why one of two rules that match the same path is evaluated first (D8).
///
/// "One template ends first" is not among the reasons: then no path matches both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrecedenceReason {
    /// Static text comes before a placeholder, in this segment, counted from 0.
    StaticText(usize),
    /// More static text around the placeholder comes first, in this segment.
    MoreText(usize),
    /// A placeholder comes before a catch-all, in this segment.
    BeforeCatchAll(usize),
    /// The shapes are equal: the order of the settings decides.
    SameShape,
}

/// A rule that never matches, because earlier rules match all of its paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShadowedRule<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The earlier rules that match its paths, each once; none when it has no paths at all.
    pub hidden_by: Vec<RuleTemplate<'a>>,
}

/// By identity: the settings may contain equal rules.
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
