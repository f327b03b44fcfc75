//! Counters with one label.

use std::fmt;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

use super::Label;

/// A counter for each value of a label. All of them are written from the start: a rate needs the
/// zero before the first event.
#[derive(Debug)]
pub struct CounterFamily<L: Label>(Family<L, Counter>);

impl<L: Label> Default for CounterFamily<L> {
    fn default() -> Self {
        let family = Family::default();
        for value in L::ALL {
            drop(family.get_or_create(value));
        }
        Self(family)
    }
}

impl<L: Label> CounterFamily<L> {
    /// Counts one.
    pub fn inc(&self, value: L) {
        self.inc_by(value, 1);
    }

    /// Counts `more`.
    pub fn inc_by(&self, value: L, more: u64) {
        self.0.get_or_create(&value).inc_by(more);
    }

    /// The sum over all values of the label.
    #[must_use]
    pub fn total(&self) -> u64 {
        L::ALL.iter().map(|value| self.0.get_or_create(value).get()).sum()
    }
}

impl<L: Label> EncodeMetric for CounterFamily<L> {
    fn encode(&self, encoder: MetricEncoder<'_>) -> fmt::Result {
        self.0.encode(encoder)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Counter
    }
}
