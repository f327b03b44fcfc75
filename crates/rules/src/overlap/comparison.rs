//! Compares the texts that spans of several patterns match.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::automaton::{Automaton, shortest_text};
use super::budget::Budget;
use super::texts::{SetId, Span, TextSet, TextSets};

/// Compares spans, and remembers the results for pairs of single segments.
pub(super) struct Comparison<'s> {
    pub(super) sets: &'s TextSets<'s>,
    /// A text that two sets share.
    shared: RefCell<FxHashMap<[SetId; 2], Option<String>>>,
    /// Whether the first set contains the second.
    covering: RefCell<FxHashMap<[SetId; 2], bool>>,
}

impl<'s> Comparison<'s> {
    pub(super) fn new(sets: &'s TextSets<'s>) -> Self {
        Self { sets, shared: RefCell::default(), covering: RefCell::default() }
    }

    /// A text that both spans match and none of `refusing` does.
    pub(super) fn shared_text(
        &self,
        both: [Span<'s>; 2],
        refusing: &[Span<'s>],
        budget: &Budget,
    ) -> Option<String> {
        let fits = |text: &str| {
            both.iter().all(|span| self.sets.accepts(*span, text))
                && !refusing.iter().any(|span| self.sets.accepts(*span, text))
        };
        let lists = both.iter().filter_map(|span| self.sets.listed(*span));
        if let Some(texts) = lists.min_by_key(|texts| texts.len()) {
            let found = texts.iter().position(|text| fits(text));
            budget.spend(found.unwrap_or(texts.len()));
            return found.map(|at| texts[at].to_string());
        }
        if refusing.iter().any(|span| TextSets::is_free(*span)) {
            return None;
        }
        let key = key(both).filter(|_| refusing.is_empty());
        if let Some(known) = key.and_then(|key| self.shared.borrow().get(&key).cloned()) {
            return known;
        }
        let plain = self.plain_texts(both).into_iter().find(|text| fits(text));
        let text = plain.or_else(|| self.product(&both, refusing, budget));
        if let Some(key) = key {
            self.shared.borrow_mut().insert(key, text.clone());
        }
        text
    }

    /// Whether a span certainly matches every text of another.
    pub(super) fn covers(&self, wide: Span<'s>, narrow: Span<'s>, budget: &Budget) -> bool {
        if let Some(texts) = self.sets.listed(narrow) {
            let refused = texts.iter().position(|text| !self.sets.accepts(wide, text));
            budget.spend(refused.unwrap_or(texts.len()));
            return refused.is_none();
        }
        let key = key([wide, narrow]);
        if TextSets::is_free(wide) || key.is_some_and(|[wide, narrow]| wide == narrow) {
            return true;
        }
        if let Some(known) = key.and_then(|key| self.covering.borrow().get(&key).copied()) {
            return known;
        }
        let escapes =
            |text: &String| self.sets.accepts(narrow, text) && !self.sets.accepts(wide, text);
        let covers = !self.plain_texts([narrow; 2]).iter().any(escapes)
            && self.product(&[narrow], &[wide], budget).is_none()
            && !budget.is_exceeded();
        if let Some(key) = key {
            self.covering.borrow_mut().insert(key, covers);
        }
        covers
    }

    /// The segments of a path that a pattern matches.
    pub(super) fn path_of(&self, pattern: usize, budget: &Budget) -> Option<Vec<String>> {
        let spans = self.sets.side_by_side([pattern; 2]).unwrap_or_default().into_iter();
        spans.map(|span| self.shared_text(span, &[], budget)).collect()
    }

    fn product(
        &self,
        accepting: &[Span<'s>],
        refusing: &[Span<'s>],
        budget: &Budget,
    ) -> Option<String> {
        let automata = |spans: &[Span<'s>]| -> Result<Vec<_>, _> {
            spans.iter().map(|span| Automaton::new(*span, self.sets)).collect()
        };
        let text = automata(accepting)
            .and_then(|accepting| shortest_text(accepting, automata(refusing)?, budget));
        text.unwrap_or_else(|_| {
            budget.exceed();
            None
        })
    }

    /// Likely examples. A product is computed only when none of them is one.
    fn plain_texts(&self, both: [Span<'s>; 2]) -> Vec<String> {
        if both[0].is_rest {
            return both.iter().filter_map(|span| self.plain_path(*span)).collect();
        }
        let own = both.map(|span| self.sets.get(span.sets[0]));
        // Each common text begins and ends with the longer texts.
        let [[before, after], [other_before, other_after]] = own.map(TextSet::around);
        let longer =
            |one: &'s str, other: &'s str| if one.len() > other.len() { one } else { other };
        let [before, after] = [longer(before, other_before), longer(after, other_after)];
        let values: &[&str] = if own.iter().any(|set| set.has_pattern()) {
            &["x"]
        } else if own.iter().any(|set| set.is_year()) {
            &["2024", "1999"]
        } else {
            &["x", "x-1", "y-2"]
        };
        values.iter().map(|value| [before, value, after].concat()).collect()
    }

    /// A likely example for each segment, joined.
    fn plain_path(&self, span: Span<'s>) -> Option<String> {
        let text = |id: &SetId| {
            let set = self.sets.get(*id);
            let [before, after] = set.around();
            let plain = || Some([before, "x", after].concat());
            set.listed.as_ref().map_or_else(plain, |texts| Some(texts.first()?.to_string()))
        };
        let texts: Option<Vec<String>> = span.sets.iter().map(text).collect();
        Some(texts?.join("/"))
    }
}

/// The key of a pair of single segments.
fn key(both: [Span<'_>; 2]) -> Option<[SetId; 2]> {
    both.iter().all(|span| !span.is_rest).then(|| both.map(|span| span.sets[0]))
}
