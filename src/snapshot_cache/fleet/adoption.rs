//! Lists that another instance has published, in place of the copies of this one.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::task::block_in_place;

use crate::fleet::lists::{FoundList, Lists, PublishedList, Purpose, Which};
use crate::fleet::{Fleet, ListId, Role};
use crate::snapshot_cache::SnapshotCache;
use crate::snapshot_cache::copy::CachedCopy;
use crate::snapshot_cache::entry::Entry;
use crate::snapshot_cache::refresh::{Member, TypeGroup};
use crate::snapshot_cache::site_cache::SiteCache;
use crate::store::{Head, Urgency};

/// How often lists are looked at that could not be adopted, and all of them while there are no events.
const PERIOD: Duration = Duration::from_secs(1);
/// After so long without an event, the engine is asked for the versions of all lists.
const SILENCE: Duration = Duration::from_secs(10);
/// By so much a walk is newer than another one, although clocks of instances differ.
const NEWER: Duration = Duration::from_secs(1);

/// Adopts what other instances publish. Works on the current cache until it is dropped; ends at once
/// without an engine.
pub async fn follow_lists(current: impl Fn() -> Arc<SnapshotCache>, fleet: Arc<Fleet>) {
    let Some(lists) = fleet.lists() else { return };
    let mut last = (Instant::now(), Weak::new());
    loop {
        let announced = lists.next_announced(PERIOD).await;
        let cache = current();
        let is_new_cache = !last.1.ptr_eq(&Arc::downgrade(&cache));
        if announced.is_some() {
            last.0 = Instant::now();
        }
        let which = match announced {
            // Some of its entries may have missed an adoption.
            _ if is_new_cache => Which::All,
            Some(which) => which,
            None => Which::These(cache.changed_lists(lists, last.0.elapsed() >= SILENCE).await),
        };
        last.1 = Arc::downgrade(&cache);
        cache.adopt_lists(which).await;
    }
}

impl SnapshotCache {
    /// Adopts what other instances have published of these lists.
    pub async fn adopt_lists(&self, which: Which) {
        let Some(lists) = self.fleet.lists() else { return };
        for group in self.groups.values().filter(|group| is_of_others(group)) {
            let own = group.lists.lists().iter().zip(&group.members);
            for own in own.filter(|(list, _)| which.has(list)) {
                self.follow_list(lists, group, own).await;
            }
            let is_unusable = group.lists.lists().iter().any(|list| lists.is_unusable(list));
            group.lists.set_unusable(is_unusable);
        }
    }

    /// Adopts what was last published of these lists, for their new leader, unless it has something
    /// newer.
    pub(super) async fn adopt_published(&self, group: &TypeGroup) {
        let Some(lists) = self.fleet.lists() else { return };
        for (list, (site, entry)) in group.lists.lists().iter().zip(&group.members) {
            let found = lists.read(list, site.listing(entry), site.builder(), Purpose::Lead).await;
            // Where this fails, what this instance has or walks takes its place.
            let Ok(Some(FoundList { list: published, is_new })) = found else { continue };
            let has_newer = entry.copy().is_some_and(|own| own.begun > published.begun + NEWER);
            let has_later = entry.copy().is_some() && !is_new;
            if !has_newer && !has_later {
                self.put(site, entry, published).await;
                lists.adopted(list, &Head::of(&site.site, entry.query.uid.as_str())).await;
            }
        }
        // A walk of this instance may be better than what others could not use.
        group.lists.set_unusable(false);
    }

    /// Offers the copies of a group to the others, for its new leader.
    pub(super) fn offer_copies(&self, group: &TypeGroup) {
        for (site, entry) in &group.members {
            if let Some(copy) = entry.copy() {
                site.offer(entry, &copy);
            }
        }
    }

    async fn follow_list(
        &self,
        lists: &Lists,
        group: &TypeGroup,
        (list, (site, entry)): (&ListId, &Member),
    ) {
        let found = lists.read(list, site.listing(entry), site.builder(), Purpose::Follow).await;
        let Ok(Some(FoundList { list: published, is_new })) = found else { return };
        if !is_of_others(group) {
            // It leads by now, and may have something newer.
            return;
        }
        let is_in_use =
            |copy: &CachedCopy| Arc::ptr_eq(&copy.snapshot, &published.snapshot) && !is_new;
        if !entry.copy().as_ref().is_some_and(is_in_use) {
            self.put(site, entry, published).await;
        }
        lists.adopted(list, &Head::of(&site.site, entry.query.uid.as_str())).await;
    }

    /// Puts a published list in place of the copy, and does what a refresh does with a new copy.
    async fn put(&self, site: &SiteCache, entry: &Entry, published: PublishedList) {
        let update_lock = entry.update_lock.lock().await;
        let (copy, flight, is_changed) = block_in_place(|| {
            let before = entry.copy();
            let PublishedList { snapshot, begun, took } = published;
            let same = before.as_ref().filter(|one| Arc::ptr_eq(&one.snapshot, &snapshot));
            let is_changed = same.is_none();
            let files = match same {
                Some(same) => Arc::clone(&same.files),
                None => site.sitemap_files(&snapshot, before.as_ref()),
            };
            let copy = CachedCopy::adopted((snapshot, begun, took), files, before.as_ref());
            let flight = entry.adopt(copy.clone());
            if let Some(history) = site.history.as_ref().filter(|_| is_changed) {
                // Before the path index: a path that it no longer has is in the history.
                let before = before.as_ref().map(|before| &*before.snapshot);
                history.record_refresh(&entry.query.uid, before, &copy.snapshot);
            }
            site.store_copy(entry, &copy, Urgency::Debounced);
            (copy, flight, is_changed)
        });
        drop(update_lock);
        if is_changed {
            site.rebuild_index();
        }
        if let Some(flight) = flight {
            flight.complete(Ok(copy));
        }
        self.triggers.wake_refresher();
    }

    /// Those of the lists of others that were not adopted yet: the refused ones, or all. In the latter
    /// case, those that this instance leads are looked at, too.
    async fn changed_lists(&self, lists: &Lists, all: bool) -> BTreeSet<ListId> {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for group in self.groups.values().map(|group| &group.lists) {
            let leads = matches!(group.role(), Role::Leader(_));
            let ids = if leads { &mut own } else { &mut others };
            ids.extend(group.lists().iter().cloned());
        }
        own.retain(|_| all);
        others.retain(|list| all || lists.is_refused(list));
        // Where the engine does not answer, they are looked at again.
        let _ = lists.repair(&own).await;
        lists.changed(&others).await.unwrap_or_default()
    }
}

/// Whether another instance leads, or will: also where what it publishes cannot be used.
fn is_of_others(group: &TypeGroup) -> bool {
    group.lists.lease().is_some_and(|lease| lease.epoch().is_none())
}
