//! What a snapshot cache is built from: age limits, deadlines, and what survives a reload.

use std::sync::Arc;
use std::time::Duration;

use crate::triggers::RefreshTriggers;
use frontend_map_catalog::moved::history::PathHistory;
use frontend_map_fleet::Fleet;
use frontend_map_platform::metrics::Metrics;
use frontend_map_store::Store;

/// What the caches of a process share, before and after a reload.
pub struct ProcessState<'p> {
    /// All counters.
    pub metrics: &'p Metrics,
    /// Invalidations, and the wake-up call of the refresher.
    pub triggers: Arc<RefreshTriggers>,
    /// What survives the process.
    pub store: &'p Arc<Store>,
    /// Which document had which path before.
    pub history: &'p Arc<PathHistory>,
    /// The instances that share lists with this one.
    pub fleet: &'p Arc<Fleet>,
}

/// Age limits of snapshots, and deadlines of requests.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The age limits of snapshots.
    pub freshness: Freshness,
    /// How long a request waits for a refresh.
    pub refresh_deadline: Duration,
    /// Whether the CMS is to send webhooks.
    pub expects_events: bool,
}

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
