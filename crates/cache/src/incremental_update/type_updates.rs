//! What the two update loops of a content type share.

mod recent_reads;

use tokio::sync::Mutex;

use recent_reads::RecentReads;

use crate::invalidation::InvalidationQueue;

/// The queues of the two update loops of a content type.
#[derive(Default)]
pub(super) struct TypeUpdates {
    pub(super) named: InvalidationQueue,
    pub(super) dependents: InvalidationQueue,
    /// When dependents were read.
    pub(super) recent_reads: RecentReads,
    /// Locked during a round of named documents.
    pub(super) named_round: Mutex<()>,
}
