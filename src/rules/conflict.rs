//! Rules that overlap: pairs that match one path, which one wins and why, and rules that never
//! match. For those who write rules; resolving needs none of it.

mod cover;
mod overlap;
mod sample;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;

use super::matcher::match_pattern;
use super::pathname::Pathname;
use super::pattern::Pattern;
use super::precedence::{Rank, ranks};
use super::rule::Rule;
use super::rule_set::RuleSet;
use super::template::Template;

/// Up to so many pairs of patterns each pair is looked at, which takes a second at most; that is
/// 2,000 patterns. Above, one sample path for each pattern finds what is before it.
const MAX_PAIRS: usize = 2_000_000;
/// So many pairs are reported: nobody reads more, and thousands of equal rules would have millions.
const MAX_REPORTED: usize = 1_000;

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
    /// There are too many rules to compare each with each.
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

impl RuleSet {
    /// The pairs of rules that match one path, and the rules that never match.
    ///
    /// Every pair reported has an example that proves it. Of a `pattern` only some samples are
    /// tried, so a pair that meets in other values alone is missed.
    #[must_use]
    pub fn conflicts(&self) -> Conflicts<'_> {
        if !self.is_comparable() {
            return self.sampled();
        }
        let mut pairs = Pairs::default();
        for (later, loser) in self.patterns().iter().enumerate() {
            for winner in &self.patterns()[..later] {
                if !pairs.is_full() && winner.rule != loser.rule {
                    pairs.add(self.conflict(winner, loser));
                }
            }
        }
        let incomplete = pairs.is_full().then_some(Incomplete::Many);
        let never = cover::never_matching(self, |later| 0..later);
        Conflicts { pairs: pairs.found, never, incomplete }
    }

    /// The pairs of equal shape whose content types differ: nothing but the order of the settings
    /// decides there. `None` when there are too many rules to look.
    #[must_use]
    pub fn equal_shapes(&self) -> Option<Vec<Conflict<'_>>> {
        if !self.is_comparable() {
            return None;
        }
        let mut pairs = Pairs::default();
        let shapes: Vec<_> = self.patterns().iter().map(|p| ranks(&p.segments)).collect();
        for (later, loser) in self.patterns().iter().enumerate() {
            // In the order of evaluation, equal shapes stand side by side.
            let first = shapes.partition_point(|shape| *shape < shapes[later]);
            let types = |p: &Pattern| &self.rules()[p.rule].content_type;
            let equal = &self.patterns()[first..later];
            for winner in equal.iter().filter(|p| types(p) != types(loser)) {
                if !pairs.is_full() {
                    pairs.add(self.conflict(winner, loser));
                }
            }
        }
        Some(pairs.found)
    }

    fn is_comparable(&self) -> bool {
        let patterns = self.patterns().len();
        patterns * patterns.saturating_sub(1) / 2 <= MAX_PAIRS
    }

    fn sampled(&self) -> Conflicts<'_> {
        let mut pairs = Pairs::default();
        let mut before: Vec<Option<usize>> = Vec::with_capacity(self.patterns().len());
        for (later, loser) in self.patterns().iter().enumerate() {
            let found = self.taken_before(later, loser);
            before.push(found.as_ref().map(|(_, earlier)| *earlier));
            if let Some((example, earlier)) = found.filter(|_| !pairs.is_full()) {
                let winner = &self.patterns()[earlier];
                pairs.add(Some(self.reported(winner, loser, example, None)));
            }
        }
        let never = cover::never_matching(self, |later| before[later]);
        Conflicts { pairs: pairs.found, never, incomplete: Some(Incomplete::Sampled) }
    }

    /// A path of this pattern that an earlier one of another rule takes, and that one's place.
    fn taken_before(&self, later: usize, loser: &Pattern) -> Option<(String, usize)> {
        let example = overlap::examples(self.locales(), loser, loser).next()?;
        let earlier = self.first_place(&Pathname::parse(&example))?;
        let other = self.patterns()[earlier].rule != loser.rule;
        (earlier < later && other).then_some((example, earlier))
    }

    fn conflict<'a>(&'a self, winner: &Pattern, loser: &Pattern) -> Option<Conflict<'a>> {
        let mut taken = None;
        for example in overlap::examples(self.locales(), winner, loser) {
            let pathname = Pathname::parse(&example);
            let matches = |p: &Pattern| match_pattern(p, &pathname, self.locales()).is_ok();
            if !matches(winner) || !matches(loser) {
                continue;
            }
            let first = &self.patterns()[self.first_place(&pathname)?];
            if first.rule == winner.rule {
                return Some(self.reported(winner, loser, example, None));
            }
            // Where another form of the loser is tried first, that form is a pair of its own.
            if first.rule != loser.rule {
                taken.get_or_insert((example, first));
            }
        }
        let (example, third) = taken?;
        Some(self.reported(winner, loser, example, Some(third)))
    }

    fn reported<'a>(
        &'a self,
        winner: &Pattern,
        loser: &Pattern,
        example: String,
        third: Option<&Pattern>,
    ) -> Conflict<'a> {
        let [one, other] = [winner, loser].map(|pattern| self.side(pattern));
        let taken_by = third.map(|third| self.side(third));
        Conflict { winner: one, loser: other, example, why: why(winner, loser), taken_by }
    }

    fn side(&self, pattern: &Pattern) -> Side<'_> {
        Side { rule: &self.rules()[pattern.rule], template: self.template(pattern) }
    }
}

/// The pairs found so far, each once though its templates may have several forms.
#[derive(Default)]
struct Pairs<'a> {
    found: Vec<Conflict<'a>>,
    seen: HashSet<[(*const Rule, &'a str); 2]>,
}

impl<'a> Pairs<'a> {
    fn is_full(&self) -> bool {
        self.found.len() >= MAX_REPORTED
    }

    fn add(&mut self, conflict: Option<Conflict<'a>>) {
        let key = |side: Side<'a>| (std::ptr::from_ref(side.rule), side.template.as_str());
        let new = |c: &Conflict<'a>| self.seen.insert([key(c.winner), key(c.loser)]);
        self.found.extend(conflict.filter(new));
    }
}

fn why(winner: &Pattern, loser: &Pattern) -> Why {
    let [one, other] = [winner, loser].map(|pattern| ranks(&pattern.segments));
    let differ = one.iter().zip(&other).enumerate().find(|(_, (one, other))| one != other);
    match differ {
        Some((at, (Rank::Static, _))) => Why::StaticText(at),
        Some((at, (_, Rank::CatchAll))) => Why::BeforeCatchAll(at),
        Some((at, _)) => Why::MoreText(at),
        None => Why::SameShape,
    }
}
