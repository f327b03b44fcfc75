//! The search budget: bounds the work of one search.

use std::cell::Cell;

/// The comparisons of nodes, texts and states that a search may make, each about 0.1 µs.
const COMPARISONS: usize = 1_000_000;
/// The comparisons for each pattern, so that an ordinary set of any size is compared completely.
const COMPARISONS_PER_PATTERN: usize = 50;

/// The number of comparisons that a search may still make.
pub(super) struct Budget {
    left: Cell<usize>,
    /// Whether something was left out that no budget allows.
    exceeded: Cell<bool>,
}

impl Budget {
    pub(super) fn new(patterns: usize) -> Self {
        let left = COMPARISONS + COMPARISONS_PER_PATTERN * patterns;
        Self { left: Cell::new(left), exceeded: Cell::new(false) }
    }

    pub(super) fn spend(&self, comparisons: usize) {
        self.left.set(self.left.get().saturating_sub(comparisons));
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// Records that something was left out that no budget allows.
    pub(super) fn exceed(&self) {
        self.exceeded.set(true);
    }

    /// Whether the search left something out.
    pub(super) fn is_exceeded(&self) -> bool {
        self.exceeded.get() || self.is_spent()
    }
}
