//! How long things take, as a histogram without a lock.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The upper bounds of the buckets, in microseconds: from half of what the fastest route takes under
/// load to the longest that a caller waits by default.
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

/// One more than bounds: what is beyond the last.
const BUCKETS: usize = BOUNDS.len() + 1;

/// Durations, counted by bucket.
#[derive(Debug, Default)]
pub struct Latency {
    buckets: [AtomicU64; BUCKETS],
    nanoseconds: AtomicU64,
}

/// The same at a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    buckets: [u64; BUCKETS],
    nanoseconds: u64,
}

impl Latency {
    /// Counts one.
    pub fn observe(&self, taken: Duration) {
        let nanoseconds = u64::try_from(taken.as_nanos()).unwrap_or(u64::MAX);
        // Most are in the first.
        let bucket = BOUNDS.iter().position(|bound| nanoseconds <= bound * 1_000);
        self.buckets[bucket.unwrap_or(BOUNDS.len())].fetch_add(1, Relaxed);
        self.nanoseconds.fetch_add(nanoseconds, Relaxed);
    }

    /// Adds what was counted so far.
    pub(super) fn add_to(&self, histogram: &mut Histogram) {
        for (sum, bucket) in histogram.buckets.iter_mut().zip(&self.buckets) {
            *sum += bucket.load(Relaxed);
        }
        // Years of waiting: 584 of them.
        histogram.nanoseconds = histogram.nanoseconds.wrapping_add(self.nanoseconds.load(Relaxed));
    }

    /// What was counted so far.
    #[must_use]
    pub fn histogram(&self) -> Histogram {
        let mut histogram = Histogram::default();
        self.add_to(&mut histogram);
        histogram
    }
}

impl Histogram {
    /// All durations together, in seconds.
    pub(super) fn seconds(&self) -> f64 {
        Duration::from_nanos(self.nanoseconds).as_secs_f64()
    }

    /// How many there were.
    pub(super) fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The upper bound of each bucket in seconds, and how many are in it alone.
    pub(super) fn buckets(&self) -> Vec<(f64, u64)> {
        let bounds = BOUNDS.iter().map(|bound| Duration::from_micros(*bound).as_secs_f64());
        bounds.chain([f64::INFINITY]).zip(self.buckets).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_in_the_bucket_whose_bound_it_does_not_exceed() {
        let latency = Latency::default();
        for micros in [0, 50, 51, 120_000_000, 120_000_001] {
            latency.observe(Duration::from_micros(micros));
        }
        let histogram = latency.histogram();
        let buckets = histogram.buckets();
        assert_eq!(buckets[..2], [(0.000_05, 2), (0.0001, 1)]);
        assert_eq!(buckets[BUCKETS - 2..], [(120.0, 1), (f64::INFINITY, 1)]);
        assert_eq!(histogram.count(), 5);
        assert!((histogram.seconds() - 240.000_102).abs() < 1e-9);
    }
}
