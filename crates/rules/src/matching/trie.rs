//! All patterns of a site in one trie, which finds the first one that matches a pathname (D8).
//!
//! The rank of a pattern is its position in the order of evaluation. The first segments of a
//! pattern do not determine its rank: of `/a{x}/{y}` and `/{x}b/c` the second comes first. So each
//! node knows the smallest rank below it. The search goes depth first, the most specific edge
//! first, and skips each node that cannot beat the best rank so far. It visits a node at most once,
//! and only nodes that the segments so far lead to. The largest number of steps for any pathname is
//! known when the trie is built ([`Trie::cost`]), so settings that would be slow are refused at
//! start.
//!
//! Static text, and the text around a placeholder, are edges in one hash table. Clients choose the
//! look-ups, but only the settings choose the keys: no look-up reads more slots than the longest
//! run in the table.

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
use crate::locale::Locales;
use crate::pathname::Pathname;

/// The nodes that the search can keep for later without an allocation.
const INLINE_STACK: usize = 8;
/// No pattern: after all others.
const NO_RANK: u32 = u32::MAX;

/// No node, and no entry of [`Trie::rare`].
const NO_NODE: u32 = u32::MAX;
const NO_CHILD: GuardedChild = GuardedChild { guard: 0, node: NO_NODE };

/// The compiled patterns of a site.
#[derive(Clone, Debug)]
pub(super) struct Trie {
    nodes: Box<[Node]>,
    rare: Box<[Rare]>,
    edges: Edges,
    /// The lengths of the text around the placeholders, for each node with such edges.
    affixes: Box<[AffixLengths]>,
    /// For each edge with text around a placeholder, the range of its children.
    groups: Box<[Span]>,
    children: Box<[GuardedChild]>,
    /// The first one accepts every value.
    guards: Box<[Guard]>,
    cost: u32,
}

#[derive(Clone, Debug)]
struct Node {
    /// The smallest rank of a pattern that ends here or below.
    best: u32,
    /// The rank of the pattern that ends here.
    leaf: u32,
    /// The first child behind a placeholder alone, and behind a catch-all.
    plain: GuardedChild,
    catch_all: GuardedChild,
    rare: u32,
    /// The lengths of the texts of its edges with static text.
    lengths: Lengths,
}

/// A bit for each length of a text, modulo 32. It rules out most segments that no edge has.
#[derive(Clone, Copy, Debug, Default)]
struct Lengths(u32);

impl Lengths {
    fn add(&mut self, text: &str) {
        self.0 |= Self::of(text.as_bytes());
    }

