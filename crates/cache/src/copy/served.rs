//! A copy as one request gets it.

use std::time::Duration;

use super::CachedCopy;

/// A copy as served to one request.
#[derive(Clone, Debug)]
pub struct Served {
    /// The copy.
    pub copy: CachedCopy,
    /// For `Cache-Status`.
    pub status: CacheStatus,
    /// For `Age`.
    pub age: Duration,
}

/// Whether the cache had the copy (RFC 9211).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheStatus {
    /// The cache had the copy.
    Hit {
        /// How long the copy is fresh, in seconds; negative after that.
        ttl: i64,
        /// Whether the last refresh failed.
        failing: bool,
    },
    /// The copy was built for this request.
    Miss {
        /// Whether the refresh was already in flight for an earlier request.
        collapsed: bool,
    },
}
