//! Updates the documents of a content type that read changed documents through a relation.

use std::collections::BTreeSet;
use std::time::Instant;

use super::failure::recover;
use super::full_read::run_full_reads;
use super::lists::update_lists;
use super::plan::{self, may_be_read};
use super::type_updates::TypeUpdates;
use super::unlisted::update_unlisted;
use super::{Remaining, Updated, from_copies, lacking};
use crate::snapshot_cache::SnapshotCache;
use crate::snapshot_cache::invalidation::{Hint, HintQueue, Task};
use crate::snapshot_cache::refresh::TypeGroup;

/// One round. The updates of new changes come first, and then the reads of all dependents of single
/// documents.
pub(super) async fn run_round(
    cache: &SnapshotCache,
    group: &TypeGroup,
    updates: &TypeUpdates,
    hints: Vec<Hint>,
) {
    let (hints, reads): (Vec<Hint>, Vec<Hint>) =
        hints.into_iter().partition(|hint| hint.task == Task::Update);
    if !hints.is_empty() {
        update(cache, group, updates, hints).await;
    }
    if !reads.is_empty() {
        run_full_reads(cache, group, updates, reads).await;
    }
}

/// What the copies can be updated with, then the lists of the other dependents, and then the dependents
/// that the copies know and no list has. A read of all dependents follows where all of these may miss
/// versions.
///
/// A list that fails does not affect the hints of others.
async fn update(cache: &SnapshotCache, group: &TypeGroup, updates: &TypeUpdates, hints: Vec<Hint>) {
    let mut hints = lacking(group, hints);
    updates.recent_reads.mark_unread_losses(&mut hints);
    if hints.is_empty() {
        return;
    }
    // While a list is read, the circuit breaker may open.
    let _waiting = cache.triggers.wait_for_cms();
    plan::prepare(cache, group, &hints).await;
    let (mut progress, queue) = (Updated::default(), &updates.dependents);
    let left = from_copies::update(cache, group, updates, &hints, &mut progress).await;
    let page = cache.content.page_size();
    let lists = plan::lists(group, &hints, &left, &cache.triggers.targets.lock(), page);
    queue_full_reads(queue, &hints, &left);
    let is_listed = |left: &Remaining| matches!(left, Remaining::Lists | Remaining::OtherLists(_));
    let mut open: BTreeSet<usize> = (0..left.len()).filter(|at| is_listed(&left[*at])).collect();
    recover_failed(cache, group, queue, &hints, left);
    for (own, reason) in update_lists(cache, group, &lists, &mut progress).await {
        let is_listed = |hint: &Hint| own.iter().any(|own| std::ptr::eq(*own, hint));
        let is_own = |at: &usize| is_listed(&hints[*at]);
        let retried: Vec<usize> = open.extract_if(.., is_own).collect();
        let retried = retried.into_iter().map(|at| hints[at].clone());
        recover(cache, group, queue, reason, retried);
    }
    let done: Vec<&Hint> = open.into_iter().map(|at| &hints[at]).collect();
    let done: Vec<&Hint> =
        done.into_iter().filter(|hint| may_be_read(cache, group, hint)).collect();
    if !done.is_empty() {
        // Documents that were read before these changes were known are in the copies from here on.
        drop(updates.named_round.lock().await);
        update_unlisted(cache, group, updates, &done, &progress).await;
    }
    updates.recent_reads.record(&hints, Instant::now());
}

/// Queues full reads for the hints that need one.
fn queue_full_reads(queue: &HintQueue, hints: &[Hint], left: &[Remaining]) {
    for (hint, left) in hints.iter().zip(left) {
        let locales = match left {
            Remaining::FullRead(locales) => locales.clone(),
            Remaining::Lists if hint.may_have_unread_dependents => Vec::new(),
            Remaining::Lists | Remaining::OtherLists(_) | Remaining::Failed(_) => continue,
        };
        queue.enqueue_full_read(hint.clone(), locales);
    }
}

/// Recovers from the failures of hints whose updates have failed.
fn recover_failed(
    cache: &SnapshotCache,
    group: &TypeGroup,
    queue: &HintQueue,
    hints: &[Hint],
    left: Vec<Remaining>,
) {
    for (hint, left) in hints.iter().zip(left) {
        if let Remaining::Failed(reason) = left {
            recover(cache, group, queue, reason, [hint.clone()]);
        }
    }
}
