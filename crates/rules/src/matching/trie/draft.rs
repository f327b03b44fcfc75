//! Nodes of the trie while it is built.

use super::{AffixLengths, Lengths};

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
