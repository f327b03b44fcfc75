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
mod draft;
mod edges;
mod guard;
#[cfg(test)]
mod tests;

use std::ops::Range;

use smallvec::SmallVec;

use self::edges::{Edges, Owner};
use self::guard::Guard;
use crate::rules::locale::Locales;
use crate::rules::pathname::Pathname;

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
    /// Which lengths the texts of its edges with static text have.
    lengths: Lengths,
}

/// A bit for each length of a text, modulo 32: most segments that no edge has are told by it.
#[derive(Clone, Copy, Debug, Default)]
struct Lengths(u32);

impl Lengths {
    fn add(&mut self, text: &str) {
        self.0 |= Self::of(text.as_bytes());
    }

    fn may_be(self, text: &[u8]) -> bool {
        self.0 & Self::of(text) != 0
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn of(text: &[u8]) -> u32 {
        1 << (text.len() % 32)
    }
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
    from: u32,
    to: u32,
}

const NOWHERE: Visit = Visit { choice: NO_CHOICE, from: 0, to: 0 };

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
        let mut search = Search { trie: self, pathname, waiting: SmallVec::new() };
        let count = search.count();
        let mut best = NO_PLACE;
        let mut visit = Visit { choice: Choice { guard: 0, node: 0 }, from: 0, to: 0 };
        while visit.is_somewhere() {
            let node = &self.nodes[visit.choice.node as usize];
            let mut next = NOWHERE;
            if node.best < best && search.is_taken(visit, locales) {
                if visit.to == count {
                    best = best.min(node.leaf);
                } else {
                    next = search.follow(visit.choice.node, node, visit.to);
                }
            }
            visit = if next.is_somewhere() { next } else { search.next_waiting() };
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
    /// The least specific first.
    waiting: SmallVec<[Visit; USUAL_WAITING]>,
}

impl Visit {
    fn is_somewhere(self) -> bool {
        self.choice.node != NO_NODE
    }
}

impl Search<'_> {
    /// The segments of the pathname, of which there are a thousand at most.
    #[expect(clippy::cast_possible_truncation, reason = "a pathname has fewer")]
    fn count(&self) -> u32 {
        self.pathname.count() as u32
    }

    fn is_taken(&self, visit: Visit, locales: &Locales) -> bool {
        let Visit { choice, from, to } = visit;
        let guard = &self.trie.guards[choice.guard as usize];
        choice.guard == 0 || guard.takes(self.pathname, from as usize, to as usize, locales)
    }

    fn next_waiting(&mut self) -> Visit {
        self.waiting.pop().unwrap_or(NOWHERE)
    }

    /// The most specific edge of a node; the others wait.
    #[inline]
    fn follow(&mut self, id: u32, node: &Node, at: u32) -> Visit {
        if let Some(rare) = self.trie.rare.get(node.rare as usize) {
            return self.follow_any(id, node, rare, at);
        }
        let mut next = Visit { choice: node.catch_all, from: at, to: self.count() };
        if node.plain.node != NO_NODE {
            self.offer(next);
            next = Visit { choice: node.plain, from: at, to: at + 1 };
        }
        let text = self.behind_text(id, node, at);
        if text.is_somewhere() {
            self.offer(next);
            next = text;
        }
        next
    }

    /// The same for a node that may have edges of all kinds.
    fn follow_any(&mut self, id: u32, node: &Node, rare: &Rare, at: u32) -> Visit {
        let count = self.count();
        self.offer_all(rare.catch_alls, at, count);
        self.offer(Visit { choice: node.catch_all, from: at, to: count });
        self.offer_all(rare.plains, at, at + 1);
        self.offer(Visit { choice: node.plain, from: at, to: at + 1 });
        self.offer_mixed(id, rare.mixed, at);
        self.offer(self.behind_text(id, node, at));
        self.next_waiting()
    }

    #[inline]
    fn behind_text(&self, id: u32, node: &Node, at: u32) -> Visit {
        let text = self.pathname.bytes(at as usize);
        if !node.lengths.may_be(text) {
            return NOWHERE;
        }
        let node = self.trie.edges.get(Owner::Static(id), [text, b""]).unwrap_or(NO_NODE);
        Visit { choice: Choice { guard: 0, node }, from: at, to: at + 1 }
    }

    fn offer_mixed(&mut self, id: u32, mixed: Span, at: u32) {
        let text = self.pathname.bytes(at as usize);
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

    fn offer_all(&mut self, choices: Span, from: u32, to: u32) {
        for choice in self.trie.choices[choices.range()].iter().rev() {
            self.offer(Visit { choice: *choice, from, to });
        }
    }

    #[inline]
    fn offer(&mut self, visit: Visit) {
        if visit.is_somewhere() {
            self.waiting.push(visit);
        }
    }
}
