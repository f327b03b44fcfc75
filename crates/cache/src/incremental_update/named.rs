//! Updates the documents of a content type that hints name.

use std::collections::BTreeSet;

use super::failure::{recover, walk};
use super::lacking;
use super::patching::Reading;
use super::reading::{MAX_NAMED, max_versions, read_by_id};
use crate::SnapshotCache;
use crate::invalidation::{Batch, Hint, HintQueue};
use crate::refresh::TypeGroup;

/// One round, for the hints that are in the queue. `TypeUpdates::named_round` must be locked.
pub(super) async fn update_pending(cache: &SnapshotCache, group: &TypeGroup, queue: &HintQueue) {
    let Batch { hints, is_overflow } = queue.take();
    if is_overflow {
        walk(cache, group);
    }
    update(cache, group, queue, hints).await;
}

async fn update(cache: &SnapshotCache, group: &TypeGroup, queue: &HintQueue, hints: Vec<Hint>) {
    let mut hints = lacking(group, hints);
    if hints.is_empty() {
        return;
    }
    if hints.len() > MAX_NAMED.min(max_versions(group)) {
        return walk(cache, group);
    }
    let ids: BTreeSet<&str> = hints.iter().map(|hint| &*hint.invalidation.document_id).collect();
    let reading = Reading::begin(cache, group);
    let (patches, result) = read_by_id(cache, group, &ids).await;
    let Err(reason) = reading.apply(&patches).await.and(result) else { return };
    let is_read =
        |hint: &Hint| patches.iter().any(|patch| patch.id == hint.invalidation.document_id);
    hints.retain(|hint| !is_read(hint));
    recover(cache, group, queue, reason, hints);
}
