//! Random variation of pauses, so that many retries or instances do not act in step.

use std::time::Duration;

/// A time that is up to this part of it shorter or longer.
pub(super) fn jittered(time: Duration, part: f64) -> Duration {
    time.mul_f64(1.0 + part * (2.0 * fastrand::f64() - 1.0))
}
