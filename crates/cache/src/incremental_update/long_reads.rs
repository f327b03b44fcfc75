//! Reads of all dependents of documents that have more than a page of them, one locale after another,
//! and of the versions that may be dependents without being known as such.
//!
//! They take seconds, and have a loop of their own beside that of the short reads, which take three
//! requests.

use std::slice;
use std::time::Instant;

use super::TypeUpdates;
use super::dependents::patches;
use super::failure::recover;
use super::patching::Reading;
use super::plan::{self, Scope};
use super::reading::select_in;
use super::{Listed, NotUpdated, dependents, lacking};
use crate::SnapshotCache;
use crate::invalidation::{InvalidationQueue, PendingInvalidation};
use crate::refresh::TypeGroup;
use frontend_map_cms::Selection;
use frontend_map_rules::DocumentLocale;

/// One round.
pub(super) async fn run_round(
    cache: &SnapshotCache,
    group: &TypeGroup,
    updates: &TypeUpdates,
    invalidations: Vec<PendingInvalidation>,
) {
    let mut left = lacking(group, invalidations);
    if left.is_empty() {
        return;
    }
    plan::keep_invalidations(group, &left);
    let all = Scope { locales: &group.locales, is_full: false };
    let mut long: Vec<PendingInvalidation> =
        left.extract_if(.., |pending| pending.is_long).collect();
    let queue = &updates.long_reads;
    left = update_unrelated(cache, group, queue, left, all, &mut Listed::default()).await;
    for locale in &group.locales {
        let (scope, mut listed) =
            (Scope { locales: slice::from_ref(locale), is_full: true }, Listed::default());
        long = update_unrelated(cache, group, queue, long, scope, &mut listed).await;
        long = dependents::update(cache, group, updates, long, scope, &mut listed).await;
        // A type without locales is read once.
        if long.is_empty() || listed.values().flatten().any(|own| *own == DocumentLocale::None) {
            break;
        }
    }
    left.extend(long);
    updates.unread.end_read(&left, Instant::now());
}

/// Updates the versions that have no document behind a relation, for each relation that may lead to a
/// document with unread dependents: each of these has lost its relation. Adds them to `listed`. Returns
/// the invalidations that have not failed.
async fn update_unrelated(
    cache: &SnapshotCache,
    group: &TypeGroup,
    queue: &InvalidationQueue,
    mut invalidations: Vec<PendingInvalidation>,
    scope: Scope<'_>,
    listed: &mut Listed,
) -> Vec<PendingInvalidation> {
    if let Err(reason) = read_unrelated(cache, group, &invalidations, scope, listed).await {
        let failed: Vec<PendingInvalidation> =
            invalidations.extract_if(.., |one| one.may_have_unread_dependents).collect();
        recover(cache, group, queue, reason, failed);
    }
    invalidations
}

async fn read_unrelated(
    cache: &SnapshotCache,
    group: &TypeGroup,
    invalidations: &[PendingInvalidation],
    scope: Scope<'_>,
    listed: &mut Listed,
) -> Result<(), NotUpdated> {
    let relations = plan::unrelated(group, invalidations, &cache.triggers.targets.lock())?;
    for relation in relations {
        let reading = Reading::begin(cache, group);
        let versions = select_in(cache, group, Selection::Unrelated(relation), scope).await?;
        reading.apply(&patches(versions, listed)).await?;
    }
    Ok(())
}
