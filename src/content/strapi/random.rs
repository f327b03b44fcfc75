//! Chance, so that those who wait do not all come back together.

use std::time::Duration;

use tower::util::rng::{HasherRng, Rng};

/// A time that is up to this part of it shorter or longer.
pub(super) fn jittered(time: Duration, part: f64) -> Duration {
    // Each has keys of its own.
    let chance = HasherRng::new().next_f64();
    time.mul_f64(1.0 + part * (2.0 * chance - 1.0))
}
