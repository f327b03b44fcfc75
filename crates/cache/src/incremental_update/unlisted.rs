//! Updates the versions that read a changed document as the snapshots know them, and that are in no
//! list: they have lost the relation.

use std::collections::BTreeSet;

use super::failure::recover;
use super::patching::Reading;
use super::plan::referring;
use super::reading::{all_versions, max_versions, read_by_id};
use super::{Listed, NotUpdated};
use crate::SnapshotCache;
use crate::invalidation::{InvalidationQueue, PendingInvalidation};
use crate::refresh::TypeGroup;
use frontend_map_rules::Locale;

/// The documents with such versions in one of these locales.
fn unlisted(
    group: &TypeGroup,
    pending: &PendingInvalidation,
    listed: &Listed,
    locales: &[Locale],
) -> Vec<String> {
    let id = pending.invalidation.document_id.as_str();
    let is_updated = |id: &String, locale: &String| {
        listed.get(id).is_some_and(|own| own.iter().any(|own| own.may_be_in(locale)))
    };
    let is_wanted = |own: &&String| locales.iter().any(|locale| locale.as_str() == *own);
    let mut known = referring(group, id);
    known.retain(|id, locales| {
        !locales.iter().filter(is_wanted).all(|locale| is_updated(id, locale))
    });
    known.into_keys().collect()
}

/// Updates these documents for several invalidations.
pub(super) async fn update_unlisted(
    cache: &SnapshotCache,
    group: &TypeGroup,
    queue: &InvalidationQueue,
    invalidations: &[PendingInvalidation],
    locales: &[Locale],
    listed: &Listed,
) {
    let of_invalidations =
        invalidations.iter().map(|pending| (pending, unlisted(group, pending, listed, locales)));
    let of_invalidations: Vec<(&PendingInvalidation, Vec<String>)> =
        of_invalidations.filter(|(_, ids)| !ids.is_empty()).collect();
    let ids: BTreeSet<&str> =
        of_invalidations.iter().flat_map(|(_, ids)| ids).map(|id| &**id).collect();
    let versions = |ids: usize| ids * group.locales.len();
    let most = of_invalidations.iter().map(|(_, ids)| versions(ids.len())).max().unwrap_or(0);
    if most > max_versions(group) || versions(ids.len()) > all_versions(group) {
        let invalidations = of_invalidations.iter().map(|(pending, _)| (*pending).clone());
        return recover(cache, group, queue, NotUpdated::NeedsWalk, invalidations);
    }
    let reading = Reading::begin(cache, group);
    let (patches, result) = read_by_id(cache, group, &ids).await;
    let result = reading.apply(&patches).await.and(result);
    let read: BTreeSet<&str> = patches.iter().map(|patch| &*patch.id).collect();
    let is_read = |ids: &Vec<String>| ids.iter().all(|id| read.contains(&**id));
    if let Err(reason) = result {
        let retried = of_invalidations.iter().filter(|(_, ids)| !is_read(ids));
        let retried = retried.map(|(pending, _)| (*pending).clone());
        recover(cache, group, queue, reason, retried);
    }
}
