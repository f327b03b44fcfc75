//! Shadowed rules: for each pattern of the rule, one earlier pattern matches all of its paths. Only
//! certain cases are reported.

use super::budget::Budget;
use super::comparison::Comparison;
use super::index::{Index, Query};
use super::span::{has_constrained_catch_all, is_open, side_by_side};
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
pub(super) struct Shadows<'c, 'r> {
    rules: &'r RuleSet,
    comparison: &'c Comparison<'r>,
    budget: Budget,
    tie_break: TieBreak,
    found: Vec<Reachability>,
}

impl<'c, 'r> Shadows<'c, 'r> {
    pub(super) fn new(
        rules: &'r RuleSet,
        comparison: &'c Comparison<'r>,
        tie_break: TieBreak,
    ) -> Self {
        let budget = Budget::new(rules.patterns().len());
        Self { rules, comparison, budget, tie_break, found: Vec::new() }
    }

    /// Adds the next pattern. The index contains the earlier ones.
    pub(super) fn add(&mut self, index: &Index<'r>, later: usize) {
        let pattern = &self.rules.patterns()[later];
        let reachability = if self.is_empty(pattern) {
            Reachability::Empty
        } else {
            let before = index.find(pattern, Query::Covering, &self.budget);
            let patterns = self.rules.patterns();
            let hides = |earlier: &usize| {
                let is_everywhere = self.rules.is_on_all_hosts_of(*earlier, later);
                let earlier = &patterns[*earlier];
                is_everywhere
                    && self.decides_first(earlier, pattern)
                    && self.covers(earlier, pattern)
            };
            before.into_iter().find(hides).map_or(Reachability::Reachable, Reachability::Shadowed)
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

    fn is_empty(&self, pattern: &'r Pattern) -> bool {
        let spans = side_by_side([pattern; 2], self.rules.locales()).unwrap_or_default();
        spans.iter().any(|span| {
            let found = self.comparison.shared_text(*span, &[], &self.budget).is_some();
            !found && !self.budget.is_exceeded()
        })
    }

    /// Whether an earlier pattern always wins where both match.
    fn decides_first(&self, earlier: &Pattern, later: &Pattern) -> bool {
        self.tie_break == TieBreak::Order
            || earlier.rule == later.rule
            || !same_shape(&earlier.segments, &later.segments)
    }

    /// Whether `earlier` certainly matches every path that `later` matches.
    fn covers(&self, earlier: &'r Pattern, later: &'r Pattern) -> bool {
        self.budget.spend(1);
        let [a, b] = [earlier, later].map(|pattern| pattern.segments.len());
        // An unconstrained catch-all has paths of every length.
        let endless = is_open(later) && !has_constrained_catch_all(later);
        if endless && !(is_open(earlier) && a <= b) {
            return false;
        }
        let spans = side_by_side([earlier, later], self.rules.locales());
        spans.is_some_and(|spans| {
            spans.iter().all(|[wide, narrow]| self.comparison.covers(*wide, *narrow, &self.budget))
        })
    }
}
