//! One refresh of the cache entries of a content type: a walk over the type, and the copies of all
//! sites built from it.

mod known_copies;
mod log;
mod member_parts;
mod type_group;
mod walk;

use std::sync::Arc;

use futures::future::join_all;

use super::copy::CachedCopy;
use super::entry::Entry;
use super::flight::Waiter;
use super::site_cache::SiteCache;
use super::triggers::RefreshTriggers;
use log::log;
use type_group::Begun;
use walk::{Found, Fresh, walk};

pub(super) use type_group::TypeGroup;

/// A refresh that was started or joined.
pub(super) struct Started {
    pub(super) waiter: Waiter,
    /// Whether it was in flight already.
    pub(super) collapsed: bool,
}

/// Joins the refresh of an entry in flight or starts one, in a task of its own: it continues when
/// the client whose request started it has disconnected. A refresh that starts is one of all members
/// of the group.
pub(super) fn start(
    group: &Arc<TypeGroup>,
    entry: &Arc<Entry>,
    triggers: &Arc<RefreshTriggers>,
) -> Started {
    let (waiter, begun) = group.join_or_begin(entry);
    let collapsed = begun.is_empty();
    if !collapsed {
        let (group, triggers) = (Arc::clone(group), Arc::clone(triggers));
        tokio::spawn(async move { run(&group, begun, &triggers).await });
    }
    Started { waiter, collapsed }
}

/// Refreshes these members of a group. Ends early when all of them are orphaned and have no waiters.
async fn run(group: &Arc<TypeGroup>, begun: Vec<Begun>, triggers: &Arc<RefreshTriggers>) {
    let members = TypeGroup::new(begun.iter().map(|(member, _)| member.clone()).collect());
    let abandoned = join_all(begun.iter().map(|((_, entry), flight)| entry.abandoned(flight)));
    let found = tokio::select! {
        biased;
        _ = abandoned => return,
        found = walk(&members) => found,
    };
    for (begun, found) in begun.iter().zip(found) {
        complete(group, begun, triggers, found).await;
    }
}

async fn complete(
    group: &Arc<TypeGroup>,
    ((site, entry), flight): &Begun,
    triggers: &Arc<RefreshTriggers>,
    found: Found,
) {
    // An incremental update from here on would be lost.
    let update_lock = entry.update_lock.lock().await;
    if !entry.is_in_flight(flight) {
        // Orphaned, and its last waiter has left.
        return;
    }
    let outcome = found.map(|fresh| build_copy(site, entry, fresh));
    let completed = entry.complete(outcome);
    drop(update_lock);
    site.rebuild_index();
    log(entry, &completed);
    if !completed.orphaned {
        entry.counters.count(completed.outcome.is_ok());
    }
    flight.complete(completed.outcome);
    triggers.wake_refresher();
    if completed.again {
        start(group, entry, triggers);
    }
}

/// The copy of a site, with the incremental updates since the walk began.
fn build_copy(site: &SiteCache, entry: &Entry, Fresh { begun, mut snapshot }: Fresh) -> CachedCopy {
    tokio::task::block_in_place(|| {
        let patches = entry.patches_since(begun);
        if !patches.is_empty() {
            let updated = snapshot.patched(&patches, site.listing(entry), site.builder());
            snapshot = updated.unwrap_or(snapshot);
        }
        let before = entry.copy();
        let files = site.sitemap_files(&snapshot, before.as_ref());
        CachedCopy::new(snapshot, files, begun, before.as_ref())
    })
}
