//! From the patterns, in the order of evaluation, to the trie.

use rustc_hash::{FxHashMap, FxHashSet};

use super::cost::cost;
use super::draft::{Draft, Link};
use super::edges::{Edges, Owner};
use super::guard::{Guard, Key};
use super::{Choice, Lengths, NO_CHOICE, NO_NODE, NO_PLACE, Node, Rare, Shape, Span, Trie};
use crate::rules::matching::pattern::Pattern;
use crate::rules::template::Segment;

#[derive(Default)]
struct Builder<'p> {
    drafts: Vec<Draft>,
    edges: Edges,
    groups: Vec<Vec<Choice>>,
    /// The nodes behind the choices of a group, by guard.
    behind: FxHashMap<(u32, u32), u32>,
    guards: Vec<Guard>,
    guard_ids: FxHashMap<Key<'p>, u32>,
}

impl Trie {
    /// Takes the patterns in the order of evaluation.
    pub(in crate::rules) fn new(patterns: &[Pattern]) -> Self {
        let mut builder = Builder { guards: vec![Guard::default()], ..Builder::default() };
        builder.node(NO_PLACE, 0, Link::Static);
        for (place, pattern) in patterns.iter().enumerate() {
            builder.add(number(place), pattern);
        }
        builder.finish()
    }
}

impl<'p> Builder<'p> {
    /// MatchTable come in order, so the first pattern to reach a node is the best one below it, and
    /// one that ends where another did can never be the first to match.
    fn add(&mut self, place: u32, pattern: &'p Pattern) {
        let mut node = 0;
        self.drafts[0].best = self.drafts[0].best.min(place);
        for (at, segment) in pattern.segments.iter().enumerate() {
            node = match segment {
                Segment::Static(text) => self.behind_text(node, text, place),
                _ => self.behind_placeholder(node, pattern, at, place),
            };
        }
        let leaf = &mut self.drafts[node as usize].leaf;
        *leaf = place.min(*leaf);
    }

    fn behind_text(&mut self, node: u32, text: &str, place: u32) -> u32 {
        let texts = [text.as_bytes(), b""];
        self.edges.get(Owner::Static(node), texts).unwrap_or_else(|| {
            let child = self.node(place, node, Link::Static);
            self.edges.insert(Owner::Static(node), texts, child);
            self.drafts[node as usize].lengths.add(text);
            child
        })
    }

    fn behind_placeholder(
        &mut self,
        node: u32,
        pattern: &'p Pattern,
        at: usize,
        place: u32,
    ) -> u32 {
        let segment = &pattern.segments[at];
        let guard = self.guard(pattern, at);
        let fresh = number(self.groups.len());
        let draft = &mut self.drafts[node as usize];
        let (group, link) = match segment {
            Segment::CatchAll(_) => (*draft.catch_all.get_or_insert(fresh), Link::Whole { guard }),
            Segment::Placeholder { prefix, suffix, .. } if prefix.len() + suffix.len() > 0 => {
                let group = self.around(node, [prefix.as_bytes(), suffix.as_bytes()], fresh);
                (group, Link::Mixed { group, guard })
            }
            _ => (*draft.plain.get_or_insert(fresh), Link::Whole { guard }),
        };
        if group == fresh {
            self.groups.push(Vec::new());
        }
        if let Some(child) = self.behind.get(&(group, guard)) {
            return *child;
        }
        let child = self.node(place, node, link);
        self.groups[group as usize].push(Choice { guard, node: child });
        self.behind.insert((group, guard), child);
        child
    }

    /// The group of an edge with text around a placeholder.
    fn around(&mut self, node: u32, texts: [&[u8]; 2], fresh: u32) -> u32 {
        self.edges.get(Owner::Mixed(node), texts).unwrap_or_else(|| {
            self.edges.insert(Owner::Mixed(node), texts, fresh);
            let [before, after] = texts.map(|text| number(text.len()));
            self.drafts[node as usize].mixed.push((Shape { before, after }, fresh));
            fresh
        })
    }

    fn guard(&mut self, pattern: &'p Pattern, at: usize) -> u32 {
        let segment = &pattern.segments[at];
        let Some(key) = Key::of(pattern, at, segment) else {
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
            leaf: NO_PLACE,
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
        let mut choices = Vec::with_capacity(self.behind.len());
        let spread = |group: &Vec<Choice>| list(&mut choices, group.iter().copied());
        let groups: Box<[Span]> = self.groups.iter().map(spread).collect();
        let (mut shapes, mut rare) = (Vec::new(), Vec::new());
        let of = |group: Option<u32>| match group.map(|id| groups[id as usize]) {
            Some(Span { start, end }) => (choices[start as usize], Span { start: start + 1, end }),
            None => (NO_CHOICE, Span::default()),
        };
        let finish = |draft: &Draft| {
            let mut seen = FxHashSet::default();
            let own = draft.mixed.iter().map(|(shape, _)| *shape);
            let own: Vec<Shape> = own.filter(|shape| seen.insert(*shape)).collect();
            let ((plain, plains), (catch_all, catch_alls)) = (of(draft.plain), of(draft.catch_all));
            let mixed = list(&mut shapes, own);
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
        let (shapes, rare, choices) = (shapes.into(), rare.into(), choices.into());
        Trie { nodes, rare, edges, shapes, groups, choices, guards, cost }
    }
}

/// Adds entries to a list; where they are in it.
fn list<T>(all: &mut Vec<T>, entries: impl IntoIterator<Item = T>) -> Span {
    let start = number(all.len());
    all.extend(entries);
    Span { start, end: number(all.len()) }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).expect("the settings have fewer rules than that")
}
