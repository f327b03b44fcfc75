//! What the store has written.

use super::Counter;

/// Counts the snapshots and the runs of URL checks that were to be stored.
#[derive(Debug, Default)]
pub struct StoreCounters {
    /// Snapshots that are in the file.
    pub written: Counter,
    /// Attempts that have failed.
    pub failed: Counter,
}
