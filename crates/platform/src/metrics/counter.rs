//! Counters, alone and with one label.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{Encoder, Label};

/// Counts events from the start of the process.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

/// A counter for each value of a label. All of them are written from the start: a rate needs the
/// zero before the first event.
#[derive(Debug)]
pub struct CounterFamily<L: Label>(Box<[Counter]>, std::marker::PhantomData<L>);

/// What [`Encoder::metric`] writes.
pub trait Metric {
    /// Writes the family.
    ///
    /// # Errors
    /// The errors of the encoder.
    fn write(&self, name: &str, help: &str, encoder: &mut Encoder<'_>) -> fmt::Result;
}

impl Counter {
    /// Counts one.
    pub fn inc(&self) {
        self.inc_by(1);
    }

    /// Counts `more`.
    pub fn inc_by(&self, more: u64) {
        self.0.fetch_add(more, Relaxed);
    }

    /// The number of events.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl<L: Label> Default for CounterFamily<L> {
    fn default() -> Self {
        let counters = L::ALL.iter().map(|_| Counter::default()).collect();
        Self(counters, std::marker::PhantomData)
    }
}

impl<L: Label> CounterFamily<L> {
    /// Counts one.
    pub fn inc(&self, value: L) {
        self.inc_by(value, 1);
    }

    /// Counts `more`.
    pub fn inc_by(&self, value: L, more: u64) {
        self.0[value.index()].inc_by(more);
    }

    /// The sum over all values of the label.
    pub fn total(&self) -> u64 {
        self.0.iter().map(Counter::get).sum()
    }
}

impl Metric for Counter {
    fn write(&self, name: &str, help: &str, encoder: &mut Encoder<'_>) -> fmt::Result {
        encoder.counter(name, help, [([], self.get())])
    }
}

impl<L: Label> Metric for CounterFamily<L> {
    fn write(&self, name: &str, help: &str, encoder: &mut Encoder<'_>) -> fmt::Result {
        let samples = L::ALL.iter().zip(&self.0);
        let samples = samples.map(|(value, own)| ([(L::NAME, value.as_str())], own.get()));
        encoder.counter(name, help, samples)
    }
}
