//! How much one search may look at.

use std::cell::Cell;

/// The most comparisons of segments, texts and nodes: about a fifth of a second.
const COMPARISONS: usize = 8_000_000;

/// The comparisons that a search has left.
pub(super) struct Budget {
    left: Cell<usize>,
    /// Whether something was not compared.
    exceeded: Cell<bool>,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { left: Cell::new(COMPARISONS), exceeded: Cell::new(false) }
    }

    pub(super) fn spend(&self, comparisons: usize) {
        self.left.set(self.left.get().saturating_sub(comparisons));
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// Notes that something takes more than any budget allows.
    pub(super) fn exceed(&self) {
        self.exceeded.set(true);
    }

    /// Whether something was not compared.
    pub(super) fn is_exceeded(&self) -> bool {
        self.exceeded.get() || self.is_spent()
    }
}
