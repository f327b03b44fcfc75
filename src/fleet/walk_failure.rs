//! A walk of a leader that has failed: requests that wait for it on other instances end, too.

use serde::{Deserialize, Serialize};

/// Why a walk has failed, as far as responses say it.
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

/// The event about a failure.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FailureEvent {
    /// The name of the lease.
    pub(super) lease: String,
    pub(super) failure: WalkFailure,
}
