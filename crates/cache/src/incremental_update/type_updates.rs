//! What the two update loops of a content type share.

mod recent_reads;

use tokio::sync::Mutex;

use recent_reads::RecentReads;

use crate::invalidation::HintQueue;

/// The queues of the two update loops of a content type.
#[derive(Default)]
pub(super) struct TypeUpdates {
    pub(super) named: HintQueue,
    pub(super) dependents: HintQueue,
    /// When dependents were read.
    pub(super) recent_reads: RecentReads,
    /// Locked during a round of named documents.
    pub(super) named_round: Mutex<()>,
}
