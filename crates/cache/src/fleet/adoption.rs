//! Puts lists that another instance has published in place of the snapshots of this one.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::task::block_in_place;

use crate::SnapshotCache;
use crate::cached_snapshot::CachedSnapshot;
use crate::entry::Entry;
use crate::refresh::{Member, TypeGroup};
use crate::site_cache::{Predecessor, SiteCache};
use frontend_map_fleet::lists::{FoundList, Lists, PublishedList, Purpose, Which};
use frontend_map_fleet::{Fleet, Role, SharedListId};
use frontend_map_store::{SnapshotKey, Urgency};

/// How often the lists that could not be adopted are checked, and all lists while there are no
/// events.
const PERIOD: Duration = Duration::from_secs(1);
/// After so long without an event about a list, the pointers of all lists are checked.
const SILENCE: Duration = Duration::from_secs(10);
/// A walk counts as newer than another one if it began more than this later: instances know Redis
///'s clock only approximately.
const NEWER: Duration = Duration::from_secs(1);
/// A snapshot counts as later than a publication if it was read more than this later.
const LATER: Duration = Duration::from_millis(200);

/// Adopts what other instances publish, into the current cache, until the future is dropped.
/// Without Redis it ends at once.
pub async fn follow_lists(current: impl Fn() -> Arc<SnapshotCache>, fleet: Arc<Fleet>) {
    let Some(lists) = fleet.lists() else { return };
    let (mut last, mut checked, mut used) = (Instant::now(), Instant::now(), Weak::new());
    loop {
        let announced = lists.next_announced(PERIOD).await;
        let cache = current();
        let is_new_cache = !used.ptr_eq(&Arc::downgrade(&cache));
        used = Arc::downgrade(&cache);
        if announced.is_some() {
            last = Instant::now();
        }
        // A new cache may lack what was adopted while it was built.
        if let Some(which) = if is_new_cache { Some(Which::All) } else { announced } {
            cache.adopt_lists(which).await;
        }
        // Also while events about other lists arrive all the time.
        if checked.elapsed() >= PERIOD {
            let changed = cache.changed_lists(lists, last.elapsed() >= SILENCE).await;
            cache.adopt_lists(Which::These(changed)).await;
            checked = Instant::now();
        }
    }
}

impl SnapshotCache {
    /// Adopts what other instances have published of these lists.
    pub async fn adopt_lists(&self, which: Which) {
        let Some(lists) = self.fleet.lists() else { return };
        for group in self.groups.values().filter(|group| is_of_others(group)) {
            let own = group.lists.lists().iter().zip(&group.members);
            for (list, member) in own.filter(|(list, _)| which.has(list)) {
                self.follow_list(lists, group, list, member).await;
            }
            let is_unusable = group.lists.lists().iter().any(|list| lists.is_unusable(list));
            group.lists.set_unusable(is_unusable);
        }
    }

    /// Adopts the published lists of a group for their new leader, except those of which its own
    /// snapshot is newer.
    pub(super) async fn adopt_published(&self, group: &TypeGroup) {
        let Some(lists) = self.fleet.lists() else { return };
        for (list, member) in group.lists.lists().iter().zip(&group.members) {
            let Member { site, entry } = member;
            let found = lists.read(list, site.listing(entry), site.builder(), Purpose::Lead).await;
            // If this fails, the leader publishes its own snapshot or that of its next walk
            // instead.
            if let Ok(Some(found)) = found {
                let is_wanted = |own: Option<&CachedSnapshot>| {
                    let is_newer = |own: &CachedSnapshot| own.begun > found.list.begun + NEWER;
                    own.is_none_or(|own| found.is_new && !is_newer(own) && !is_later(own, &found))
                };
                if self.put(site, entry, &found, is_wanted).await {
                    lists
                        .adopted(list, &SnapshotKey::of(&site.site, entry.query.uid.as_str()))
                        .await;
                }
            }
            continue_owners(lists, list, member).await;
        }
        // As the leader, this instance replaces a list that cannot be used.
        group.lists.set_unusable(false);
    }

    /// Offers the snapshots of a group for publication, by its new leader.
    pub(super) fn offer_snapshots(group: &TypeGroup) {
        for Member { site, entry } in &group.members {
            if let Some(cached) = entry.cached() {
                site.offer(entry, &cached);
            }
        }
    }

