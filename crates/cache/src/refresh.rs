//! One refresh of the cache entries of a content type: a walk over the type, and the snapshots of
//! all sites built from it.

mod collapse;
mod followed;
mod member_parts;
mod type_group;
mod unannounced;
mod walk;

use std::sync::Arc;

use futures::future::join_all;
use tokio::task::block_in_place;

use crate::cached_snapshot::CachedSnapshot;
use crate::entry::{Completed, Entry, Waiter};
use crate::install::{Cause, install};
use crate::settings::Freshness;
use crate::site_cache::SiteCache;
use crate::triggers::{BackgroundWalk, RefreshTriggers};
use followed::{report_failure, wait_for_adoption};
use frontend_map_catalog::snapshot::Patched;
use frontend_map_cms::{Content, ContentError, Outage};
use frontend_map_fleet::SnapshotGroup;
use type_group::BegunRefresh;
use walk::{Found, Fresh, walk};

pub use followed::walk_failure;
pub(super) use type_group::{Member, TypeGroup};
pub(super) use unannounced::{count_later, suspects, suspects_among};
pub use walk::no_snapshot;

/// How often a walk is repeated because of incremental updates since it began.
const REPEATS: usize = 3;
/// The target of the log line about a walk that failed. A command leaves it out, because it reports
/// the same error itself.
pub const FAILED_WALK: &str = "frontend_map_cache::failed_walk";

/// A refresh that was started or joined.
pub(super) struct Started {
    pub(super) waiter: Waiter,
    /// Whether it was in flight already, so that no other one was started (single-flight).
    pub(super) collapsed: bool,
}

/// Joins the refresh of an entry in flight or starts one at once, in a task of its own: it continues
/// when the client whose request started it has disconnected. A refresh that starts is one of all
/// members of the group. With `unless`, a snapshot that is usable by it takes the place of a refresh. A
/// walk in the `background` counts in the share of the time that such walks may take.
pub(super) fn start(
    group: &TypeGroup,
    entry: &Arc<Entry>,
    triggers: &Arc<RefreshTriggers>,
    unless: Option<Freshness>,
    background: Option<BackgroundWalk>,
) -> Started {
    let (waiter, begun) = group.join_or_begin(entry, unless);
    let collapsed = begun.is_empty();
    if !collapsed {
        let (shared, triggers) = (Arc::clone(&group.shared), Arc::clone(triggers));
        tokio::spawn(async move { run(begun, &shared, &triggers, background).await });
    }
    Started { waiter, collapsed }
}

/// Starts one walk for all members of a group that have no refresh in flight, with a waiter for each.
pub(super) fn start_all(
    group: &TypeGroup,
    triggers: &Arc<RefreshTriggers>,
) -> Vec<(Arc<SiteCache>, Waiter)> {
    let (_first, begun) = group.join_or_begin(&group.members[0].entry, None);
    let waiters = begun.iter().map(|begun| (Arc::clone(&begun.member.site), begun.flight.join()));
    let waiters = waiters.collect();
    let (shared, triggers) = (Arc::clone(&group.shared), Arc::clone(triggers));
    tokio::spawn(async move { run(begun, &shared, &triggers, None).await });
    waiters
}

/// Refreshes members of a group: by adopting what the leader publishes, or by a walk. Ends early
/// when all of them are orphaned and have no waiters.
///
/// Where a walk cannot be put together with the incremental updates since it began, its list is
/// withheld, because URLs that the present snapshot has dropped would come back, and it is repeated
/// at once.
async fn run(
    mut begun: Vec<BegunRefresh>,
    shared: &SnapshotGroup,
    triggers: &Arc<RefreshTriggers>,
    mut background: Option<BackgroundWalk>,
) {
    let mut repeats = REPEATS;
    loop {
        begun = wait_for_adoption(begun, shared).await;
        if begun.is_empty() {
            return;
        }
        let members = TypeGroup::new(begun.iter().map(|begun| begun.member.clone()).collect());
        let abandoned = join_all(begun.iter().map(BegunRefresh::abandoned));
        let found = tokio::select! {
            biased;
            _ = abandoned => return,
            found = walk_confirmed(&members, triggers, background.take()) => found,
        };
        if shared.follows() {
            // Another instance has the lease by now, and its walk is newer.
            continue;
        }
        match found.iter().find_map(|found| found.as_ref().err()) {
            Some(error) => report_failure(shared, error),
            None => shared.record_walk(),
        }
        let mut again = Vec::new();
        for (begun, found) in begun.into_iter().zip(found) {
            if complete(&begun, found, triggers, repeats > 0).await == Completion::WalkAgain {
                again.push(begun);
            }
            triggers.wake_refresher();
        }
        if again.is_empty() {
            return;
        }
        begun = again;
        repeats = repeats.saturating_sub(1);
    }
}

