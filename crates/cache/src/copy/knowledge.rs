//! What is known of the public URLs of a content type now (D33).

use std::time::Duration;

use super::CachedCopy;

/// What is known of the public URLs of a content type of a site.
#[derive(Clone, Debug)]
pub enum Knowledge {
    /// Nothing: no walk has succeeded yet.
    Unknown,
    /// A copy that is up to date.
    Fresh(KnownCopy),
    /// A copy that is too old to decide between rules, because refreshes fail; it is still served.
    Stale(KnownCopy),
    /// A copy that is older than `snapshots.hard_seconds` and is not served any more.
    Expired(KnownCopy),
}

/// A copy, and how old it is.
#[derive(Clone, Debug)]
pub struct KnownCopy {
    /// The copy.
    pub copy: CachedCopy,
    /// The time since its walk began; zero for content that cannot change.
    pub age: Duration,
    /// Whether the CMS fails: the last refresh has failed, or the circuit breaker is open.
    pub is_failing: bool,
}

impl Knowledge {
    /// The copy that a response may be built from: a fresh or a stale one.
    #[must_use]
    pub fn usable(&self) -> Option<&KnownCopy> {
        match self {
            Self::Fresh(known) | Self::Stale(known) => Some(known),
            Self::Unknown | Self::Expired(_) => None,
        }
    }
}
