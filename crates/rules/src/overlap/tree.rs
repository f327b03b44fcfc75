//! Finds the earlier patterns that may match a path of a given one: comparing each pair of 100,000
//! patterns would take minutes.

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::ops::Bound;

use rustc_hash::FxHashMap;

use super::budget::Budget;
use super::texts::{SetId, TextSets, is_open};

/// The patterns so far as a tree, with an edge for each set of texts.
pub(super) struct Tree<'s> {
    sets: &'s TextSets<'s>,
    nodes: Vec<Node<'s>>,
}

/// Children by the text after their value, reversed.
type ByEnd = BTreeMap<String, Vec<(SetId, usize)>>;

#[derive(Default)]
struct Node<'s> {
    children: FxHashMap<SetId, usize>,
    /// The children behind texts that can be listed, by each of these.
    listed: BTreeMap<&'s str, Vec<usize>>,
    /// The other children, by the text before their value.
    by_start: BTreeMap<&'s str, ByEnd>,
    /// Patterns with a catch-all here.
    catch_alls: Vec<usize>,
    /// Patterns that end here.
    ends: Vec<usize>,
}

/// What is looked up for a segment.
enum Step<'q> {
    Texts(&'q [Cow<'q, str>]),
    Values(SetId),
}

/// What is looked up.
struct Query<'q> {
    steps: Vec<Step<'q>>,
    /// Whether one or more segments of any text follow.
    is_open: bool,
    budget: &'q Budget,
}

impl<'s> Tree<'s> {
    pub(super) fn new(sets: &'s TextSets<'s>) -> Self {
        Self { sets, nodes: vec![Node::default()] }
    }

    pub(super) fn insert(&mut self, pattern: usize) {
        let sets = self.sets;
        let is_open = is_open(&sets.patterns[pattern]);
        let own = sets.of(pattern);
        let mut node = 0;
        for id in &own[..own.len() - usize::from(is_open)] {
            let known = self.nodes[node].children.get(id).copied();
            node = known.unwrap_or_else(|| self.add(node, *id));
        }
        let Node { catch_alls, ends, .. } = &mut self.nodes[node];
        if is_open { catch_alls } else { ends }.push(pattern);
    }

    fn add(&mut self, node: usize, id: SetId) -> usize {
        let child = self.nodes.len();
        self.nodes.push(Node::default());
        let own = &mut self.nodes[node];
        own.children.insert(id, child);
        let set = self.sets.get(id);
        if let Some(texts) = &set.listed {
            for text in texts {
                own.listed.entry(text).or_default().push(child);
            }
        } else {
            let [before, after] = set.around();
            let by_end = own.by_start.entry(before).or_default();
            by_end.entry(reversed(after)).or_default().push((id, child));
        }
        child
    }

    /// The patterns that may match a path of this one, in the order of evaluation. Incomplete when
    /// the budget is spent.
    pub(super) fn overlapping(&self, pattern: usize, budget: &Budget) -> Vec<usize> {
        let of = &self.sets.patterns[pattern];
        let is_open = is_open(of);
        let own = self.sets.of(pattern);
        let step = |id: &SetId| match &self.sets.get(*id).listed {
            Some(texts) => Step::Texts(texts),
            None => Step::Values(*id),
        };
        let steps = own[..own.len() - usize::from(is_open)].iter().map(step).collect();
        self.find(&Query { steps, is_open, budget })
    }

    /// The patterns that may match a path with these segments, in the order of evaluation.
    pub(super) fn matching(&self, path: &[Cow<'_, str>], budget: &Budget) -> Vec<usize> {
        let steps = path.iter().map(|text| Step::Texts(std::slice::from_ref(text))).collect();
        self.find(&Query { steps, is_open: false, budget })
    }

    fn find(&self, query: &Query<'_>) -> Vec<usize> {
        let mut found = Vec::new();
        self.visit(0, 0, query, &mut found);
        found.sort_unstable();
        found
    }

    fn visit(&self, node: usize, at: usize, query: &Query<'_>, found: &mut Vec<usize>) {
        if query.budget.is_spent() {
            return;
        }
        query.budget.spend(1);
        let own = &self.nodes[node];
        let children = match query.steps.get(at) {
            Some(step) => self.children(own, step, query.budget),
            None if query.is_open => own.children.values().copied().collect(),
            None => Vec::new(),
        };
        if at < query.steps.len() || query.is_open {
            found.extend(&own.catch_alls);
        }
        if at > query.steps.len() || (at == query.steps.len() && !query.is_open) {
            found.extend(&own.ends);
        }
        for child in children {
            self.visit(child, at + 1, query, found);
        }
    }

    /// The children whose segments share a text with a step, each once.
    fn children(&self, node: &Node<'s>, step: &Step<'_>, budget: &Budget) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        match step {
            Step::Texts(texts) => {
                for text in *texts {
                    found.extend(node.listed.get(&**text).into_iter().flatten());
                    if !node.by_start.is_empty() {
                        let end = reversed(text);
                        let by_after = proper_prefixes_of(&node.by_start, text);
                        let edges =
                            by_after.flat_map(|edges| proper_prefixes_of(edges, &end)).flatten();
                        let edges = edges.inspect(|_| budget.spend(1));
                        let accepting = edges.filter(|(id, _)| self.sets.accepts_text(*id, text));
                        found.extend(accepting.map(|(_, child)| child));
                    }
                }
                budget.spend(texts.len());
            }
            Step::Values(own) => {
                let [before, after] = self.sets.get(*own).around();
                let end = reversed(after);
                let by_after = prefix_related(&node.by_start, before);
                let edges = by_after.flat_map(|edges| prefix_related(edges, &end));
                let edges = edges.flatten().inspect(|_| budget.spend(1));
                found.extend(edges.map(|(_, child)| child));
                let texts = starting_with(&node.listed, before).inspect(|_| budget.spend(1));
                let accepted = texts.filter(|(text, _)| self.sets.accepts_text(*own, text));
                found.extend(accepted.flat_map(|(_, children)| children));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The values of the keys that a text begins with, except itself.
fn proper_prefixes_of<'m, K: Borrow<str> + Ord, T>(
    map: &'m BTreeMap<K, T>,
    text: &'m str,
) -> impl Iterator<Item = &'m T> {
    (0..text.len()).filter_map(|length| map.get(text.get(..length)?))
}

/// The keys that begin with a text, with their values.
fn starting_with<'m, K: Borrow<str> + Ord, T>(
    map: &'m BTreeMap<K, T>,
    text: &'m str,
) -> impl Iterator<Item = (&'m K, &'m T)> {
    let range = map.range::<str, _>((Bound::Included(text), Bound::Unbounded));
    range.take_while(move |(key, _)| (*key).borrow().starts_with(text))
}

/// The values of the keys that begin with a text, or that it begins with.
fn prefix_related<'m, K: Borrow<str> + Ord, T>(
    map: &'m BTreeMap<K, T>,
    text: &'m str,
) -> impl Iterator<Item = &'m T> {
    proper_prefixes_of(map, text).chain(starting_with(map, text).map(|(_, value)| value))
}

fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}
