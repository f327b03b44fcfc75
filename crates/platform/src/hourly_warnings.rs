//! Limits warnings that requests cause: a line for each request would be a way to fill the log.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The time between two warnings about one cause.
const PERIOD: Duration = Duration::from_hours(1);

/// When the last warning about each cause was due. Causes are few: they have no text of a request.
#[derive(Debug)]
pub struct HourlyWarnings<Cause>(Mutex<HashMap<Cause, Instant>>);

impl<Cause> Default for HourlyWarnings<Cause> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<Cause: Eq + Hash> HourlyWarnings<Cause> {
    /// Whether a warning is due: one for each cause and hour.
    pub fn is_due(&self, cause: Cause, now: Instant) -> bool {
        let mut warned = self.0.lock();
        warned.retain(|_, last| now.duration_since(*last) < PERIOD);
        let is_due = !warned.contains_key(&cause);
        if is_due {
            warned.insert(cause, now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warning_is_due_once_for_each_cause_and_hour() {
        let (warnings, start) = (HourlyWarnings::default(), Instant::now());
        let due = |cause, seconds| warnings.is_due(cause, start + Duration::from_secs(seconds));
        assert!(due("401", 0));
        assert!(!due("401", 3_599));
        assert!(due("403", 3_599));
        assert!(due("401", 3_600));
        assert!(!due("401", 3_601));
        assert_eq!(warnings.0.lock().len(), 2);
    }
}
