//! The search for pairs that match one path.

use std::collections::HashSet;

use super::budget::SearchBudget;
use super::{Incomplete, Overlap, Overlaps, PrecedenceReason, RuleTemplate, examples, shadowed};
use crate::rules::matching::{Pattern, Rank, RuleSet, match_pattern, ranks};
use crate::rules::pathname::Pathname;
use crate::rules::rule::Rule;

/// So many pairs are reported: nobody reads more, and thousands of equal rules would have millions.
const MAX_REPORTED: usize = 1_000;

impl RuleSet {
    /// The pairs of rules that match one path, and the rules that never match.
    ///
    /// Every pair reported has an example that proves it. Of a `pattern` some samples are tried, and
    /// beside another pattern in the same place texts of both; a pair that meets in other values
    /// alone is missed.
    #[must_use]
    pub fn overlaps(&self) -> Overlaps<'_> {
        let looks = SearchBudget::new(self);
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
        let many = pairs.is_full().then_some(Incomplete::PairLimit);
        let incomplete = if sampled { Some(Incomplete::Budget) } else { many };
        looks.renew();
        let never = shadowed::never_matching(&looks, |later| before[later]);
        Overlaps { pairs: pairs.found, shadowed: never, incomplete }
    }

    /// The pairs of equal shape whose content types differ: nothing but the order of the settings
    /// decides there. Not all of them where there are too many rules or values to look.
    #[must_use]
    pub fn equal_shape_overlaps(&self) -> Overlaps<'_> {
        let looks = SearchBudget::new(self);
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
        let many = pairs.is_full().then_some(Incomplete::PairLimit);
        let incomplete = if looks.is_spent() { Some(Incomplete::Budget) } else { many };
        Overlaps { pairs: pairs.found, shadowed: Vec::new(), incomplete }
    }

    /// A path of this pattern that an earlier one of another rule takes, and that one's place.
    fn taken_before(&self, looks: &SearchBudget<'_>, later: usize) -> Option<(String, usize)> {
        let example = examples::examples(looks, later, later).next()?;
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

    fn conflict(
        &self,
        looks: &SearchBudget<'_>,
        winner: usize,
        loser: usize,
    ) -> Option<Overlap<'_>> {
        let mut taken = None;
        let [one, other] = [winner, loser].map(|at| looks.pattern(at));
        for example in examples::examples(looks, winner, loser) {
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

    fn reported(&self, pair: [usize; 2], example: String, third: Option<&Pattern>) -> Overlap<'_> {
        let [one, other] = pair.map(|at| &self.patterns()[at]);
        let [winner, loser] = [one, other].map(|pattern| self.side(pattern));
        let taken_by = third.map(|third| self.side(third));
        Overlap { winner, loser, example, why: why(one, other), taken_by }
    }

    pub(super) fn side(&self, pattern: &Pattern) -> RuleTemplate<'_> {
        RuleTemplate { rule: &self.rules()[pattern.rule], template: self.template(pattern) }
    }
}

/// The pairs found so far, each once though its templates may have several forms.
#[derive(Default)]
struct Pairs<'a> {
    found: Vec<Overlap<'a>>,
    seen: HashSet<[(*const Rule, &'a str); 2]>,
}

impl<'a> Pairs<'a> {
    fn is_full(&self) -> bool {
        self.found.len() >= MAX_REPORTED
    }

    fn add(&mut self, conflict: Option<Overlap<'a>>) {
        let key = |side: RuleTemplate<'a>| (std::ptr::from_ref(side.rule), side.template.as_str());
        let new = |c: &Overlap<'a>| self.seen.insert([key(c.winner), key(c.loser)]);
        self.found.extend(conflict.filter(new));
    }
}

fn why(winner: &Pattern, loser: &Pattern) -> PrecedenceReason {
    let [one, other] = [winner, loser].map(|pattern| ranks(&pattern.segments));
    let differ = one.iter().zip(&other).enumerate().find(|(_, (one, other))| one != other);
    match differ {
        Some((at, (Rank::Static, _))) => PrecedenceReason::StaticText(at),
        Some((at, (_, Rank::CatchAll))) => PrecedenceReason::BeforeCatchAll(at),
        Some((at, _)) => PrecedenceReason::MoreText(at),
        None => PrecedenceReason::SameShape,
    }
}
