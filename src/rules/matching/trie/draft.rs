//! Nodes of the trie while it is built.

use super::{Lengths, Shape};

/// A node in the making.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) best: u32,
    pub(super) leaf: u32,
    /// The node that it is behind, and how; of no use to the root.
    pub(super) parent: u32,
    pub(super) link: Link,
    pub(super) lengths: Lengths,
    /// Which shapes its edges with text around a placeholder have, and where their choices are.
    pub(super) mixed: Vec<(Shape, u32)>,
    pub(super) plain: Option<u32>,
    pub(super) catch_all: Option<u32>,
}

/// How a node is reached.
#[derive(Clone, Copy, Debug)]
pub(super) enum Link {
    /// By static text.
    Static,
    /// By a placeholder alone, or a catch-all, past a guard.
    Whole { guard: u32 },
    /// By text around a placeholder, past a guard.
    Mixed { group: u32, guard: u32 },
}
