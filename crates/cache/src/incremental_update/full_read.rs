//! Reads all dependents of documents that have more than a page of them, one locale after another.
//!
//! A document may have thousands of dependents, and the update of most changes takes three requests.
//! So a new change interrupts a read, which later goes on with the locales that are left.

mod unrelated;

use std::collections::{BTreeSet, VecDeque};
use std::slice;
use std::time::Instant;

use futures::FutureExt;
use unrelated::update_unrelated;

use super::failure::recover;
use super::lists::update_lists;
use super::plan::{self, may_be_read};
use super::type_updates::TypeUpdates;
use super::unlisted::{unlisted, update_by_id};
use super::{Listed, NotUpdated, lacking};
use crate::SnapshotCache;
use crate::invalidation::PendingInvalidation;
use crate::refresh::TypeGroup;
use frontend_map_rules::{DocumentLocale, Locale};

/// How a read of all dependents has ended.
#[derive(PartialEq, Eq)]
enum End {
    Complete,
    /// Another document has changed.
    Interrupted,
}

/// Reads the dependents of the documents of these invalidations, until a new change is to be
/// updated. Then the invalidations return into their queue.
pub(super) async fn run_full_reads(
    cache: &SnapshotCache,
    group: &TypeGroup,
    updates: &TypeUpdates,
    invalidations: Vec<PendingInvalidation>,
) {
    let queue = &updates.dependents;
    let mut invalidations = VecDeque::from(lacking(group, invalidations));
    // While a list is read, the circuit breaker may open.
    let _waiting = cache.triggers.wait_for_cms();
    while let Some(mut pending) = invalidations.pop_front() {
        plan::prepare(cache, group, slice::from_ref(&pending)).await;
        match read_dependents(cache, group, updates, &mut pending).await {
            Ok(End::Complete) => updates.recent_reads.record([&pending], Instant::now()),
            Ok(End::Interrupted) => {
                queue.put_back(pending);
                invalidations.drain(..).for_each(|pending| queue.put_back(pending));
            }
            Err(reason) => recover(cache, group, queue, reason, [pending]),
        }
    }
    queue.look_again();
}

/// Reads the dependents of one document; its invalidation keeps the locales that are left.
async fn read_dependents(
    cache: &SnapshotCache,
    group: &TypeGroup,
    updates: &TypeUpdates,
    pending: &mut PendingInvalidation,
) -> Result<End, NotUpdated> {
    let has_new = || updates.dependents.has_new(|new| may_be_read(cache, group, new));
    let mut left = VecDeque::from(pending.locales.clone());
    left.retain(|locale| group.locales.contains(locale));
    if left.is_empty() {
        left.extend(group.locales.iter().cloned());
    }
    while let Some(locale) = left.front() {
        if has_new().now_or_never().is_some() && pending.is_interruptible(Instant::now()) {
            return Ok(End::Interrupted);
        }
        let read = read_locale(cache, group, updates, pending, locale);
        let is_localized = if pending.is_interruptible(Instant::now()) {
            tokio::select! {
                biased;
                () = has_new() => return Ok(End::Interrupted),
                read = read => read?,
            }
        } else {
            read.await?
        };
        left.pop_front();
        if !is_localized {
            break;
        }
        pending.locales = left.iter().cloned().collect();
        if !left.is_empty() && has_new().now_or_never().is_some() {
            return Ok(End::Interrupted);
        }
    }
    Ok(End::Complete)
}

/// Reads the dependents of one document in a locale. Returns whether the type is localized, as far as
/// the responses show it.
async fn read_locale(
    cache: &SnapshotCache,
    group: &TypeGroup,
    updates: &TypeUpdates,
    pending: &PendingInvalidation,
    locale: &Locale,
) -> Result<bool, NotUpdated> {
    let mut lists = plan::lists(group, slice::from_ref(pending), &cache.triggers.targets.lock());
    for list in &mut lists {
        (list.locales, list.is_full) = (vec![locale.clone()], true);
    }
    let mut listed = Listed::default();
    if let Some((_, reason)) = update_lists(cache, group, &lists, &mut listed).await.pop() {
        return Err(reason);
    }
    if pending.may_have_unread_dependents {
        update_unrelated(cache, group, pending, locale, &mut listed).await?;
    }
    // Documents that were read before the change was known are in the snapshots from here on.
    drop(updates.named_round.lock().await);
    let ids = unlisted(group, pending, &listed, Some(locale));
    let ids: BTreeSet<&str> = ids.iter().map(|id| &**id).collect();
    update_by_id(cache, group, &ids).await.1?;
    Ok(!listed.values().flatten().any(|own| *own == DocumentLocale::None))
}
