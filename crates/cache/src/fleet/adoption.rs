//! Adoption: puts snapshots that another instance has published in place of the cached ones.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::task::block_in_place;

use crate::SnapshotCache;
use crate::cached_snapshot::CachedSnapshot;
use crate::install::{Cause, install};
use crate::refresh::{Member, TypeGroup};
use crate::site_cache::Predecessor;
use frontend_map_fleet::snapshots::{
    FoundSnapshot, Purpose, SharedSnapshots, WalkedSnapshot, Which,
};
use frontend_map_fleet::{Fleet, Role, SharedSnapshotId};
use frontend_map_store::SnapshotKey;

/// How often the snapshots that could not be adopted are checked, and all snapshots while there are
/// no events.
const PERIOD: Duration = Duration::from_secs(1);
/// After so long without an event about a snapshot, the pointers of all snapshots are checked.
const SILENCE: Duration = Duration::from_secs(10);
/// Adopts what other instances publish, into the current cache, until the future is dropped.
/// Without Redis it ends at once.
pub async fn follow_snapshots(current: impl Fn() -> Arc<SnapshotCache>, fleet: Arc<Fleet>) {
    let Some(snapshots) = fleet.snapshots() else { return };
    let (mut last, mut checked, mut used) = (Instant::now(), Instant::now(), Weak::new());
    loop {
        let announced = snapshots.next_announced(PERIOD).await;
        let cache = current();
        let is_new_cache = !used.ptr_eq(&Arc::downgrade(&cache));
        used = Arc::downgrade(&cache);
        if announced.is_some() {
            last = Instant::now();
        }
        // A new cache may lack what was adopted while it was built.
        if let Some(which) = if is_new_cache { Some(Which::All) } else { announced } {
            cache.adopt_snapshots(which).await;
        }
        // Also while events about other snapshots arrive all the time.
        if checked.elapsed() >= PERIOD {
            fleet.keep_snapshots_in_use();
            let changed = cache.changed_snapshots(snapshots, last.elapsed() >= SILENCE).await;
            cache.adopt_snapshots(Which::These(changed)).await;
            cache.ask_for_walks();
            checked = Instant::now();
        }
    }
}

impl SnapshotCache {
    /// Adopts what other instances have published of these snapshots.
    pub async fn adopt_snapshots(&self, which: Which) {
        let Some(snapshots) = self.fleet.snapshots() else { return };
        for group in self.groups.values().filter(|group| group.shared.is_led_elsewhere()) {
            let own = group.shared.ids().iter().zip(&group.members);
            for (id, member) in own.filter(|(id, _)| which.has(id)) {
                self.follow_snapshot(snapshots, group, id, member).await;
            }
            let is_unusable = group.shared.ids().iter().any(|id| snapshots.is_unusable(id));
            group.shared.set_unusable(is_unusable);
        }
    }

    /// Adopts the published snapshots of a group for their new leader, except those of which its
    /// own snapshot is newer.
    pub(super) async fn adopt_published(&self, group: &TypeGroup) {
        let Some(snapshots) = self.fleet.snapshots() else { return };
        for (id, member) in group.shared.ids().iter().zip(&group.members) {
            let Member { site, entry } = member;
            let found =
                snapshots.read(id, site.listing(entry), site.builder(), Purpose::Lead).await;
            // If this fails, the leader publishes its own snapshot or that of its next walk
            // instead.
            if let Ok(Some(found)) = found {
                let is_wanted = |own: Option<&CachedSnapshot>| {
                    found.times().is_wanted_by_leader(own.map(CachedSnapshot::read_times))
                };
                if self.adopt(member, &found, is_wanted).await {
                    snapshots
                        .adopted(id, &SnapshotKey::of(&site.site, entry.query.uid.as_str()))
                        .await;
                }
            }
            continue_last(snapshots, id, member).await;
        }
        // As the leader, this instance replaces a snapshot that cannot be used.
        group.shared.set_unusable(false);
    }

    /// Requests the publication of the snapshots of a group, by its new leader.
    pub(super) fn request_publications(group: &TypeGroup) {
        for Member { site, entry } in &group.members {
            if let Some(cached) = entry.cached() {
                site.request_publication(entry, &cached);
            }
        }
    }