    async fn follow_list(
        &self,
        lists: &Lists,
        group: &TypeGroup,
        list: &SharedListId,
        Member { site, entry }: &Member,
    ) {
        let found = lists.read(list, site.listing(entry), site.builder(), Purpose::Follow).await;
        let Ok(Some(found)) = found else { return };
        let is_in_use = |own: &CachedSnapshot| {
            Arc::ptr_eq(&own.snapshot, &found.list.snapshot) && !found.is_new
        };
        // This instance may be the leader by now. A snapshot that it has made alone stays until a
        // later version is published.
        let is_wanted = |own: Option<&CachedSnapshot>| {
            is_of_others(group) && own.is_none_or(|own| is_in_use(own) || !is_later(own, &found))
        };
        let is_put = if entry.cached().as_ref().is_some_and(is_in_use) {
            is_of_others(group)
        } else {
            self.put(site, entry, &found, is_wanted).await
        };
        if is_put {
            if found.is_new && !group.is_awaiting_leader() {
                group.lists.record_response();
            }
            lists.adopted(list, &SnapshotKey::of(&site.site, entry.query.uid.as_str())).await;
        }
    }

    /// Puts a published list in place of the snapshot if `is_wanted`, with all that follows a
    /// refresh: history, path index, store, sitemap files and waiting requests. Returns whether it
    /// did.
    async fn put(
        &self,
        site: &SiteCache,
        entry: &Entry,
        found: &FoundList,
        is_wanted: impl FnOnce(Option<&CachedSnapshot>) -> bool,
    ) -> bool {
        let update_lock = entry.update_lock.lock().await;
        let before = entry.cached();
        if !is_wanted(before.as_ref()) {
            return false;
        }
        let (cached, flight, is_changed) = block_in_place(|| {
            let PublishedList { snapshot, begun, took } = found.list.clone();
            let same = before.as_ref().filter(|one| Arc::ptr_eq(&one.snapshot, &snapshot));
            let is_changed = same.is_none();
            let files = match same {
                Some(same) => Arc::clone(&same.files),
                None => site.sitemap_files(&snapshot, before.as_ref()),
            };
            let cached = CachedSnapshot::adopted((snapshot, begun, took), files, before.as_ref());
            let published = found.published;
            let cached = CachedSnapshot { as_of: published, whole_as_of: published, ..cached };
            let flight = entry.adopt(cached.clone());
            site.forget_owners_before(&entry.query.uid);
            if let Some(history) = site.history.as_ref().filter(|_| is_changed) {
                // Before the path index: a path that it no longer has is in the history.
                let before = before.as_ref().map(|before| &*before.snapshot);
                history.record_refresh(&entry.query.uid, before, &cached.snapshot);
            }
            site.store_snapshot(entry, &cached, Urgency::Debounced);
            (cached, flight, is_changed)
        });
        drop(update_lock);
        if is_changed {
            site.rebuild_index();
        }
        if let Some(flight) = flight {
            flight.complete(Ok(cached));
        }
        self.triggers.wake_refresher();
        true
    }

    /// The lists of which another version is published than this instance has: with `all` among
    /// those that it does not lead, otherwise among those that could not be adopted. With `all`,
    /// lists that it leads and that were removed or replaced in Redis are published again.
    async fn changed_lists(&self, lists: &Lists, all: bool) -> BTreeSet<SharedListId> {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for group in self.groups.values().map(|group| &group.lists) {
            let leads = matches!(group.role(), Role::Leader(_));
            let ids = if leads { &mut own } else { &mut others };
            ids.extend(group.lists().iter().cloned());
        }
        own.retain(|_| all);
        others.retain(|list| all || lists.is_refused_or_unread(list));
        // If Redis does not answer, the next round checks them again.
        let _ = lists.repair(&own).await;
        lists.changed(&others).await.unwrap_or_default()
    }
}

/// Lets the owners of paths in the list that other settings or another version of the service have
/// published last keep their paths in the next walk.
async fn continue_owners(lists: &Lists, list: &SharedListId, Member { site, entry }: &Member) {
    let uid = &entry.query.uid;
    match lists.read_last(&SnapshotKey::of(&site.site, uid.as_str()), list, site.builder()).await {
        Ok(Some((snapshot, locales))) => {
            let locales = Arc::new(locales);
            site.continue_owners(uid, Predecessor { snapshot, locales });
        }
        Ok(None) => {}
        Err(error) => {
            let site = &site.site.key;
            tracing::warn!(site, %uid, %error, "the owners of paths by other settings could not be read");
        }
    }
}

/// Whether the own snapshot is later than a published version: its walk was later, or it is that
/// version with documents that were read later.
fn is_later(own: &CachedSnapshot, found: &FoundList) -> bool {
    let as_of = if found.is_new { own.begun } else { own.as_of };
    as_of > found.published + LATER
}

/// Whether another instance is the leader, or will be; also if its list cannot be used.
fn is_of_others(group: &TypeGroup) -> bool {
    group.lists.lease().is_some_and(|lease| lease.epoch().is_none())
}
