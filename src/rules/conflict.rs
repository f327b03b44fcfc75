//! Rules that overlap: pairs that match one path, which one wins and why, and rules that never
//! match. For those who write rules; resolving needs none of it.

mod cover;
mod form;
mod looks;
mod overlap;
mod sample;
mod search;
#[cfg(test)]
mod tests;

use std::fmt;

use super::rule::Rule;
use super::template::Template;

/// What is known about the overlaps of a rule set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts<'a> {
    /// Pairs of templates of two rules, in the order of evaluation.
    pub pairs: Vec<Conflict<'a>>,
    /// Rules that never match, in the order of the settings.
    pub never: Vec<NeverMatches<'a>>,
    /// Why there may be more than these.
    pub incomplete: Option<Incomplete>,
}

/// Why not every pair is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// There are too many rules, or too many values, to compare each with each: one path of each
    /// was tried.
    Sampled,
    /// There are more pairs than are worth reporting.
    Many,
}

/// A rule and one of its templates.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The template.
    pub template: &'a Template,
}

/// Two rules that match one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict<'a> {
    /// The one that is tried first.
    pub winner: Side<'a>,
    /// The one that it hides there.
    pub loser: Side<'a>,
    /// A path that both match, in its normal form.
    pub example: String,
    /// Why the winner is tried first.
    pub why: Why,
    /// A third rule that takes this path, where no path was found that it leaves to the winner.
    pub taken_by: Option<Side<'a>>,
}

/// Why one of two rules that match a path is tried first (D8).
///
/// That one of them ends first is none of the reasons: then no path matches both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
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
pub struct NeverMatches<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// Rules that take its paths before it, each once; none if it would match nothing anyway.
    pub hidden_by: Vec<Side<'a>>,
}

/// Two sides are equal when they are the same: equal rules may stand in the settings twice.
impl PartialEq for Side<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.rule, other.rule) && self.template == other.template
    }
}

impl Eq for Side<'_> {}

impl fmt::Display for Side<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.rule.content_type, self.template)
    }
}

impl fmt::Display for Why {
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
