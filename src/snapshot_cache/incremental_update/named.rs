//! Updates the documents of a content type that hints name.

use std::collections::BTreeSet;

use super::failure::{recover, walk};
use super::lacking;
use super::patching::Reading;
use super::plan::relations;
use super::reading::{MAX_NAMED, max_versions, read_by_id};
use crate::rules::FieldValue;
use crate::snapshot::Patch;
use crate::snapshot_cache::SnapshotCache;
use crate::snapshot_cache::invalidation::{Batch, Hint, HintQueue};
use crate::snapshot_cache::refresh::TypeGroup;

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
    let reading = Reading::begin(group);
    let (patches, result) = read_by_id(cache, group, &ids).await;
    forget_empty_relations(cache, group, &patches);
    let Err(reason) = reading.apply(&patches).await.and(result) else { return };
    let is_read =
        |hint: &Hint| patches.iter().any(|patch| patch.id == hint.invalidation.document_id);
    hints.retain(|hint| !is_read(hint));
    recover(cache, group, queue, reason, hints);
}

/// A relation through which one of these documents reads another leads somewhere: what was found out
/// while it was empty no longer counts.
fn forget_empty_relations(cache: &SnapshotCache, group: &TypeGroup, patches: &[Patch]) {
    for relation in relations(group) {
        let id = relation.document_id();
        let mut versions = patches.iter().flat_map(|patch| &patch.versions);
        if versions.any(|version| is_filled(version.field(&id))) {
            cache.triggers.targets.lock().leads_somewhere(&group.query.uid, &relation);
        }
    }
}

fn is_filled(id: &FieldValue<'_>) -> bool {
    match id {
        FieldValue::Text(_) => true,
        FieldValue::List(ids) => ids.iter().any(is_filled),
        FieldValue::Missing
        | FieldValue::Absent(_)
        | FieldValue::Boolean(_)
        | FieldValue::NotText => false,
    }
}
