//! Finds the earlier patterns that may match a path of a given pattern.
//!
//! Comparing each pair of 100,000 patterns would take minutes. The index is a tree with an edge for
//! each segment, so a search follows only edges that share a text with the pattern's segment.

use std::borrow::Cow;
use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use super::affixes::Affixes;
use super::budget::Budget;
use super::span::{Span, has_constrained_catch_all};
use super::values::Texts;
use crate::locale::Locales;
use crate::matching::{Pattern, ValueConditions, matches_text, specificity};
use crate::template::Segment;

/// Which patterns are searched.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Query {
    /// Patterns that may match a path of the given one.
    Overlapping,
    /// Overlapping patterns of equal shape.
    EqualShape,
    /// Patterns that may match every path of the given one.
    Covering,
}

/// A tree of patterns with an edge for each segment.
pub(super) struct Index<'r> {
    patterns: &'r [Pattern],
    locales: &'r Locales,
    nodes: Vec<Node<'r>>,
}

#[derive(Default)]
struct Node<'r> {
    /// The nodes behind static text.
    texts: FxHashMap<&'r str, usize>,
    /// The texts, sorted; computed on demand.
    sorted: OnceCell<Vec<&'r str>>,
    /// The nodes behind a placeholder, by the text before it and by that after it.
    values: Affixes<Affixes<Vec<Edge>>>,
    known: FxHashMap<EdgeKey<'r>, usize>,
    /// Of the edges with a list of values, those that match a text.
    listed: FxHashMap<Cow<'r, str>, Vec<Edge>>,
    /// Patterns with a catch-all here.
    catch_alls: Vec<usize>,
    /// Patterns that end here.
    ends: Vec<usize>,
}

/// An edge with a placeholder: the segment `at` of a pattern.
#[derive(Clone, Copy)]
struct Edge {
    pattern: usize,
    at: usize,
    node: usize,
}

/// The text around a placeholder and the conditions on its value: two edges with equal keys are the
/// same.
type EdgeKey<'r> = ([&'r str; 2], ValueConditions<'r>);

struct Walk<'i, 'r> {
    index: &'i Index<'r>,
    pattern: &'r Pattern,
    query: Query,
    budget: &'i Budget,
    found: Vec<usize>,
}

impl<'r> Index<'r> {
    pub(super) fn new(patterns: &'r [Pattern], locales: &'r Locales) -> Self {
        Self { patterns, locales, nodes: vec![Node::default()] }
    }

    pub(super) fn insert(&mut self, at: usize) {
        let pattern = &self.patterns[at];
        let mut node = 0;
        for (nth, segment) in pattern.segments.iter().enumerate() {
            let fresh = self.nodes.len();
            let own = &mut self.nodes[node];
            node = match segment {
                Segment::CatchAll(_) => {
                    own.catch_alls.push(at);
                    return;
                }
                Segment::Static(text) => *own.texts.entry(text).or_insert_with(|| {
                    own.sorted.take();
                    fresh
                }),
                _ => *own
                    .known
                    .entry((segment.around(), pattern.value_conditions(nth)))
                    .or_insert_with(|| {
                        let edge = Edge { pattern: at, at: nth, node: fresh };
                        let span = Span::one(pattern, nth, self.locales);
                        for text in span.value_texts().into_iter().flatten() {
                            own.listed.entry(text).or_default().push(edge);
                        }
                        let [before, after] = key_texts(segment.around());
                        own.values.entry(before).entry(after).push(edge);
                        fresh
                    }),
            };
            if node == fresh {
                self.nodes.push(Node::default());
            }
        }
        self.nodes[node].ends.push(at);
    }

    /// The positions of the patterns, in the order of evaluation. Incomplete when the budget is
    /// spent.
    pub(super) fn find(&self, pattern: &'r Pattern, query: Query, budget: &Budget) -> Vec<usize> {
        let mut walk = Walk { index: self, pattern, query, budget, found: Vec::new() };
        walk.visit(0, 0);
        walk.found.sort_unstable();
        walk.found
    }
}

