//! Searches the pairs of patterns that match the same path, with an example for each.

use std::collections::HashSet;

use super::budget::Budget;
use super::comparison::Comparison;
use super::index::{Index, Query};
use super::shadowed::Shadows;
use super::span::{Span, side_by_side};
use super::{Incomplete, Overlap, Overlaps, PrecedenceReason, RuleTemplate, TieBreak};
use crate::encode::encode;
use crate::matching::{Pattern, RuleSet, Specificity, specificity};
use crate::pathname::Pathname;
use crate::rule::Rule;

/// The most pairs that are reported: thousands of equal rules would have millions.
const MAX_REPORTED: usize = 1_000;
/// The most paths of one pair that are tried to find one that no third rule matches first: enough
/// for the days of a month.
const MAX_PATHS: usize = 64;

impl RuleSet {
    /// The pairs of templates that match the same path, and the shadowed rules.
    ///
    /// Each pair has an example that proves it, and the list is complete unless
    /// [`Overlaps::incomplete`] says why not.
    #[must_use]
    pub fn overlaps(&self, tie_break: TieBreak) -> Overlaps<'_> {
        let comparison = Comparison::new();
        let search = Search::new(self, &comparison);
        let mut index = Index::new(self.patterns(), self.locales());
        let mut shadows = Shadows::new(self, &comparison, tie_break);
        let mut pairs = Pairs::default();
        for later in 0..self.patterns().len() {
            search.add_pairs(&index, later, Query::Overlapping, &mut pairs);
            shadows.add(&index, later);
            index.insert(later);
        }
        let incomplete = search.incomplete(&pairs);
        Overlaps { pairs: pairs.found, shadowed: shadows.finish(), incomplete }
    }

    /// The pairs of equal shape with different content types, for which only the order of the
    /// settings decides. Shadowed rules are not searched.
    #[must_use]
    pub fn equal_shape_overlaps(&self) -> Overlaps<'_> {
        let comparison = Comparison::new();
        let search = Search::new(self, &comparison);
        let mut index = Index::new(self.patterns(), self.locales());
        let mut pairs = Pairs::default();
        for later in 0..self.patterns().len() {
            search.add_pairs(&index, later, Query::EqualShape, &mut pairs);
            index.insert(later);
        }
        let incomplete = search.incomplete(&pairs);
        Overlaps { pairs: pairs.found, shadowed: Vec::new(), incomplete }
    }

    pub(super) fn rule_template(&self, pattern: &Pattern) -> RuleTemplate<'_> {
        RuleTemplate { rule: &self.rules()[pattern.rule], template: self.template(pattern) }
    }
}

struct Search<'c, 'r> {
    rules: &'r RuleSet,
    comparison: &'c Comparison<'r>,
    budget: Budget,
}

/// Searches an example for one pair.
struct PathSearch<'s, 'r> {
    search: &'s Search<'s, 'r>,
    /// The positions of the two patterns, the winner's first.
    pair: [usize; 2],
    spans: Vec<[Span<'r>; 2]>,
    /// For each span, spans of third patterns whose texts are excluded.
    refused: Vec<Vec<Span<'r>>>,
    /// How many more paths may be tried.
    left: usize,
    /// The first path found that a third pattern matches before the winner, and its position.
    taken: Option<(String, usize)>,
}

impl<'c, 'r> Search<'c, 'r> {
    fn new(rules: &'r RuleSet, comparison: &'c Comparison<'r>) -> Self {
        Self { rules, comparison, budget: Budget::new(rules.patterns().len()) }
    }

    /// Why there may be more pairs.
    fn incomplete(&self, pairs: &Pairs<'_>) -> Option<Incomplete> {
        if pairs.is_full() {
            Some(Incomplete::PairLimit)
        } else {
            self.budget.is_exceeded().then_some(Incomplete::Budget)
        }
    }

    /// Adds the pairs of a pattern with earlier ones.
    fn add_pairs(&self, index: &Index<'r>, later: usize, query: Query, pairs: &mut Pairs<'r>) {
        if pairs.is_full() {
            return;
        }
        let patterns = self.rules.patterns();
        let uid = |at: usize| &self.rules.rules()[patterns[at].rule].content_type;
        let budget = &self.budget;
        for earlier in index.find(&patterns[later], query, budget) {
            if budget.is_spent() || pairs.is_full() {
                break;
            }
            let wanted = match query {
                Query::EqualShape => uid(earlier) != uid(later),
                _ => !self.is_one_template(earlier, later),
            };
            // Equal paths on different hosts are different pages.
            if wanted && self.rules.share_a_host(earlier, later) {
                pairs.add(self.overlap([earlier, later]));
            }
        }
        if budget.is_exceeded() && query == Query::Overlapping {
            pairs.add(self.overlap_by_path(later));
        }
    }

    /// Tries one path of a pattern: the pair with the earlier pattern that matches it, if any. For
    /// patterns that were not compared with each other one.
    fn overlap_by_path(&self, later: usize) -> Option<Overlap<'r>> {
        let pattern = &self.rules.patterns()[later];
        let spans = side_by_side([pattern; 2], self.rules.locales())?.into_iter();
        let texts = spans.map(|span| self.comparison.shared_text(span, &[], &self.budget));
        let example = path(&texts.collect::<Option<Vec<_>>>()?);
        let earlier = self.rules.first_position(&Pathname::parse(&example))?;
        let other = !self.is_one_template(earlier, later);
        (earlier < later && other).then(|| self.reported([earlier, later], example, None))
    }

