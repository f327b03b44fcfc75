//! What the two update loops of a content type share.

use tokio::sync::Mutex;

use crate::snapshot_cache::invalidation::HintQueue;

/// The queues of the two update loops of a content type.
#[derive(Default)]
pub(super) struct TypeUpdates {
    pub(super) named: HintQueue,
    pub(super) dependents: HintQueue,
    /// Locked during a round of named documents.
    pub(super) named_round: Mutex<()>,
}
