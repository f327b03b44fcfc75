//! The failed walk of a leader, by which the requests to its followers that wait for it end, too.

use serde::{Deserialize, Serialize};

/// Why a walk has failed, in as much detail as responses have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WalkFailure {
    /// The CMS is not available.
    Unavailable {
        /// Its `Retry-After` in seconds, if it sent one.
        retry_after: Option<u64>,
    },
    /// The CMS did not respond in time.
    TimedOut,
    /// The response cannot be used.
    Unusable,
}

/// The body of the event about a failed walk, as JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FailureEvent {
    /// The name of the group.
    pub(super) group: String,
    pub(super) failure: WalkFailure,
}
