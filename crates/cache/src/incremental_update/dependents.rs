//! Updates the documents of a content type that read changed documents through a relation.

use std::collections::BTreeSet;
use std::time::Instant;

use super::failure::recover;
use super::full_read::run_full_reads;
use super::lists::update_lists;
use super::plan::{self, may_be_read, referring};
use super::reading::max_versions;
use super::type_updates::TypeUpdates;
use super::unlisted::update_unlisted;
use super::{Listed, NotUpdated, lacking};
use crate::SnapshotCache;
use crate::invalidation::{Change, InvalidationQueue, PendingInvalidation, Task};
use crate::refresh::TypeGroup;

/// One round. The updates of new changes come first, and then the reads of all dependents of single
/// documents.
pub(super) async fn run_round(
    cache: &SnapshotCache,
    group: &TypeGroup,
    updates: &TypeUpdates,
    invalidations: Vec<PendingInvalidation>,
) {
    let (invalidations, reads): (Vec<PendingInvalidation>, Vec<PendingInvalidation>) =
        invalidations.into_iter().partition(|pending| pending.task == Task::Update);
    if !invalidations.is_empty() {
        update(cache, group, updates, invalidations).await;
    }
    if !reads.is_empty() {
        run_full_reads(cache, group, updates, reads).await;
    }
}

/// Lists of the dependents, and then the dependents that the snapshots know and no list has. All
/// dependents of a document with more than a page of them are read locale by locale instead: their
/// paths stand until they have been read, because a version may have changed itself, and the
/// webhook about that may be lost.
///
/// A list that fails does not affect the invalidations of others.
async fn update(
    cache: &SnapshotCache,
    group: &TypeGroup,
    updates: &TypeUpdates,
    invalidations: Vec<PendingInvalidation>,
) {
    let mut invalidations = lacking(group, invalidations);
    updates.recent_reads.mark_unread_losses(&mut invalidations);
    if invalidations.is_empty() {
        return;
    }
    // While a list is read, the circuit breaker may open.
    let _waiting = cache.triggers.wait_for_cms();
    plan::prepare(cache, group, &invalidations).await;
    let queue = &updates.dependents;
    let invalidations = queue_full_reads(cache, group, queue, invalidations);
    let lists = plan::lists(group, &invalidations, &cache.triggers.targets.lock());
    let mut open: BTreeSet<usize> = (0..invalidations.len()).collect();
    let mut listed = Listed::default();
    for (own, reason) in update_lists(cache, group, &lists, &mut listed).await {
        let is_own =
            |at: &usize| own.iter().any(|own| std::ptr::eq(*own, &raw const invalidations[*at]));
        let retried: Vec<usize> = open.extract_if(.., is_own).collect();
        let retried = retried.into_iter().map(|at| invalidations[at].clone());
        recover(cache, group, queue, reason, retried);
    }
    let done: Vec<&PendingInvalidation> = open.into_iter().map(|at| &invalidations[at]).collect();
    let done: Vec<&PendingInvalidation> =
        done.into_iter().filter(|pending| may_be_read(cache, group, pending)).collect();
    if !done.is_empty() {
        // Documents that were read before these changes were known are in the snapshots from here
        // on.
        drop(updates.named_round.lock().await);
        update_unlisted(cache, group, updates, &done, &listed).await;
    }
    updates.recent_reads.record(&invalidations, Instant::now());
}

/// Queues full reads for the invalidations that need one, or walks the type where that is faster.
/// Returns the other invalidations.
fn queue_full_reads(
    cache: &SnapshotCache,
    group: &TypeGroup,
    queue: &InvalidationQueue,
    invalidations: Vec<PendingInvalidation>,
) -> Vec<PendingInvalidation> {
    let (page, max) = (cache.content.page_size(), max_versions(group));
    let is_chain = group.relations().iter().any(|relation| relation.segments().len() > 1);
    let mut left = Vec::with_capacity(invalidations.len());
    for mut pending in invalidations {
        let known = referring(group, &pending.invalidation.document_id);
        let known: usize = known.values().map(BTreeSet::len).sum();
        let is_withdrawn = pending.invalidation.change == Change::Withdrawn;
        if is_withdrawn && is_chain && known > page.max(max) {
            recover(cache, group, queue, NotUpdated::NeedsWalk, [pending]);
        } else if known > page || pending.may_have_unread_dependents {
            // A withdrawal has taken the relation from all of them.
            pending.may_have_unread_dependents |= is_withdrawn && !is_chain;
            queue.enqueue_full_read(pending.clone());
            if known <= page {
                left.push(pending);
            }
        } else {
            left.push(pending);
        }
    }
    left
}