impl<'r> Walk<'_, 'r> {
    fn visit(&mut self, node: usize, at: usize) {
        if self.budget.is_spent() {
            return;
        }
        self.budget.spend(1);
        let index = self.index;
        let own = &index.nodes[node];
        let Some(segment) = self.pattern.segments.get(at) else {
            self.found.extend(&own.ends);
            return;
        };
        let open = matches!(segment, Segment::CatchAll(_));
        if self.query != Query::EqualShape || open {
            self.found.extend(&own.catch_alls);
        }
        match segment {
            Segment::Static(text) => {
                if let Some(node) = own.texts.get(text.as_str()) {
                    self.visit(*node, at + 1);
                }
            }
            Segment::CatchAll(_) => {
                let whole = has_constrained_catch_all(self.pattern);
                if self.query == Query::Overlapping || (self.query == Query::Covering && whole) {
                    self.visit_all(node);
                }
                return;
            }
            _ => self.visit_texts(own, at),
        }
        if own.values.is_empty() {
            return;
        }
        let own_texts = Span::one(self.pattern, at, index.locales).value_texts();
        if let Some(texts) = own_texts.filter(|_| self.query != Query::EqualShape) {
            self.visit_listed(own, &texts, at);
        }
        self.visit_values(own, segment, at);
    }

    /// Follows the edges with a list of values that match one of these texts. An edge that covers
    /// all of them matches the first.
    fn visit_listed(&mut self, own: &Node<'r>, texts: &Texts<'r>, at: usize) {
        let wanted = if self.query == Query::Covering { 1 } else { texts.len() };
        self.budget.spend(wanted);
        let edges = texts.iter().take(wanted).filter_map(|text| own.listed.get(text)).flatten();
        let mut nodes: Vec<usize> = edges.map(|edge| edge.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes {
            self.visit(node, at + 1);
        }
    }

    /// Follows the other edges with a placeholder.
    fn visit_values(&mut self, own: &Node<'r>, segment: &'r Segment, at: usize) {
        let fixed = matches!(segment, Segment::Static(_));
        let listed = Span::one(self.pattern, at, self.index.locales).has_values()
            && self.query != Query::EqualShape;
        let [before, after] = match segment {
            Segment::Static(text) => key_texts([text, text]),
            _ => key_texts(segment.around()),
        };
        for by_suffix in own.values.sharing(&before, !fixed) {
            for edge in by_suffix.sharing(&after, !fixed).flatten() {
                let other = &self.index.patterns[edge.pattern];
                if listed && Span::one(other, edge.at, self.index.locales).has_values() {
                    continue;
                }
                self.budget.spend(1);
                if self.may_follow(edge, segment) {
                    self.visit(edge.node, at + 1);
                }
            }
        }
    }

    fn may_follow(&self, edge: &Edge, segment: &Segment) -> bool {
        let pattern = &self.index.patterns[edge.pattern];
        match segment {
            Segment::Static(text) if self.query != Query::EqualShape => {
                matches_text(pattern, edge.at, text, self.index.locales)
            }
            _ if self.query == Query::EqualShape => {
                let [one, other] = [segment, &pattern.segments[edge.at]];
                specificity(std::slice::from_ref(one)) == specificity(std::slice::from_ref(other))
            }
            _ => true,
        }
    }

    /// Follows the edges with static text that a placeholder matches.
    fn visit_texts(&mut self, own: &Node<'r>, at: usize) {
        if own.texts.is_empty() || self.query == Query::EqualShape {
            return;
        }
        let span = Span::one(self.pattern, at, self.index.locales);
        match span.texts() {
            Some(texts) if self.query == Query::Overlapping || texts.len() == 1 => {
                self.budget.spend(texts.len());
                for node in texts.iter().filter_map(|text| own.texts.get(&**text)) {
                    self.visit(*node, at + 1);
                }
            }
            None if self.query == Query::Overlapping => {
                for text in own.texts_with(span.around()[0]) {
                    self.budget.spend(1);
                    if span.accepts(text) {
                        self.visit(own.texts[text], at + 1);
                    }
                }
            }
            _ => {}
        }
    }

    fn visit_all(&mut self, node: usize) {
        if self.budget.is_spent() {
            return;
        }
        self.budget.spend(1);
        let own = &self.index.nodes[node];
        for node in own.texts.values().copied().chain(own.edges().map(|edge| edge.node)) {
            let below = &self.index.nodes[node];
            self.found.extend(below.ends.iter().chain(&below.catch_alls));
            self.visit_all(node);
        }
    }
}

impl<'r> Node<'r> {
    /// The static texts that begin with this one.
    fn texts_with(&self, prefix: &str) -> impl Iterator<Item = &'r str> {
        let sorted = self.sorted.get_or_init(|| {
            let mut texts: Vec<&str> = self.texts.keys().copied().collect();
            texts.sort_unstable();
            texts
        });
        let start = sorted.partition_point(|text| *text < prefix);
        sorted[start..].iter().copied().take_while(move |text| text.starts_with(prefix))
    }

    fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.values.all().flat_map(Affixes::all).flatten()
    }
}

/// The text before a placeholder, and the text after it reversed.
fn key_texts([before, after]: [&str; 2]) -> [Vec<u8>; 2] {
    [before.bytes().collect(), after.bytes().rev().collect()]
}
