//! Updates the documents of a content type that invalidations name.

use std::collections::BTreeSet;

use super::failure::{recover, walk};
use super::lacking;
use super::patching::Reading;
use super::reading::{MAX_READ_BY_ID, max_versions, read_by_id};
use crate::SnapshotCache;
use crate::invalidation::{InvalidationQueue, PendingInvalidation};
use crate::refresh::TypeGroup;

/// One round.
pub(super) async fn run_round(
    cache: &SnapshotCache,
    group: &TypeGroup,
    queue: &InvalidationQueue,
    invalidations: Vec<PendingInvalidation>,
) {
    let mut invalidations = lacking(group, invalidations);
    if invalidations.is_empty() {
        return;
    }
    if invalidations.len() > MAX_READ_BY_ID.min(max_versions(group)) {
        return walk(cache, group);
    }
    let ids: BTreeSet<&str> =
        invalidations.iter().map(|pending| &*pending.invalidation.document_id).collect();
    let reading = Reading::begin(cache, group);
    let (patches, result) = read_by_id(cache, group, &ids).await;
    let Err(reason) = reading.apply(&patches).await.and(result) else { return };
    let is_read = |pending: &PendingInvalidation| {
        patches.iter().any(|patch| patch.id == pending.invalidation.document_id)
    };
    invalidations.retain(|pending| !is_read(pending));
    recover(cache, group, queue, reason, invalidations);
}
