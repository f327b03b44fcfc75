//! How long the pages of a walk may fail.

use std::time::Duration;

use parking_lot::Mutex;

/// How long the pages of a walk may fail, all of them together.
const LIMIT: Duration = Duration::from_mins(1);

/// The sum of the times for which pages of a walk had failed when they were read at last.
#[derive(Debug, Default)]
pub(super) struct Failures(Mutex<Duration>);

impl Failures {
    /// Whether a page that has failed for this long may be requested again.
    pub(super) fn may_retry(&self, failing: Duration) -> bool {
        *self.0.lock() + failing < LIMIT
    }

    /// Records that a page was read which had failed for this long.
    pub(super) fn add(&self, failing: Duration) {
        *self.0.lock() += failing;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_walk_fail_for_a_minute_together() {
        let failures = Failures::default();
        let seconds = Duration::from_secs;
        assert!(failures.may_retry(seconds(59)) && !failures.may_retry(seconds(60)));
        failures.add(seconds(40));
        assert!(failures.may_retry(seconds(19)) && !failures.may_retry(seconds(20)));
        failures.add(seconds(0));
        failures.add(seconds(20));
        assert!(!failures.may_retry(seconds(0)));
    }
}
