//! A histogram of durations without a lock, for the request path.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The upper bounds of the buckets in microseconds: from half the duration of the fastest route
/// under load to the longest default deadline.
const BOUNDS: [u64; 19] = [
    50,
    100,
    250,
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    30_000_000,
    120_000_000,
];

/// The last bucket has no bound.
const BUCKETS: usize = BOUNDS.len() + 1;

/// A histogram of durations.
#[derive(Debug, Default)]
pub(super) struct LatencyHistogram {
    buckets: [AtomicU64; BUCKETS],
    nanoseconds: AtomicU64,
}

/// The values of one or more histograms at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LatencySnapshot {
    buckets: [u64; BUCKETS],
    nanoseconds: u64,
}

impl LatencyHistogram {
    /// Counts one duration.
    pub(super) fn observe(&self, taken: Duration) {
        let nanoseconds = u64::try_from(taken.as_nanos()).unwrap_or(u64::MAX);
        // A linear search, because most durations belong to the first bucket.
        let bucket = BOUNDS.iter().position(|bound| nanoseconds <= bound * 1_000);
        self.buckets[bucket.unwrap_or(BOUNDS.len())].fetch_add(1, Relaxed);
        self.nanoseconds.fetch_add(nanoseconds, Relaxed);
    }

    /// Adds its values to a snapshot.
    pub(super) fn add_to(&self, snapshot: &mut LatencySnapshot) {
        for (sum, bucket) in snapshot.buckets.iter_mut().zip(&self.buckets) {
            *sum += bucket.load(Relaxed);
        }
        // Wraps after 584 years.
        snapshot.nanoseconds = snapshot.nanoseconds.wrapping_add(self.nanoseconds.load(Relaxed));
    }
}

impl LatencySnapshot {
    /// The sum of all durations, in seconds.
    pub(super) fn seconds(&self) -> f64 {
        Duration::from_nanos(self.nanoseconds).as_secs_f64()
    }

    /// The number of durations.
    pub(super) fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The upper bound of each bucket in seconds, and the number of durations in this bucket alone.
    pub(super) fn buckets(&self) -> Vec<(f64, u64)> {
        let bounds = BOUNDS.into_iter().map(|bound| Duration::from_micros(bound).as_secs_f64());
        bounds.chain([f64::INFINITY]).zip(self.buckets).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_counts_in_the_first_bucket_whose_bound_it_does_not_exceed() {
        let histogram = LatencyHistogram::default();
        for micros in [0, 50, 51, 120_000_000, 120_000_001] {
            histogram.observe(Duration::from_micros(micros));
        }
        let mut snapshot = LatencySnapshot::default();
        histogram.add_to(&mut snapshot);
        let buckets = snapshot.buckets();
        assert_eq!(buckets[..2], [(0.000_05, 2), (0.0001, 1)]);
        assert_eq!(buckets[BUCKETS - 2..], [(120.0, 1), (f64::INFINITY, 1)]);
        assert_eq!(snapshot.count(), 5);
        assert!((snapshot.seconds() - 240.000_102).abs() < 1e-9);
    }
}
