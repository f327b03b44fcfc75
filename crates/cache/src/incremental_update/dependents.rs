//! Updates the documents of a content type that read changed documents through a relation.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use super::failure::recover;
use super::lists::update_lists;
use super::plan::{self, Reads, Scope, referring};
use super::type_updates::TypeUpdates;
use super::unlisted::update_unlisted;
use super::{Listed, NotUpdated, lacking};
use crate::SnapshotCache;
use crate::invalidation::{Invalidation, PendingInvalidation};
use crate::refresh::TypeGroup;

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
