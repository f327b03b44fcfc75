//! What a snapshot cache is built from: age limits, deadlines, and what survives a reload.

use std::sync::Arc;
use std::time::Duration;

use crate::entry::Freshness;
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