    fn may_contain(self, text: &[u8]) -> bool {
        self.0 & Self::of(text) != 0
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn of(text: &[u8]) -> u32 {
        1 << (text.len() % 32)
    }
}

/// The edges that few nodes have.
#[derive(Clone, Debug)]
struct Rare {
    mixed: Span,
    /// The children after the first ones.
    plains: Span,
    catch_alls: Span,
}

/// A range of one of the lists, in the order of the smallest rank.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u32,
    end: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct AffixLengths {
    before: u32,
    after: u32,
}

/// A node behind a placeholder, and the guard that its value has to pass.
#[derive(Clone, Copy, Debug)]
struct GuardedChild {
    guard: u32,
    node: u32,
}

/// A node to visit, and the segments of the pathname that its last edge covers.
#[derive(Clone, Copy)]
struct Visit {
    child: GuardedChild,
    from: u32,
    to: u32,
}

const NO_VISIT: Visit = Visit { child: NO_CHILD, from: 0, to: 0 };

impl Span {
    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl Trie {
    /// The rank of the first pattern that matches.
    pub(super) fn find(&self, pathname: &Pathname<'_>, locales: &Locales) -> Option<usize> {
        if pathname.is_unmatchable() {
            return None;
        }
        let mut search = Search { trie: self, pathname, stack: SmallVec::new() };
        let count = search.count();
        let mut best = NO_RANK;
        let mut visit = Visit { child: GuardedChild { guard: 0, node: 0 }, from: 0, to: 0 };
        while visit.is_some() {
            let node = &self.nodes[visit.child.node as usize];
            let mut next = NO_VISIT;
            if node.best < best && search.passes(visit, locales) {
                if visit.to == count {
                    best = best.min(node.leaf);
                } else {
                    next = search.follow(visit.child.node, node, visit.to);
                }
            }
            visit = if next.is_some() { next } else { search.pop() };
        }
        (best != NO_RANK).then_some(best as usize)
    }

    /// The most steps that any pathname can take, one for each node and each look-up.
    pub(super) fn cost(&self) -> u32 {
        self.cost
    }
}

struct Search<'s> {
    trie: &'s Trie,
    pathname: &'s Pathname<'s>,
    /// The nodes to visit later, the most specific last.
    stack: SmallVec<[Visit; INLINE_STACK]>,
}

impl Visit {
    fn is_some(self) -> bool {
        self.child.node != NO_NODE
    }
}

impl Search<'_> {
    /// The number of segments of the pathname: at most about 1,000 (D3).
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a pathname has about 1,000 segments at most"
    )]
    fn count(&self) -> u32 {
        self.pathname.count() as u32
    }

    fn passes(&self, visit: Visit, locales: &Locales) -> bool {
        let Visit { child, from, to } = visit;
        let guard = &self.trie.guards[child.guard as usize];
        child.guard == 0 || guard.accepts(self.pathname, from as usize, to as usize, locales)
    }

    fn pop(&mut self) -> Visit {
        self.stack.pop().unwrap_or(NO_VISIT)
    }

    /// The child behind the most specific edge of a node; the others go onto the stack.
    #[inline]
    fn follow(&mut self, id: u32, node: &Node, at: u32) -> Visit {
        if let Some(rare) = self.trie.rare.get(node.rare as usize) {
            return self.follow_any(id, node, rare, at);
        }
        let mut next = Visit { child: node.catch_all, from: at, to: self.count() };
        if node.plain.node != NO_NODE {
            self.push(next);
            next = Visit { child: node.plain, from: at, to: at + 1 };
        }
        let text = self.behind_text(id, node, at);
        if text.is_some() {
            self.push(next);
            next = text;
        }
        next
    }

    /// [`Self::follow`] for a node that may have edges of all kinds.
    fn follow_any(&mut self, id: u32, node: &Node, rare: &Rare, at: u32) -> Visit {
        let count = self.count();
        self.push_all(rare.catch_alls, at, count);
        self.push(Visit { child: node.catch_all, from: at, to: count });
        self.push_all(rare.plains, at, at + 1);
        self.push(Visit { child: node.plain, from: at, to: at + 1 });
        self.push_mixed(id, rare.mixed, at);
        self.push(self.behind_text(id, node, at));
        self.pop()
    }

    #[inline]
    fn behind_text(&self, id: u32, node: &Node, at: u32) -> Visit {
        let text = self.pathname.bytes(at as usize);
        if !node.lengths.may_contain(text) {
            return NO_VISIT;
        }
        let node = self.trie.edges.get(Owner::Static(id), [text, b""]).unwrap_or(NO_NODE);
        Visit { child: GuardedChild { guard: 0, node }, from: at, to: at + 1 }
    }

    fn push_mixed(&mut self, id: u32, mixed: Span, at: u32) {
        let text = self.pathname.bytes(at as usize);
        for AffixLengths { before, after } in self.trie.affixes[mixed.range()].iter().rev() {
            let [before, after] = [*before as usize, *after as usize];
            // The value between the two must not be empty.
            if before + after < text.len() {
                let texts = [&text[..before], &text[text.len() - after..]];
                if let Some(group) = self.trie.edges.get(Owner::Mixed(id), texts) {
                    self.push_all(self.trie.groups[group as usize], at, at + 1);
                }
            }
        }
    }

    fn push_all(&mut self, children: Span, from: u32, to: u32) {
        for child in self.trie.children[children.range()].iter().rev() {
            self.push(Visit { child: *child, from, to });
        }
    }

    #[inline]
    fn push(&mut self, visit: Visit) {
        if visit.is_some() {
            self.stack.push(visit);
        }
    }
}