/// Walks once, or twice if a list has collapsed (D34).
async fn walk_confirmed(
    members: &TypeGroup,
    triggers: &RefreshTriggers,
    background: Option<BackgroundWalk>,
) -> Vec<Found> {
    let first = walk(members).await;
    drop(background);
    let collapsed = collapse::collapsed(members, &first, triggers);
    if collapsed.is_empty() {
        return first;
    }
    let second = walk(members).await;
    collapse::log_confirmation(members, &collapsed, &second);
    second
}

/// Whether a refresh has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Completion {
    Ended,
    WalkAgain,
}

async fn complete(
    BegunRefresh { member, flight }: &BegunRefresh,
    found: Found,
    triggers: &Arc<RefreshTriggers>,
    may_repeat: bool,
) -> Completion {
    let Member { site, entry } = member;
    // An incremental update from here on would be lost.
    let update_lock = entry.update_lock.lock().await;
    if !entry.is_in_flight(flight) {
        // Orphaned, and its last waiter has left.
        return Completion::Ended;
    }
    let built = match found {
        Ok(fresh) => Ok(build_snapshot(site, entry, fresh).await),
        Err(error) => Err(error),
    };
    let outcome = match built {
        Ok(None) if may_repeat => {
            let (site, uid) = (&entry.site, entry.query.uid.as_str());
            tracing::debug!(site, uid, "documents changed during a walk, which is repeated");
            return Completion::WalkAgain;
        }
        Ok(None) => Err(ContentError::unavailable(Outage::KeepsChanging)),
        Ok(Some(cached)) => Ok(cached),
        Err(error) => Err(error),
    };
    match outcome {
        Ok(cached) => {
            for invalidation in
                member.invalidations_to_repeat(&cached.snapshot, cached.begun, |_| true)
            {
                triggers.invalidations.add_for(&entry.query.uid, invalidation);
            }
            block_in_place(|| install(member, cached, &Cause::Walk(triggers)));
        }
        Err(error) => {
            let completed = entry.fail(error);
            record(site, entry, &completed);
            flight.complete(completed.outcome);
        }
    }
    drop(update_lock);
    Completion::Ended
}

/// The snapshot of a site, with the incremental updates since the walk began; `None`: only another
/// walk can determine the list.
async fn build_snapshot(
    site: &SiteCache,
    entry: &Entry,
    Fresh { begun, mut snapshot }: Fresh,
) -> Option<CachedSnapshot> {
    let patches = entry.patches_since(begun);
    if !patches.is_empty() {
        let (listing, builder) = (site.listing(entry), site.builder());
        match block_in_place(|| snapshot.patched(&patches, listing, builder)) {
            Patched::Unchanged => {}
            Patched::Changed(changed) => snapshot = *changed,
            Patched::NeedsWalk => return None,
        }
    }
    let snapshot = site.with_owners(entry, snapshot).await;
    block_in_place(|| {
        let before = entry.cached();
        let files = site.sitemap_files(&snapshot, before.as_ref());
        Some(CachedSnapshot::new(snapshot, files, begun, before.as_ref()))
    })
}

/// Logs and counts the outcome of a refresh.
pub(crate) fn record(site: &SiteCache, entry: &Entry, completed: &Completed) {
    log(&site.content, entry, completed);
    if !completed.orphaned {
        entry.counters.count(completed.outcome.is_ok());
    }
}

/// Logs the outcome, and the documents without a URL: a mistake in the content that is not visible
/// in the sitemap.
fn log(content: &Content, entry: &Entry, completed: &Completed) {
    let (site, uid) = (&entry.site, entry.query.uid.as_str());
    if completed.orphaned {
        return tracing::debug!(site, uid, "a refresh has ended for a site that has changed");
    }
    let cached = match &completed.outcome {
        Ok(cached) => cached,
        // A CMS that is down for an hour is one line, not thousands.
        Err(error)
            if completed.failed_before || matches!(error, ContentError::CircuitOpen { .. }) =>
        {
            return tracing::debug!(
                site,
                uid,
                error = content.detail(error),
                "a walk failed again"
            );
        }
        Err(error) => {
            let error = content.detail(error);
            return tracing::warn!(target: FAILED_WALK, site, uid, error, "a walk failed");
        }
    };
    let skipped = &cached.snapshot.skipped;
    for (reason, documents) in skipped.by_reason() {
        tracing::warn!(site, uid, reason, documents, "documents have no URL");
    }
    let duplicates = cached.snapshot.duplicates().len();
    if duplicates > 0 {
        tracing::warn!(site, uid, duplicates, "documents share a URL");
    }
    let urls = cached.snapshot.len();
    if urls == 0 && skipped.total() > 0 {
        tracing::error!(site, uid, "no document of this type has a URL");
    }
    let (bytes, seconds) = (cached.snapshot.bytes(), cached.begun.elapsed().as_secs_f64());
    let seconds = (seconds * 1e3).round() / 1e3;
    tracing::info!(site, uid, urls, bytes, seconds, "a snapshot is built");
}
