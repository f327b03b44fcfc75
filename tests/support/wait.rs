//! Waits for a condition in another process by polling, never for a fixed time.

use std::time::{Duration, Instant};

/// Generous, because the machine that runs the tests may be busy. Nothing waits this long unless it
/// has failed.
const PATIENCE: Duration = Duration::from_mins(1);

/// Looks until there is something.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Looks until it is so.
#[track_caller]
pub(crate) fn until_so(what: &str, mut is: impl FnMut() -> bool) {
    until(what, || is().then_some(()));
}
