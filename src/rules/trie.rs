//! All patterns of a site in one trie: which of those that match a pathname comes first (D8).
//!
//! A pattern's place in the order of evaluation is not decided by its first segments alone: of
//! `/a{x}/{y}` and `/{x}b/c` the second comes first. So each node knows the smallest place below
//! it, and the search goes depth first, the most specific edge first, and leaves out every node
//! that cannot beat what it has. It visits a node at most once, and only nodes that the segments
//! so far lead to; how many that can be for any pathname is known when the trie is built
//! ([`Trie::cost`]), so that a site can be refused at start rather than be slow later.
//!
//! Static text, and the text around a placeholder, are edges in one hash table. Who asks chooses
//! the look-ups, but the settings alone choose the keys: no pathname can look at more slots than
//! the longest run in the table.

mod build;
mod cost;
mod edges;
mod guard;
#[cfg(test)]
mod tests;

use std::ops::Range;

use smallvec::SmallVec;

use self::edges::{Edges, Owner};
use self::guard::Guard;
use super::locale::Locales;
use super::pathname::Pathname;

/// More nodes in waiting than this need an allocation.
const USUAL_WAITING: usize = 8;
/// No place: after all others.
const NO_PLACE: u32 = u32::MAX;

/// No node, and no entry of [`Trie::rare`].
const NO_NODE: u32 = u32::MAX;
const NO_CHOICE: Choice = Choice { guard: 0, node: NO_NODE };

/// The compiled patterns of a site.
#[derive(Clone, Debug)]
pub(super) struct Trie {
    nodes: Box<[Node]>,
    rare: Box<[Rare]>,
    edges: Edges,
    /// What stands before and after the placeholders in the nodes' edges, in bytes.
    shapes: Box<[Shape]>,
    /// For each edge with text around a placeholder, its choices.
    groups: Box<[Span]>,
    choices: Box<[Choice]>,
    /// The first one takes everything.
    guards: Box<[Guard]>,
    cost: u32,
}

#[derive(Clone, Debug)]
struct Node {
    /// The smallest place of a pattern that ends here or below.
    best: u32,
    /// The place of the pattern that ends here.
    leaf: u32,
    /// The first choice behind a placeholder alone, and behind a catch-all.
    plain: Choice,
    catch_all: Choice,
    rare: u32,
    has_static: bool,
}

/// What few nodes have.
#[derive(Clone, Debug)]
struct Rare {
    mixed: Span,
    /// The choices after the first ones.
    plains: Span,
    catch_alls: Span,
}

/// Entries of one of the lists, in the order of their smallest place.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u32,
    end: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Shape {
    before: u32,
    after: u32,
}

/// A node behind a placeholder, and which values lead to it.
#[derive(Clone, Copy, Debug)]
struct Choice {
    guard: u32,
    node: u32,
}

/// A node to look at: where its last segment starts and ends, counted in segments.
#[derive(Clone, Copy)]
struct Visit {
    choice: Choice,
    from: usize,
    to: usize,
}

impl Span {
    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl Trie {
    /// The place of the first pattern that matches.
    pub(super) fn find(&self, pathname: &Pathname<'_>, locales: &Locales) -> Option<usize> {
        if pathname.never_matches() {
            return None;
        }
        let count = pathname.count();
        let mut search = Search { trie: self, pathname, next: None, waiting: SmallVec::new() };
        search.offer(Choice { guard: 0, node: 0 }, 0, 0);
        let mut best = NO_PLACE;
        while let Some(visit) = search.next.take().or_else(|| search.waiting.pop()) {
            let node = &self.nodes[visit.choice.node as usize];
            if node.best >= best || !search.is_taken(&visit, locales) {
                continue;
            }
            if visit.to == count {
                best = best.min(node.leaf);
            } else {
                search.offer_edges(visit.choice.node, node, visit.to);
            }
        }
        (best != NO_PLACE).then_some(best as usize)
    }

    /// The most steps that any pathname can cost, one for each node and each look-up.
    pub(super) fn cost(&self) -> u32 {
        self.cost
    }
}

struct Search<'s> {
    trie: &'s Trie,
    pathname: &'s Pathname<'s>,
    /// What was offered last, and is looked at first.
    next: Option<Visit>,
    waiting: SmallVec<[Visit; USUAL_WAITING]>,
}

impl Search<'_> {
    fn is_taken(&self, visit: &Visit, locales: &Locales) -> bool {
        let guard = visit.choice.guard;
        guard == 0
            || self.trie.guards[guard as usize].takes(self.pathname, visit.from, visit.to, locales)
    }

    fn offer(&mut self, choice: Choice, from: usize, to: usize) {
        if let Some(before) = self.next.replace(Visit { choice, from, to }) {
            self.waiting.push(before);
        }
    }

    /// From the least specific to the most.
    fn offer_edges(&mut self, id: u32, node: &Node, at: usize) {
        let rare = self.trie.rare.get(node.rare as usize);
        if let Some(rare) = rare {
            self.offer_all(rare.catch_alls, at, self.pathname.count());
        }
        if node.catch_all.node != NO_NODE {
            self.offer(node.catch_all, at, self.pathname.count());
        }
        if let Some(rare) = rare {
            self.offer_all(rare.plains, at, at + 1);
        }
        if node.plain.node != NO_NODE {
            self.offer(node.plain, at, at + 1);
        }
        if let Some(rare) = rare {
            self.offer_mixed(id, rare.mixed, at);
        }
        if node.has_static {
            let texts = [self.pathname.bytes(at), b""];
            if let Some(node) = self.trie.edges.get(Owner::Static(id), texts) {
                self.offer(Choice { guard: 0, node }, at, at + 1);
            }
        }
    }

    fn offer_mixed(&mut self, id: u32, mixed: Span, at: usize) {
        let text = self.pathname.bytes(at);
        for Shape { before, after } in self.trie.shapes[mixed.range()].iter().rev() {
            let [before, after] = [*before as usize, *after as usize];
            // Between the two there has to be a value.
            if before + after < text.len() {
                let texts = [&text[..before], &text[text.len() - after..]];
                if let Some(group) = self.trie.edges.get(Owner::Mixed(id), texts) {
                    self.offer_all(self.trie.groups[group as usize], at, at + 1);
                }
            }
        }
    }

    fn offer_all(&mut self, choices: Span, from: usize, to: usize) {
        for choice in self.trie.choices[choices.range()].iter().rev() {
            self.offer(*choice, from, to);
        }
    }
}
