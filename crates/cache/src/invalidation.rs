//! Invalidations: documents that may have changed, and the queues in which they wait for updates.

mod pending;
mod queue;
mod relation_targets;

use tokio::sync::Notify;

use frontend_map_rules::ContentTypeUid;

pub(super) use frontend_map_fleet::cms_events::Invalidation;
pub(super) use pending::PendingInvalidation;
pub(super) use queue::{Batch, InvalidationQueue, debounced};
pub(super) use relation_targets::RelationTargets;

/// Invalidations that no update loop has yet.
#[derive(Default)]
pub(super) struct Invalidations {
    /// It overflows when anything may have changed.
    queue: InvalidationQueue,
    /// Signals that anything may have changed.
    pub(super) anything: Notify,
}

impl Invalidations {
    /// Adds one; `None`: any document may have changed.
    pub(super) fn add(&self, invalidation: Option<Invalidation>) {
        match invalidation {
            Some(invalidation) => self.queue.add(PendingInvalidation::new(invalidation, None)),
            None => self.queue.overflow(),
        }
    }

    /// Adds one of which only the snapshots of this content type lack the change.
    pub(super) fn add_for(&self, uid: &ContentTypeUid, invalidation: Invalidation) {
        self.queue.add(PendingInvalidation::new(invalidation, Some(uid.clone())));
    }

    /// Waits for the next ones, without debounce.
    pub(super) async fn next(&self) -> Batch {
        self.queue.added().await;
        self.queue.take()
    }
}
