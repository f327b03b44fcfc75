//! What the background tasks that start refreshes share; it survives a reload.

mod cms_share;
mod named_documents;

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::invalidation::{Invalidation, Invalidations, RelationTargets};
pub(super) use cms_share::{BackgroundWalk, BackgroundWalks};
use named_documents::NamedDocuments;

/// Invalidations, the wake-up call of the refresher, and what decides when it may start walks.
#[derive(Default)]
pub struct RefreshTriggers {
    /// Invalidations for which no refresh has started yet.
    pub(super) invalidations: Invalidations,
    /// When walks in the background took place.
    pub(super) background_walks: Arc<BackgroundWalks>,
    /// Where relations lead.
    pub(super) targets: Mutex<RelationTargets>,
    /// Which documents webhook events have named.
    pub(super) named: NamedDocuments,
    wake: Notify,
    events: Mutex<Events>,
}

/// When the last webhook events arrived.
#[derive(Default)]
struct Events {
    any: Option<Instant>,
    withdrawal: Option<Instant>,
}

impl RefreshTriggers {
    /// Signals that a refresh has ended or could not start, or that another cache is in use.
    pub(super) fn wake_refresher(&self) {
        self.wake.notify_one();
    }

    pub(super) async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Records that a webhook event has been accepted, whatever it says (D35).
    pub fn record_event(&self) {
        self.events.lock().any = Some(Instant::now());
    }

    /// Records that a webhook event has named a document; `None`: it may mean any document.
    pub fn record_named(&self, named: Option<&Invalidation>) {
        self.named.record(named, Instant::now());
    }

    /// Records that a document was unpublished or deleted in the CMS: a list may lose entries.
    pub fn record_withdrawal(&self) {
        self.events.lock().withdrawal = Some(Instant::now());
    }

    /// The time since the last webhook event.
    pub(super) fn since_event(&self) -> Option<Duration> {
        self.events.lock().any.map(|at| at.elapsed())
    }

    /// Whether an event has said since then that a document was unpublished or deleted.
    pub(super) fn has_withdrawal_since(&self, time: Instant) -> bool {
        self.events.lock().withdrawal.is_some_and(|at| at >= time)
    }
}
