//! What happens after documents could not be updated: another attempt, or a walk.

use std::time::Instant;

use super::NotUpdated;
use crate::SnapshotCache;
use crate::entry::Demand;
use crate::invalidation::{Invalidation, InvalidationQueue, PendingInvalidation};
use crate::refresh::{Member, TypeGroup};
use frontend_map_cms::ContentError;

/// Schedules another attempt or a walk after a failure that concerns these invalidations, which
/// came from this queue.
pub(super) fn recover(
    cache: &SnapshotCache,
    group: &TypeGroup,
    queue: &InvalidationQueue,
    reason: NotUpdated,
    invalidations: impl IntoIterator<Item = PendingInvalidation>,
) {
    let invalidations: Vec<PendingInvalidation> = invalidations.into_iter().collect();
    match reason {
        NotUpdated::NeedsWalk => {
            forget(group, invalidations);
            walk(cache, group);
        }
        NotUpdated::Unusable | NotUpdated::TooMany => {
            forget(group, invalidations);
            walk_within_share(cache, group);
        }
        NotUpdated::Failed(error) => {
            let uid = &group.query.uid;
            tracing::debug!(%uid, error = cache.content.detail(&error), "documents could not be updated");
            let is_open = cache.content.circuit_open().is_some();
            let is_sent = !matches!(error, ContentError::CircuitOpen { .. });
            let mut is_kept = true;
            for pending in invalidations {
                if is_sent {
                    is_kept &= queue.try_again(pending, is_open);
                } else {
                    // Rounds wait for the circuit breaker.
                    queue.postpone(pending, Instant::now());
                }
            }
            if !is_kept {
                walk(cache, group);
            }
        }
    }
}

/// Another walk follows the one in flight. If the latter returned these invalidations too, they
/// would arrive during the former, and cause walk after walk.
fn forget(group: &TypeGroup, invalidations: impl IntoIterator<Item = PendingInvalidation>) {
    let invalidations: Vec<PendingInvalidation> = invalidations.into_iter().collect();
    let changed: Vec<&Invalidation> =
        invalidations.iter().map(|pending| &*pending.invalidation).collect();
    group.members.iter().for_each(|member| member.entry.forget_invalidations(&changed));
}

/// Lets the refresher walk the type at once, again if a walk is in flight.
pub(super) fn walk(cache: &SnapshotCache, group: &TypeGroup) {
    for Member { entry, .. } in &group.members {
        if entry.cached().is_some() || entry.is_refreshing() {
            entry.ask_for(Demand::AtOnce);
        }
    }
    cache.triggers.wake_refresher();
}

/// Walks the type as soon as the share of the CMS permits it.
pub(super) fn walk_within_share(cache: &SnapshotCache, group: &TypeGroup) {
    for Member { entry, .. } in &group.members {
        entry.ask_for(Demand::Background);
    }
    cache.triggers.wake_refresher();
}
