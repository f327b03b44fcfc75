//! Builds the trie from the patterns.

use rustc_hash::{FxHashMap, FxHashSet};

use super::cost::cost;
use super::edges::{Edges, Owner};
use super::guard::{Guard, Key};
use super::{
    AffixLengths, GuardedChild, Lengths, NO_CHILD, NO_NODE, NO_RANK, Node, Rare, Span, Trie,
};
use crate::matching::pattern::Pattern;
use crate::template::Segment;

#[derive(Default)]
struct Builder<'p> {
    drafts: Vec<Draft>,
    edges: Edges,
    groups: Vec<Vec<GuardedChild>>,
    /// The child of a group behind a guard.
    by_guard: FxHashMap<(u32, u32), u32>,
    guards: Vec<Guard>,
    guard_ids: FxHashMap<Key<'p>, u32>,
}

/// A node of the trie that is being built.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) best: u32,
    pub(super) leaf: u32,
    /// The parent node and the edge from it; meaningless for the root.
    pub(super) parent: u32,
    pub(super) link: Link,
    pub(super) lengths: Lengths,
    /// The edges with text around a placeholder: its lengths, and the group of the children.
    pub(super) mixed: Vec<(AffixLengths, u32)>,
    pub(super) plain: Option<u32>,
    pub(super) catch_all: Option<u32>,
}

/// The edge that leads to a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Link {
    /// Static text.
    Static,
    /// A placeholder alone or a catch-all, with a guard.
    Whole { guard: u32 },
    /// A placeholder with text around it, with a guard.
    Mixed { group: u32, guard: u32 },
}

impl Trie {
    /// Compiles the patterns, which are in the order of evaluation.
    pub(crate) fn new(patterns: &[Pattern]) -> Self {
        let mut builder = Builder { guards: vec![Guard::default()], ..Builder::default() };
        builder.node(NO_RANK, 0, Link::Static);
        for (rank, pattern) in patterns.iter().enumerate() {
            builder.add(number(rank), pattern);
        }
        builder.finish()
    }
}

impl<'p> Builder<'p> {
    /// Patterns are added by rank, so the first one to reach a node has the smallest rank below it,
    /// and one that ends where another has ended can never be the first to match.
    fn add(&mut self, rank: u32, pattern: &'p Pattern) {
        let mut node = 0;
        self.drafts[0].best = self.drafts[0].best.min(rank);
        for (at, segment) in pattern.segments.iter().enumerate() {
            node = match segment {
                Segment::Static(text) => self.static_child(node, text, rank),
                _ => self.placeholder_child(node, pattern, at, rank),
            };
        }
        let leaf = &mut self.drafts[node as usize].leaf;
        *leaf = rank.min(*leaf);
    }

    fn static_child(&mut self, node: u32, text: &str, rank: u32) -> u32 {
        let texts = [text.as_bytes(), b""];
        self.edges.get(Owner::Static(node), texts).unwrap_or_else(|| {
            let child = self.node(rank, node, Link::Static);
            self.edges.insert(Owner::Static(node), texts, child);
            self.drafts[node as usize].lengths.add(text);
            child
        })
    }

    fn placeholder_child(&mut self, node: u32, pattern: &'p Pattern, at: usize, rank: u32) -> u32 {
        let segment = &pattern.segments[at];
        let guard = self.guard(pattern, at);
        let fresh = number(self.groups.len());
        let draft = &mut self.drafts[node as usize];
        let (group, link) = match segment {
            Segment::CatchAll(_) => (*draft.catch_all.get_or_insert(fresh), Link::Whole { guard }),
            Segment::Placeholder { prefix, suffix, .. } if prefix.len() + suffix.len() > 0 => {
                let group = self.mixed_group(node, [prefix.as_bytes(), suffix.as_bytes()], fresh);
                (group, Link::Mixed { group, guard })
            }
            _ => (*draft.plain.get_or_insert(fresh), Link::Whole { guard }),
        };
        if group == fresh {
            self.groups.push(Vec::new());
        }
        if let Some(child) = self.by_guard.get(&(group, guard)) {
            return *child;
        }
        let child = self.node(rank, node, link);
        self.groups[group as usize].push(GuardedChild { guard, node: child });
        self.by_guard.insert((group, guard), child);
        child
    }

    /// The group of children behind the text around a placeholder.
    fn mixed_group(&mut self, node: u32, texts: [&[u8]; 2], fresh: u32) -> u32 {
        self.edges.get(Owner::Mixed(node), texts).unwrap_or_else(|| {
            self.edges.insert(Owner::Mixed(node), texts, fresh);
            let [before, after] = texts.map(|text| number(text.len()));
            self.drafts[node as usize].mixed.push((AffixLengths { before, after }, fresh));
            fresh
        })
    }

    fn guard(&mut self, pattern: &'p Pattern, at: usize) -> u32 {
        let Some(key) = Key::of(pattern, at) else {
            return 0;
        };
        let guards = &mut self.guards;
        if let Some(id) = self.guard_ids.get(&key) {
            return *id;
        }
        let id = number(guards.len());
        guards.push(Guard::new(&key));
        self.guard_ids.insert(key, id);
        id
    }

    fn node(&mut self, best: u32, parent: u32, link: Link) -> u32 {
        let id = number(self.drafts.len());
        self.drafts.push(Draft {
            best,
            leaf: NO_RANK,
            parent,
            link,
            lengths: Lengths::default(),
            mixed: Vec::new(),
            plain: None,
            catch_all: None,
        });
        id
    }

    fn finish(mut self) -> Trie {
        let cost = cost(&self.drafts, &self.guards, self.groups.len());
        let mut children = Vec::with_capacity(self.by_guard.len());
        let spread = |group: &Vec<GuardedChild>| list(&mut children, group.iter().copied());
        let groups: Box<[Span]> = self.groups.iter().map(spread).collect();
        let (mut affixes, mut rare) = (Vec::new(), Vec::new());
        let of = |group: Option<u32>| match group.map(|id| groups[id as usize]) {
            Some(Span { start, end }) => (children[start as usize], Span { start: start + 1, end }),
            None => (NO_CHILD, Span::default()),
        };
        let finish = |draft: &Draft| {
            let mut seen = FxHashSet::default();
            let own = draft.mixed.iter().map(|(shape, _)| *shape);
            let own: Vec<AffixLengths> = own.filter(|shape| seen.insert(*shape)).collect();
            let ((plain, plains), (catch_all, catch_alls)) = (of(draft.plain), of(draft.catch_all));
            let mixed = list(&mut affixes, own);
            let none = [mixed, plains, catch_alls].iter().all(|span| span.range().is_empty());
            let id = if none { None } else { Some(number(rare.len())) };
            rare.extend(id.map(|_| Rare { mixed, plains, catch_alls }));
            Node {
                best: draft.best,
                leaf: draft.leaf,
                plain,
                catch_all,
                rare: id.unwrap_or(NO_NODE),
                lengths: draft.lengths,
            }
        };
        let nodes = self.drafts.iter().map(finish).collect();
        self.edges.shrink();
        let (edges, guards) = (self.edges, self.guards.into());
        let (affixes, rare, children) = (affixes.into(), rare.into(), children.into());
        Trie { nodes, rare, edges, affixes, groups, children, guards, cost }
    }
}

/// Adds entries to a list and returns their range.
fn list<T>(all: &mut Vec<T>, entries: impl IntoIterator<Item = T>) -> Span {
    let start = number(all.len());
    all.extend(entries);
    Span { start, end: number(all.len()) }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).expect("settings have fewer than 4 billion rules")
}
