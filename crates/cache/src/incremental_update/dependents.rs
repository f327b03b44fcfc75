//! Updates the documents of a content type that read changed documents through a relation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use super::TypeUpdates;
use super::failure::recover;
use super::patching::Reading;
use super::plan::{Reads, RelationList, Scope, referring};
use super::reading::{all_versions, list_dependents, max_versions, read_by_id};
use super::{Listed, NotUpdated, lacking, plan};
use crate::SnapshotCache;
use crate::invalidation::{Invalidation, InvalidationQueue, PendingInvalidation};
use crate::refresh::TypeGroup;
use frontend_map_catalog::snapshot::Patch;
use frontend_map_rules::{Document, Locale};

/// One round: reads the dependents of documents that have up to a page of them. For the others, the
/// round of long reads follows: their paths stand until they have been read, because a version may
/// have changed itself, and the webhook about that be lost (D60).
pub(super) async fn run_round(
    cache: &SnapshotCache,
    group: &TypeGroup,
    updates: &TypeUpdates,
    invalidations: Vec<PendingInvalidation>,
) {
    let mut invalidations = lacking(group, invalidations);
    if invalidations.is_empty() {
        return;
    }
    plan::keep_invalidations(group, &invalidations);
    // The walk that follows reads the changes before the last one as well.
    let last = invalidations.iter().max_by_key(|pending| pending.at);
    if let Some(at) = plan::learn_targets(cache, group, &invalidations).await
        && let Some(last) = last
    {
        updates.dependents.postpone(last.clone(), at);
    }
    updates.unread.mark(&mut invalidations);
    let short = queue_long_reads(cache, group, updates, invalidations);
    let scope = Scope { locales: &group.locales, is_full: false };
    let read = update(cache, group, updates, short, scope, &mut Listed::default()).await;
    updates.unread.end_read(&read, Instant::now());
}

/// Queues the long reads for the invalidations that need one, or walks the type where that is faster.
/// Returns those whose dependents are read at once.
fn queue_long_reads(
    cache: &SnapshotCache,
    group: &TypeGroup,
    updates: &TypeUpdates,
    invalidations: Vec<PendingInvalidation>,
) -> Vec<PendingInvalidation> {
    let (page, mut short) = (cache.content.page_size(), Vec::with_capacity(invalidations.len()));
    for pending in invalidations {
        let known = referring(group, &pending.invalidation.document_id);
        let known = known.values().map(BTreeSet::len).sum();
        let is_chain = plan::is_chain(group, &pending, &cache.triggers.targets.lock());
        match plan::reads(&pending, known, page, is_chain) {
            Reads::Walk => {
                if known <= page {
                    short.push(pending.clone());
                }
                recover(cache, group, &updates.dependents, NotUpdated::NeedsWalk, [pending]);
            }
            Reads::Short { with_unrelated } => {
                if with_unrelated {
                    updates.long_reads.add(pending.clone().for_long_read_queue(false, true));
                }
                short.push(pending);
            }
            Reads::Long { with_unrelated } => updates.read_long(pending, with_unrelated),
        }
    }
    short
}

/// Updates the dependents that lists have, and then those that the snapshots know and no list has.
/// Returns the invalidations that have not failed; a list that fails does not affect others.
pub(super) async fn update(
    cache: &SnapshotCache,
    group: &TypeGroup,
    updates: &TypeUpdates,
    invalidations: Vec<PendingInvalidation>,
    scope: Scope<'_>,
    listed: &mut Listed,
) -> Vec<PendingInvalidation> {
    let lists = plan::lists(group, &invalidations, &cache.triggers.targets.lock(), scope);
    let queue = if scope.is_full { &updates.long_reads } else { &updates.dependents };
    let mut failed: Vec<Arc<Invalidation>> = Vec::new();
    for (own, reason) in update_lists(cache, group, &lists, listed).await {
        let new = own.iter().filter(|one| !has(&failed, one)).map(|one| (*one).clone());
        let new: Vec<PendingInvalidation> = new.collect();
        failed.extend(new.iter().map(|pending| Arc::clone(&pending.invalidation)));
        if let NotUpdated::TooMany = reason {
            for pending in new {
                let with_unrelated = pending.may_have_unread_dependents;
                updates.read_long(pending, with_unrelated);
            }
        } else {
            recover(cache, group, queue, reason, new);
        }
    }
    let is_done = |pending: &PendingInvalidation| !has(&failed, pending);
    let done: Vec<PendingInvalidation> =
        invalidations.iter().filter(|one| is_done(one)).cloned().collect();
    update_unlisted(cache, group, queue, &done, scope.locales, listed).await;
    done
}