    /// Whether two patterns belong to the same template: no path matches both. Two templates of one
    /// rule may match each other's paths, in another locale or with other values.
    fn is_one_template(&self, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|at| &self.rules.patterns()[at]);
        (one.rule, one.template) == (other.rule, other.template)
    }

    fn overlap(&self, pair: [usize; 2]) -> Option<Overlap<'r>> {
        let patterns = pair.map(|at| &self.rules.patterns()[at]);
        self.budget.spend(1);
        let spans = side_by_side(patterns, self.rules.locales())?;
        let refused = vec![Vec::new(); spans.len()];
        let mut paths =
            PathSearch { search: self, pair, spans, refused, left: MAX_PATHS, taken: None };
        if let Some(example) = paths.run() {
            return Some(self.reported(pair, example, None));
        }
        let (example, third) = paths.taken?;
        Some(self.reported(pair, example, Some(third)))
    }

    fn reported(&self, pair: [usize; 2], example: String, third: Option<usize>) -> Overlap<'r> {
        let patterns = self.rules.patterns();
        let [winner, loser] = pair.map(|at| self.rules.rule_template(&patterns[at]));
        let taken_by = third.map(|at| self.rules.rule_template(&patterns[at]));
        let why = reason(&patterns[pair[0]], &patterns[pair[1]]);
        Overlap { winner, loser, example, why, taken_by }
    }
}

impl PathSearch<'_, '_> {
    /// A path that both patterns match and that belongs to the winner.
    fn run(&mut self) -> Option<String> {
        let texts = (0..self.spans.len()).map(|at| self.text(at)).collect::<Option<Vec<_>>>()?;
        self.try_path(&texts)
    }

    fn text(&self, at: usize) -> Option<String> {
        self.search.comparison.shared_text(self.spans[at], &self.refused[at], &self.search.budget)
    }

    fn try_path(&mut self, texts: &[String]) -> Option<String> {
        let rules = self.search.rules;
        let example = path(texts);
        let position = rules.first_position(&Pathname::parse(&example))?;
        if self.is_own(self.pair[0], position) {
            return Some(example);
        }
        // Another pattern of the loser's rule is a pair of its own with the winner.
        if !self.is_own(self.pair[1], position) && self.taken.is_none() {
            self.taken = Some((example, position));
        }
        self.left = self.left.saturating_sub(1);
        let third = &rules.patterns()[position];
        for at in 0..self.spans.len() {
            let Some(span) = self.spans[at][0].of(third) else {
                continue;
            };
            if self.left == 0 {
                return None;
            }
            self.refused[at].push(span);
            let found = self.text(at).and_then(|text| {
                let mut texts = texts.to_vec();
                texts[at] = text;
                self.try_path(&texts)
            });
            self.refused[at].pop();
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Whether the pattern at a position belongs to the same rule as `of`, one of the pair. For two
    /// templates of one rule: to the same template.
    fn is_own(&self, of: usize, position: usize) -> bool {
        let patterns = self.search.rules.patterns();
        let [winner, loser] = self.pair.map(|at| patterns[at].rule);
        if winner == loser {
            self.search.is_one_template(position, of)
        } else {
            patterns[position].rule == patterns[of].rule
        }
    }
}

/// The pairs found so far: each pair of templates once, although they may have several patterns.
#[derive(Default)]
struct Pairs<'a> {
    found: Vec<Overlap<'a>>,
    seen: HashSet<[(*const Rule, &'a str); 2]>,
}

impl<'a> Pairs<'a> {
    fn is_full(&self) -> bool {
        self.found.len() >= MAX_REPORTED
    }

    fn add(&mut self, overlap: Option<Overlap<'a>>) {
        let key = |side: RuleTemplate<'a>| (std::ptr::from_ref(side.rule), side.template.as_str());
        let new = |c: &Overlap<'a>| self.seen.insert([key(c.winner), key(c.loser)]);
        self.found.extend(overlap.filter(new));
    }
}

fn path(texts: &[String]) -> String {
    let segments = texts.iter().flat_map(|text| text.split('/'));
    let path = segments.fold(String::new(), |path, text| path + "/" + &encode(text));
    if path.is_empty() { "/".to_owned() } else { path }
}

fn reason(winner: &Pattern, loser: &Pattern) -> PrecedenceReason {
    let [one, other] = [winner, loser].map(|pattern| specificity(&pattern.segments));
    let differ = one.iter().zip(&other).enumerate().find(|(_, (one, other))| one != other);
    match differ {
        Some((at, (Specificity::Static, _))) => PrecedenceReason::StaticText(at),
        Some((at, (_, Specificity::CatchAll))) => PrecedenceReason::BeforeCatchAll(at),
        Some((at, _)) => PrecedenceReason::MoreText(at),
        None => PrecedenceReason::SameShape,
    }
}
