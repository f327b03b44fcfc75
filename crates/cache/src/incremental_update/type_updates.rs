//! What the update loops of a content type share.

use std::time::Instant;

use super::unread::UnreadDependents;
use crate::invalidation::{InvalidationQueue, PendingInvalidation};

/// The queues of the update loops of a content type.
#[derive(Default)]
pub(super) struct TypeUpdates {
    pub(super) named: InvalidationQueue,
    pub(super) dependents: InvalidationQueue,
    /// Of documents whose dependents may be more than a page.
    pub(super) long_reads: InvalidationQueue,
    pub(super) unread: UnreadDependents,
}

impl TypeUpdates {
    /// Queues a read of all dependents, and with `with_unrelated` of the versions without a related
    /// document.
    pub(super) fn read_long(&self, pending: PendingInvalidation, with_unrelated: bool) {
        self.unread.begin_long_read(&pending, Instant::now());
        self.long_reads.add(pending.for_long_read_queue(true, with_unrelated));
    }
}
