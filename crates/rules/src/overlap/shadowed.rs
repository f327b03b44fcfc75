//! Shadowed rules: for each pattern of the rule, one earlier pattern matches all of its paths. Only
//! certain cases are reported.

use std::borrow::Cow;

use super::budget::Budget;
use super::comparison::Comparison;
use super::texts::{constrained_catch_all, is_open};
use super::tree::Tree;
use super::{RuleTemplate, ShadowedRule, TieBreak};
use crate::matching::{Pattern, RuleSet, same_shape};

/// Whether a pattern is the first one to match some of its paths.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reachability {
    /// Possibly.
    Reachable,
    /// The pattern has no paths.
    Empty,
    /// No: the pattern at this position matches all of them.
    Shadowed(usize),
}

/// Decides pattern by pattern, in the order of evaluation.
pub(super) struct Shadows<'s, 'r> {
    rules: &'r RuleSet,
    comparison: &'s Comparison<'s>,
    budget: Budget,
    tie_break: TieBreak,
    found: Vec<Reachability>,
}

impl<'s, 'r> Shadows<'s, 'r> {
    pub(super) fn new(
        rules: &'r RuleSet,
        comparison: &'s Comparison<'s>,
        tie_break: TieBreak,
    ) -> Self {
        let budget = Budget::new(rules.patterns().len());
        Self { rules, comparison, budget, tie_break, found: Vec::new() }
    }

    /// Adds the next pattern. The tree contains the earlier ones.
    pub(super) fn add(&mut self, tree: &Tree<'_>, later: usize) {
        let reachability = match self.comparison.path_of(later, &self.budget) {
            Some(path) => {
                // What matches all of its paths matches this one.
                let path: Vec<Cow<'_, str>> =
                    path.iter().flat_map(|text| text.split('/')).map(Cow::Borrowed).collect();
                let before = tree.matching(&path, &self.budget);
                let first = before.into_iter().find(|earlier| self.hides(*earlier, later));
                first.map_or(Reachability::Reachable, Reachability::Shadowed)
            }
            None if self.budget.is_exceeded() => Reachability::Reachable,
            None => Reachability::Empty,
        };
        self.found.push(reachability);
    }

    /// The rules all of whose patterns are shadowed or empty, in the order of the settings.
    pub(super) fn finish(self) -> Vec<ShadowedRule<'r>> {
        let (rules, patterns) = (self.rules, self.rules.patterns());
        let mut reachable = vec![false; rules.rules().len()];
        let mut hidden_by: Vec<Vec<RuleTemplate<'_>>> = vec![Vec::new(); rules.rules().len()];
        for (pattern, reachability) in patterns.iter().zip(self.found) {
            match reachability {
                Reachability::Reachable => reachable[pattern.rule] = true,
                Reachability::Empty => {}
                // The earlier pattern of the same rule decides for itself.
                Reachability::Shadowed(at) if patterns[at].rule == pattern.rule => {}
                Reachability::Shadowed(at) => {
                    let by = rules.rule_template(&patterns[at]);
                    if !hidden_by[pattern.rule].contains(&by) {
                        hidden_by[pattern.rule].push(by);
                    }
                }
            }
        }
        let rules = rules.rules().iter().zip(hidden_by).zip(reachable);
        let shadowed = rules.filter(|(_, reachable)| !reachable);
        shadowed.map(|((rule, hidden_by), _)| ShadowedRule { rule, hidden_by }).collect()
    }

    /// Whether an earlier pattern certainly matches first every path that a later one matches.
    fn hides(&self, earlier: usize, later: usize) -> bool {
        let [one, other] = [earlier, later].map(|at| &self.rules.patterns()[at]);
        self.rules.is_on_all_hosts_of(earlier, later)
            && self.decides_first(one, other)
            && self.covers(earlier, later)
    }

    /// Whether an earlier pattern always wins where both match.
    fn decides_first(&self, earlier: &Pattern, later: &Pattern) -> bool {
        self.tie_break == TieBreak::Order
            || earlier.rule == later.rule
            || !same_shape(&earlier.segments, &later.segments)
    }

    fn covers(&self, earlier: usize, later: usize) -> bool {
        self.budget.spend(1);
        let [one, other] = [earlier, later].map(|at| &self.rules.patterns()[at]);
        // An unconstrained catch-all has paths of every length.
        let is_endless = is_open(other) && constrained_catch_all(other).is_none();
        if is_endless && !(is_open(one) && one.segments.len() <= other.segments.len()) {
            return false;
        }
        let spans = self.comparison.sets.side_by_side([earlier, later]);
        spans.is_some_and(|spans| {
            spans.iter().all(|[wide, narrow]| self.comparison.covers(*wide, *narrow, &self.budget))
        })
    }
}
