//! The search for pairs that match one path.

use std::collections::HashSet;

use super::looks::Looks;
use super::{Conflict, Conflicts, Incomplete, Side, Why, cover, overlap};
use crate::rules::matcher::match_pattern;
use crate::rules::pathname::Pathname;
use crate::rules::pattern::Pattern;
use crate::rules::precedence::{Rank, ranks};
use crate::rules::rule::Rule;
use crate::rules::rule_set::RuleSet;

/// So many pairs are reported: nobody reads more, and thousands of equal rules would have millions.
const MAX_REPORTED: usize = 1_000;

impl RuleSet {
    /// The pairs of rules that match one path, and the rules that never match.
    ///
    /// Every pair reported has an example that proves it. Of a `pattern` some samples are tried, and
    /// beside another pattern in the same place texts of both; a pair that meets in other values
    /// alone is missed.
    #[must_use]
    pub fn conflicts(&self) -> Conflicts<'_> {
        let looks = Looks::new(self);
        let mut pairs = Pairs::default();
        let mut sampled = false;
        let mut before: Vec<Option<usize>> = Vec::new();
        for later in 0..self.patterns().len() {
            for earlier in 0..later {
                if looks.is_spent() || pairs.is_full() {
                    break;
                }
                if !self.is_one_template(earlier, later) {
                    pairs.add(self.conflict(&looks, earlier, later));
                }
            }
            sampled |= looks.is_spent();
            let found = if sampled { self.taken_before(&looks, later) } else { None };
            before.push(found.as_ref().map(|(_, earlier)| *earlier));
            if let Some((example, earlier)) = found.filter(|_| !pairs.is_full()) {
                pairs.add(Some(self.reported([earlier, later], example, None)));
            }
        }
        let many = pairs.is_full().then_some(Incomplete::Many);
        let incomplete = if sampled { Some(Incomplete::Sampled) } else { many };
        looks.renew();
        let never = cover::never_matching(&looks, |later| before[later]);
        Conflicts { pairs: pairs.found, never, incomplete }
    }

    /// The pairs of equal shape whose content types differ: nothing but the order of the settings
    /// decides there. Not all of them where there are too many rules or values to look.
    #[must_use]
    pub fn equal_shapes(&self) -> Conflicts<'_> {
        let looks = Looks::new(self);
        let mut pairs = Pairs::default();
        let shapes: Vec<_> = self.patterns().iter().map(|p| ranks(&p.segments)).collect();
        let uid = |at: usize| &self.rules()[self.patterns()[at].rule].content_type;
        for later in 0..shapes.len() {
            // In the order of evaluation, equal shapes stand side by side.
            let first = shapes[..later].partition_point(|shape| *shape < shapes[later]);
            for earlier in first..later {
                if looks.is_spent() || pairs.is_full() {
                    break;
                }
                if uid(earlier) != uid(later) {
                    pairs.add(self.conflict(&looks, earlier, later));
                }
            }
        }
        let many = pairs.is_full().then_some(Incomplete::Many);
        let incomplete = if looks.is_spent() { Some(Incomplete::Sampled) } else { many };
        Conflicts { pairs: pairs.found, never: Vec::new(), incomplete }
    }

    /// A path of this pattern that an earlier one of another rule takes, and that one's place.
    fn taken_before(&self, looks: &Looks<'_>, later: usize) -> Option<(String, usize)> {
        let example = overlap::examples(looks, later, later).next()?;
        let earlier = self.first_place(&Pathname::parse(&example))?;
        let other = !self.is_one_template(earlier, later);
        (earlier < later && other).then_some((example, earlier))
    }

    /// Whether these are forms of one template: no path fits two of these. Two templates of one
    /// rule may take each other's paths, in another locale or with other values.
    fn is_one_template(&self, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|at| &self.patterns()[at]);
        (one.rule, one.template) == (other.rule, other.template)
    }

    fn conflict(&self, looks: &Looks<'_>, winner: usize, loser: usize) -> Option<Conflict<'_>> {
        let mut taken = None;
        let [one, other] = [winner, loser].map(|at| looks.pattern(at));
        for example in overlap::examples(looks, winner, loser) {
            let pathname = Pathname::parse(&example);
            let matches = |p: &Pattern| match_pattern(p, &pathname, self.locales()).is_ok();
            if !matches(one) || !matches(other) {
                continue;
            }
            let place = self.first_place(&pathname)?;
            let first = &self.patterns()[place];
            let within = one.rule == other.rule;
            let owns = |at, own: &Pattern| {
                if within { self.is_one_template(place, at) } else { first.rule == own.rule }
            };
            if owns(winner, one) {
                return Some(self.reported([winner, loser], example, None));
            }
            // Where another form of the loser is tried first, that form is a pair of its own.
            if !owns(loser, other) {
                taken.get_or_insert((example, first));
            }
        }
        let (example, third) = taken?;
        Some(self.reported([winner, loser], example, Some(third)))
    }

    fn reported(&self, pair: [usize; 2], example: String, third: Option<&Pattern>) -> Conflict<'_> {
        let [one, other] = pair.map(|at| &self.patterns()[at]);
        let [winner, loser] = [one, other].map(|pattern| self.side(pattern));
        let taken_by = third.map(|third| self.side(third));
        Conflict { winner, loser, example, why: why(one, other), taken_by }
    }

    pub(super) fn side(&self, pattern: &Pattern) -> Side<'_> {
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