fn has(all: &[Arc<Invalidation>], pending: &PendingInvalidation) -> bool {
    all.iter().any(|one| Arc::ptr_eq(one, &pending.invalidation))
}

/// Updates the documents of these lists, each put into the snapshots as soon as it is read. Returns
/// the invalidations of each list that has failed, with the reason.
async fn update_lists<'l, 'h>(
    cache: &SnapshotCache,
    group: &TypeGroup,
    lists: &'l [RelationList<'h>],
    listed: &mut Listed,
) -> Vec<(&'l [&'h PendingInvalidation], NotUpdated)> {
    let mut empty: Vec<&RelationList<'_>> = Vec::new();
    let mut failed = Vec::new();
    for list in lists {
        // Without children there are no grandchildren.
        if empty.iter().any(|shorter| is_level_above(group, shorter, list)) {
            empty.push(list);
            continue;
        }
        match update_listed(cache, group, list, listed).await {
            Ok(true) => {}
            Ok(false) => empty.push(list),
            Err(reason) => failed.push((&*list.invalidations, reason)),
        }
    }
    failed
}

/// Updates the dependents of one list. Returns whether there are any.
async fn update_listed(
    cache: &SnapshotCache,
    group: &TypeGroup,
    list: &RelationList<'_>,
    listed: &mut Listed,
) -> Result<bool, NotUpdated> {
    let reading = Reading::begin(cache, group);
    let versions = list_dependents(cache, group, list).await?;
    let patches = patches(versions, listed);
    reading.apply(&patches).await?;
    Ok(!patches.is_empty())
}

/// The patches for the versions of a list, which are added to `listed`.
pub(super) fn patches(versions: Vec<Document<'static>>, listed: &mut Listed) -> Vec<Patch> {
    let mut by_id: BTreeMap<String, Vec<Document<'static>>> = BTreeMap::new();
    for version in versions {
        let own = by_id.entry(version.id.clone().into_owned()).or_default();
        own.retain(|other| other.locale != version.locale);
        own.push(version);
    }
    for (id, versions) in &by_id {
        let locales = versions.iter().map(|version| version.locale.clone());
        listed.entry(id.clone()).or_default().extend(locales);
    }
    let patch = |(id, versions)| Patch { id, versions, is_partial: true };
    by_id.into_iter().map(patch).collect()
}

/// Whether `above` lists the level of a page tree above that of `list`, for the same documents.
fn is_level_above(group: &TypeGroup, above: &RelationList<'_>, list: &RelationList<'_>) -> bool {
    let (short, long) = (above.relation.segments(), list.relation.segments());
    above.target == list.target
        && list.target == group.query.uid.as_str()
        && long.len() == short.len() + 1
        && long.iter().all(|name| *name == short[0])
        && short.iter().all(|name| *name == short[0])
        && list
            .invalidations
            .iter()
            .all(|own| above.invalidations.iter().any(|pending| std::ptr::eq(*own, *pending)))
}

/// The documents with unlisted versions in one of these locales: versions that read the changed document
/// as the snapshots know them, and that are in no list, because they have lost the relation.
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

/// Updates the documents with unlisted versions, for several invalidations.
async fn update_unlisted(
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
