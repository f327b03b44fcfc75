//! How old snapshots may get, and what walks may take of the CMS to keep them fresh.

use std::time::Duration;

/// Longer than any process runs.
const FOR_EVER: Duration = Duration::from_hours(100 * 366 * 24);

/// How old a snapshot may get.
#[derive(Clone, Copy, Debug)]
pub struct Freshness {
    /// A request for an older snapshot gets it and starts a refresh.
    pub soft: Duration,
    /// An older snapshot is not served.
    pub hard: Duration,
    /// Takes the place of `soft` for an hour after a webhook event: refreshes only make up for lost
    /// events then.
    pub check: Duration,
    /// Whether all snapshots are built when the service starts.
    pub at_start: bool,
    /// How long after its start the service is at most not ready, for want of the documents that
    /// decide about paths.
    pub ready: Duration,
    /// The share of the time that walks in the background may take of the CMS, more than 0.
    pub cms_share: f64,
}

impl Freshness {
    /// For content that cannot change while the service runs.
    pub(crate) fn for_ever(self) -> Self {
        Self { soft: FOR_EVER, hard: FOR_EVER, check: FOR_EVER, ..self }
    }
}
