//! Wakes the background tasks that start due refreshes; it survives a reload.

use tokio::sync::Notify;

use super::invalidation::Invalidations;

/// Invalidations and the wake-up call of the refresher.
#[derive(Default)]
pub struct RefreshTriggers {
    /// Invalidations for which no refresh has started yet.
    pub(super) invalidations: Invalidations,
    wake: Notify,
}

impl RefreshTriggers {
    /// Signals that a refresh has ended or could not start, or that another cache is in use.
    pub(super) fn wake_refresher(&self) {
        self.wake.notify_one();
    }

    pub(super) async fn woken(&self) {
        self.wake.notified().await;
    }
}
