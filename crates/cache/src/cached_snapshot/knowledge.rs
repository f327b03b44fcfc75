//! What is known of the public URLs of a content type now (D33).

use std::time::Duration;

use super::CachedSnapshot;

/// What is known of the public URLs of a content type of a site.
#[derive(Clone, Debug)]
pub enum Knowledge {
    /// Nothing: no walk has succeeded yet.
    Unknown,
    /// A snapshot that is up to date.
    Fresh(KnownSnapshot),
    /// A snapshot that is too old to decide between rules, because refreshes fail; it is still
    /// served.
    Stale(KnownSnapshot),
    /// A snapshot that is older than `snapshots.hard_seconds` and is not served any more.
    Expired(KnownSnapshot),
}

/// A snapshot, and how old it is.
#[derive(Clone, Debug)]
pub struct KnownSnapshot {
    /// The snapshot.
    pub cached: CachedSnapshot,
    /// The time since its walk began; zero for content that cannot change.
    pub age: Duration,
    /// Whether the CMS fails: the last refresh has failed, or the circuit breaker is open.
    pub is_failing: bool,
}

impl Knowledge {
    /// The snapshot that a response may be built from: a fresh or a stale one.
    #[must_use]
    pub fn usable(&self) -> Option<&KnownSnapshot> {
        match self {
            Self::Fresh(known) | Self::Stale(known) => Some(known),
            Self::Unknown | Self::Expired(_) => None,
        }
    }
}
