//! Numbers that only grow.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::Closed;

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Counts one more.
    pub fn one(&self) {
        self.add(1);
    }

    /// Counts some more.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Relaxed);
    }

    /// How many there were.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// One number for each member of a closed set.
#[derive(Debug)]
pub struct Counts<L> {
    counts: Box<[Count]>,
    label: PhantomData<L>,
}

impl<L: Closed> Default for Counts<L> {
    fn default() -> Self {
        let counts = L::ALL.iter().map(|_| Count::default()).collect();
        Self { counts, label: PhantomData }
    }
}

impl<L: Closed> Counts<L> {
    /// The number of one of them.
    #[must_use]
    pub fn of(&self, label: L) -> &Count {
        &self.counts[label.place()]
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (L, u64)> {
        L::ALL.iter().map(|label| (*label, self.of(*label).get()))
    }
}
