//! Incremental updates: after an invalidation, the documents that may have changed are read again and
//! put into the cached copies of all sites.
//!
//! These are the named documents themselves, and those that read them through a relation: a list by
//! a filter on the relation finds the ones that do so now, and the copy knows those that did so
//! before. The latter are needed because Strapi drops relations without an event: in the published
//! versions when the related document is unpublished or deleted, and also when it is published after
//! a draft has moved away from it.

mod known_locales;
mod patching;
mod plan;
mod reading;

use std::sync::Arc;
use std::time::Instant;

use futures::future::join_all;

use super::SnapshotCache;
use super::invalidation::{Batch, Hint, Invalidation};
use super::refresh::TypeGroup;
use crate::content::ContentError;
use plan::Plan;

/// Why documents could not be updated.
enum NotUpdated {
    /// A walk is needed: it is faster, or nothing else can determine the result.
    NeedsWalk,
    /// The CMS does not answer such requests in a usable way: a walk within the share follows.
    /// Without the share each round would cause a walk.
    Unusable,
    /// The CMS did not respond; a later try may succeed.
    Failed(ContentError),
}

/// Updates the current cache after invalidations until it is dropped. Ten documents published at
/// once cause one round of requests. If anything may have changed, all types are walked.
///
/// Rounds follow each other: what one has read never replaces what a later one has.
///
/// A reload in between loses nothing: a site that the next cache shares is updated here, and the
/// first refresh of any other starts after the invalidation.
pub async fn apply_invalidations(current: impl Fn() -> Arc<SnapshotCache>) {
    let triggers = Arc::clone(&current().triggers);
    loop {
        let batch = triggers.invalidations.next_batch().await;
        let walks = batch.is_anything;
        if apply(&current(), batch).await && walks {
            // Possibly another cache by now.
            let cache = current();
            for (_, entry) in cache.entries().filter(|(_, entry)| entry.copy().is_some()) {
                entry.want_refresh();
            }
            cache.triggers.wake_refresher();
        }
    }
}

/// Updates the documents of a batch. Returns whether requests to the CMS are let through.
async fn apply(cache: &SnapshotCache, Batch { hints, is_anything }: Batch) -> bool {
    if !cache.content.may_change() {
        return false;
    }
    tracing::debug!("something may have changed in the CMS");
    if is_anything {
        cache.entries().for_each(|(_, entry)| entry.mark_outdated());
    }
    if cache.content.circuit_open().is_some() {
        // The refresher starts the walks when the CMS has recovered.
        cache.triggers.wake_refresher();
        if !cache.triggers.invalidations.wait_for_circuit(hints) {
            cache.entries().for_each(|(_, entry)| entry.mark_outdated());
        }
        probe(cache).await;
        return false;
    }
    join_all(cache.groups.values().map(|group| update(cache, group, &hints))).await;
    true
}

/// Sends a half-open probe if one is due.
async fn probe(cache: &SnapshotCache) {
    let state = cache.content.breaker_state();
    let due = state.and_then(|state| state.next_probe()).is_some_and(|at| at <= Instant::now());
    if let Some(group) = cache.groups.values().next().filter(|_| due) {
        cache.content.probe(&group.query).await;
    }
}

/// Updates the documents of one content type.
async fn update(cache: &SnapshotCache, group: &Arc<TypeGroup>, hints: &[Hint]) {
    let hints: Vec<&Hint> = hints.iter().filter(|hint| lacks(group, hint)).collect();
    if hints.is_empty() {
        return;
    }
    let uid = &group.query.uid;
    let since = Instant::now();
    let changed: Vec<&Invalidation> = hints.iter().map(|hint| &hint.invalidation).collect();
    group.members.iter().for_each(|(_, entry)| entry.keep_hints(since, &changed));
    learn_targets(cache, group).await;
    let plan = Plan::new(group, &hints, &mut cache.triggers.targets.lock());
    if plan.is_empty() {
        return;
    }
    let updated = match reading::read(cache, group, &plan).await {
        Ok(patches) => {
            tracing::debug!(%uid, documents = patches.len(), "documents were updated");
            patching::apply(group, since, &patches).await
        }
        Err(error) => Err(error),
    };
    match updated {
        Ok(()) => {}
        Err(NotUpdated::NeedsWalk) => walk(cache, group),
        Err(NotUpdated::Unusable) => {
            for (_, entry) in &group.members {
                entry.mark_outdated();
                if entry.copy().is_some() {
                    entry.want_refresh();
                }
            }
            cache.triggers.wake_refresher();
        }
        Err(NotUpdated::Failed(error)) => {
            let error = cache.content.detail(&error);
            tracing::debug!(%uid, error, "documents could not be updated");
            let invalidations = &cache.triggers.invalidations;
            let mut is_kept = true;
            for hint in hints {
                is_kept &= invalidations.try_again(hint.clone(), uid);
            }
            if !is_kept {
                walk(cache, group);
            }
        }
    }
}

/// Learns from the schema where the relations of a type lead, if the token may read it.
async fn learn_targets(cache: &SnapshotCache, group: &TypeGroup) {
    let (uid, targets) = (&group.query.uid, &cache.triggers.targets);
    for relation in plan::relations(group) {
        let is_known = targets.lock().is_known(uid, &relation);
        if is_known {
            continue;
        }
        if let Some(target) = cache.content.target(uid, &relation).await {
            targets.lock().leads(uid, &relation, target.as_str());
        }
    }
}

/// Whether a copy of the group's members may lack a change.
fn lacks(group: &TypeGroup, hint: &Hint) -> bool {
    let is_for_type = hint.only.as_ref().is_none_or(|only| *only == group.query.uid);
    let is_before = |begun: Instant| begun <= hint.at;
    is_for_type
        && group.members.iter().any(|(_, entry)| match entry.copy() {
            Some(copy) => is_before(copy.begun),
            None => entry.is_refreshing(),
        })
}

/// Walks the type at once, again if a walk is in flight.
fn walk(cache: &SnapshotCache, group: &TypeGroup) {
    for (_, entry) in &group.members {
        if entry.copy().is_some() || entry.is_refreshing() {
            entry.mark_urgent();
        }
    }
    for (_, entry) in group.members.iter().filter(|(_, entry)| entry.copy().is_some()) {
        cache.start_refresh(entry);
    }
}