    async fn follow_snapshot(
        &self,
        snapshots: &SharedSnapshots,
        group: &TypeGroup,
        id: &SharedSnapshotId,
        member: &Member,
    ) {
        let Member { site, entry } = member;
        let found = snapshots.read(id, site.listing(entry), site.builder(), Purpose::Follow).await;
        let Ok(Some(found)) = found else { return };
        let is_in_use = |own: &CachedSnapshot| {
            Arc::ptr_eq(&own.snapshot, &found.walked.snapshot) && !found.is_new
        };
        let is_same = |own: &CachedSnapshot| {
            own.snapshot.content_hash() == found.walked.snapshot.content_hash()
        };
        let (mut is_own_later, mut has_all) = (false, false);
        let is_wanted = |own: Option<&CachedSnapshot>| {
            let times = own.map(CachedSnapshot::read_times);
            has_all =
                !self.content.may_change() || times.is_some_and(|own| found.times().is_all_in(own));
            is_own_later = !own.is_some_and(is_same) && !found.times().is_wanted_by_follower(times);
            // This instance may be the leader by now.
            !is_own_later && group.shared.is_led_elsewhere()
        };
        let is_adopted = if entry.cached().as_ref().is_some_and(is_in_use) {
            group.shared.is_led_elsewhere()
        } else {
            self.adopt(member, &found, is_wanted).await
        };
        if is_adopted {
            if found.is_new && !group.is_awaiting_leader() {
                group.shared.record_response();
            }
            snapshots.adopted(id, &SnapshotKey::of(&site.site, entry.query.uid.as_str())).await;
        } else if is_own_later {
            let key = SnapshotKey::of(&site.site, entry.query.uid.as_str());
            snapshots.passed_over(id, &found, &key, has_all);
        }
    }

    /// Installs a published snapshot if `is_wanted`. Returns whether it did.
    async fn adopt(
        &self,
        member: &Member,
        found: &FoundSnapshot,
        is_wanted: impl FnOnce(Option<&CachedSnapshot>) -> bool,
    ) -> bool {
        let Member { site, entry } = member;
        let update_lock = entry.update_lock.lock().await;
        let before = entry.cached();
        if !is_wanted(before.as_ref()) {
            return false;
        }
        block_in_place(|| {
            let WalkedSnapshot { snapshot, begun, as_of, took } = found.walked.clone();
            let same = before.as_ref().filter(|one| Arc::ptr_eq(&one.snapshot, &snapshot));
            let files = match same {
                Some(same) => Arc::clone(&same.files),
                None => site.sitemap_files(&snapshot, before.as_ref()),
            };
            let cached = CachedSnapshot::adopted(snapshot, begun, took, files, before.as_ref());
            let cached = CachedSnapshot { as_of, ..cached };
            // Its owners are those of the leader.
            site.forget_owners_before(&entry.query.uid);
            install(member, cached, &Cause::Adoption);
        });
        drop(update_lock);
        self.triggers.wake_refresher();
        true
    }

    /// The snapshots of which another version is published than this instance has: with `all` among
    /// those that it does not lead, otherwise among those that could not be adopted. With `all`,
    /// snapshots that it leads and that were removed or replaced in Redis are published again.
    async fn changed_snapshots(
        &self,
        snapshots: &SharedSnapshots,
        all: bool,
    ) -> BTreeSet<SharedSnapshotId> {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for group in self.groups.values().map(|group| &group.shared) {
            let leads = matches!(group.role(), Role::Leader(_));
            let ids = if leads { &mut own } else { &mut others };
            ids.extend(group.ids().iter().cloned());
        }
        own.retain(|_| all);
        others.retain(|id| all || snapshots.is_refused_or_unread(id));
        // If Redis does not answer, the next round checks them again.
        let _ = snapshots.repair(&own).await;
        snapshots.changed(&others).await.unwrap_or_default()
    }
}

/// Goes on from the snapshot that other settings or another version of the service have published
/// last: its owners keep their paths in the next walk, and the paths that pages no longer have are in
/// the history.
async fn continue_last(
    snapshots: &SharedSnapshots,
    id: &SharedSnapshotId,
    Member { site, entry }: &Member,
) {
    let uid = &entry.query.uid;
    match snapshots.read_last(&SnapshotKey::of(&site.site, uid.as_str()), id, site.builder()).await
    {
        Ok(Some((snapshot, locales))) => {
            let last = Predecessor { snapshot, locales: Arc::new(locales) };
            site.continue_owners(uid, last.clone());
            block_in_place(|| site.compare_with_predecessor(entry, last));
        }
        Ok(None) => {}
        Err(error) => {
            let site = &site.site.key;
            tracing::warn!(site, %uid, %error, "the snapshot that other settings have published could not be read");
        }
    }
}
