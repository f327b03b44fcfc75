//! Searches the pairs of patterns that match the same path, with an example for each.

use std::collections::HashSet;

use super::budget::Budget;
use super::comparison::Comparison;
use super::shadowed::Shadows;
use super::texts::{Span, TextSets};
use super::tree::Tree;
use super::{Incomplete, Overlap, Overlaps, PrecedenceReason, RuleTemplate, TieBreak};
use crate::encode::encode;
use crate::matching::{Pattern, RuleSet, Specificity, same_shape, specificity};
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
    pub fn overlaps(&self, tie_break: TieBreak) -> Overlaps<'_> {
        self.search(Some(tie_break))
    }

    /// The pairs of equal shape with different content types, for which only the order of the
    /// settings decides. Shadowed rules are not searched.
    pub fn equal_shape_overlaps(&self) -> Overlaps<'_> {
        self.search(None)
    }

    fn search(&self, tie_break: Option<TieBreak>) -> Overlaps<'_> {
        let patterns = self.patterns();
        let sets = TextSets::new(patterns, self.locales());
        let comparison = Comparison::new(&sets);
        let budget = Budget::new(patterns.len());
        let search = Search { rules: self, comparison: &comparison, budget };
        let mut shadows = tie_break.map(|by| Shadows::new(self, &comparison, by));
        let mut tree = Tree::new(&sets);
        let mut pairs = Pairs::default();
        for (later, pattern) in patterns.iter().enumerate() {
            // Patterns of one shape follow each other.
            let before = later.checked_sub(1).map(|at| &patterns[at].segments);
            let is_same_shape = before.is_some_and(|own| same_shape(own, &pattern.segments));
            if tie_break.is_none() && !is_same_shape {
                tree = Tree::new(&sets);
            }
            search.add_pairs(&tree, later, tie_break.is_none(), &mut pairs);
            if let Some(shadows) = &mut shadows {
                shadows.add(&tree, later);
            }
            tree.insert(later);
        }
        let incomplete = search.incomplete(&pairs);
        let shadowed = shadows.map(Shadows::finish).unwrap_or_default();
        Overlaps { pairs: pairs.found, shadowed, incomplete }
    }

    pub(super) fn rule_template(&self, pattern: &Pattern) -> RuleTemplate<'_> {
        RuleTemplate { rule: &self.rules()[pattern.rule], template: self.template(pattern) }
    }
}

struct Search<'s, 'r> {
    rules: &'r RuleSet,
    comparison: &'s Comparison<'s>,
    budget: Budget,
}

/// Searches an example for one pair.
struct PathSearch<'s, 'r> {
    search: &'s Search<'s, 'r>,
    /// The positions of the two patterns, the winner's first.
    pair: [usize; 2],
    spans: Vec<[Span<'s>; 2]>,
    /// For each span, spans of third patterns whose texts are excluded.
    refused: Vec<Vec<Span<'s>>>,
    /// How many more paths may be tried.
    left: usize,
    /// The first path found that a third pattern matches before the winner, and its position.
    taken: Option<(String, usize)>,
}

impl<'r> Search<'_, 'r> {
    /// Why there may be more pairs.
    fn incomplete(&self, pairs: &Pairs<'_>) -> Option<Incomplete> {
        if pairs.is_full() {
            Some(Incomplete::PairLimit)
        } else {
            self.budget.is_exceeded().then_some(Incomplete::Budget)
        }
    }

    /// Adds the pairs of a pattern with earlier ones; `by_type` for those of two content types.
    fn add_pairs(&self, tree: &Tree<'_>, later: usize, by_type: bool, pairs: &mut Pairs<'r>) {
        if pairs.is_full() {
            return;
        }
        let patterns = self.rules.patterns();
        let uid = |at: usize| &self.rules.rules()[patterns[at].rule].content_type;
        for earlier in tree.overlapping(later, &self.budget) {
            if self.budget.is_spent() || pairs.is_full() {
                break;
            }
            let is_wanted = if by_type {
                uid(earlier) != uid(later)
            } else {
                !self.is_one_template(earlier, later)
            };
            // Equal paths on different hosts are different pages.
            if is_wanted && self.rules.share_a_host(earlier, later) {
                pairs.add(self.overlap([earlier, later]));
            }
        }
        if self.budget.is_exceeded() && !by_type {
            pairs.add(self.overlap_by_path(later));
        }
    }

    /// Tries one path of a pattern: the pair with the earlier pattern that matches it, if any. For
    /// patterns that were not compared with each other one.
    fn overlap_by_path(&self, later: usize) -> Option<Overlap<'r>> {
        let example = path(&self.comparison.path_of(later, &self.budget)?);
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
        self.budget.spend(1);
        let spans = self.comparison.sets.side_by_side(pair)?;
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
        for at in 0..self.spans.len() {
            let is_rest = self.spans[at][0].is_rest;
            let Some(span) = self.search.comparison.sets.span(position, at, is_rest) else {
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
