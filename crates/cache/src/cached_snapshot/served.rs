//! A snapshot as one request gets it.

use std::time::Duration;

use super::CachedSnapshot;

/// A snapshot as served to one request.
#[derive(Clone, Debug)]
pub struct Served {
    /// The snapshot.
    pub cached: CachedSnapshot,
    /// For `Cache-Status`.
    pub status: CacheStatus,
    /// For `Age`.
    pub age: Duration,
}

/// Whether the cache had the snapshot (RFC 9211).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheStatus {
    /// The cache had the snapshot.
    Hit {
        /// How long the snapshot is fresh, in seconds; negative after that.
        ttl: i64,
        /// Whether the last refresh failed.
        failing: bool,
    },
    /// The snapshot was built for this request.
    Miss {
        /// Whether the refresh was already in flight for an earlier request.
        collapsed: bool,
    },
}
