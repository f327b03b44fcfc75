//! Changes that an instance records by itself while Redis is unavailable, and the snapshots that it
//! compares for this.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::{PassedOver, Settled, SharedChanges, SiteState, State};
use crate::snapshots::has_all;
use frontend_map_catalog::changes::log::Baseline;
use frontend_map_catalog::snapshot::Snapshot;
use frontend_map_platform::clock::unix_ms;
use frontend_map_store::SnapshotKey;

impl SharedChanges {
    /// Records that this instance serves this snapshot from now on, whose walk began then. While Redis is
    /// unavailable, it records the changes, too.
    pub fn saved(&self, key: &SnapshotKey, snapshot: &Arc<Snapshot>, begun: Instant) {
        self.serves(key, key.baseline(Arc::clone(snapshot), false));
        let state = &mut *self.inner.state.lock();
        let site = state.sites.get_mut(&key.site);
        if let Some(version) = site.and_then(|site| site.passed_over.get_mut(&key.content_type)) {
            version.has_all |= has_all(begun, version.published);
        }
    }

    /// Records that this instance serves this snapshot from the store, which has no titles.
    pub fn loaded(&self, key: &SnapshotKey, snapshot: &Arc<Snapshot>) {
        self.serves(key, key.baseline(Arc::clone(snapshot), true));
    }

    fn serves(&self, key: &SnapshotKey, after: Baseline) {
        let state = &mut *self.inner.state.lock();
        if state.is_alone {
            let recorder = &self.inner.recorder;
            recorder.record(&key.site, &key.content_type, Some(after.clone()), unix_ms());
        }
        let site = state.sites.entry(key.site.clone()).or_default();
        site.latest.insert(key.content_type.clone(), after);
    }

    /// Records that a content type of a site has no pages any more.
    pub fn removed(&self, site: &str, uid: &str) {
        let state = &mut *self.inner.state.lock();
        if state.is_alone {
            self.inner.recorder.record(site, uid, None, unix_ms());
        }
        if let Some(known) = state.sites.get_mut(site) {
            known.latest.remove(uid);
            known.settled.remove(uid);
            known.passed_over.remove(uid);
        }
    }

    /// Records that this instance has published or adopted a version of a snapshot. The log in
    /// Redis has the changes up to this version.
    pub fn settled(
        &self,
        key: &SnapshotKey,
        snapshot_id: &str,
        position: String,
        snapshot: &Arc<Snapshot>,
    ) {
        let baseline = key.baseline(Arc::clone(snapshot), false);
        let settled =
            Settled { snapshot_id: snapshot_id.to_owned(), position, baseline, is_read: false };
        let state = &mut *self.inner.state.lock();
        let site = state.sites.entry(key.site.clone()).or_default();
        site.settled.insert(key.content_type.clone(), settled);
        // It says nothing of the snapshot that is served now.
        site.passed_over.remove(&key.content_type);
        self.read_soon(&key.site);
    }

    /// Records that this instance does not adopt a version of a snapshot, because its own one is later.
    pub(crate) fn passed_over(&self, key: &SnapshotKey, version: PassedOver) {
        let state = &mut *self.inner.state.lock();
        let site = state.sites.entry(key.site.clone()).or_default();
        site.passed_over.insert(key.content_type.clone(), version);
    }

    /// Whether the published version of a snapshot has changes that this instance may lack, because it
    /// did not adopt it.
    pub(crate) fn lacks_passed_over(&self, site: &str, uid: &str) -> bool {
        let state = self.inner.state.lock();
        state.sites.get(site).is_some_and(|known| known.lacks_passed_over(uid))
    }

    /// Begins to record changes, because Redis is unavailable.
    pub(super) fn be_alone(&self) {
        let state = &mut *self.inner.state.lock();
        if std::mem::replace(&mut state.is_alone, true) {
            return;
        }
        let State { lease, sites, .. } = state;
        for (key, site) in sites {
            self.continue_alone(key, site, lease);
        }
    }

    fn continue_alone(&self, key: &str, site: &mut SiteState, lease: &str) {
        let goes_on = site.read.take().is_some() && site.lease == lease && site.is_at_its_log();
        let recorder = &self.inner.recorder;
        if !goes_on {
            // The replica does not end at the snapshots of this instance: a branch of it would lack
            // changes, or have them twice.
            self.log.forget(key);
            recorder.rebase(key, site.latest.clone());
            return;
        }
        let settled = site.settled.iter();
        let settled: HashMap<String, Baseline> =
            settled.map(|(uid, settled)| (uid.clone(), settled.baseline.clone())).collect();
        recorder.rebase(key, settled);
        // The changes that were not published before Redis became unavailable.
        for (uid, latest) in &site.latest {
            recorder.record(key, uid, Some(latest.clone()), unix_ms());
        }
    }
}

impl SiteState {
    /// As [`SharedChanges::lacks_passed_over`].
    pub(super) fn lacks_passed_over(&self, uid: &str) -> bool {
        let settled = self.settled.get(uid).and_then(|settled| settled.position.parse().ok());
        let version = self.passed_over.get(uid).filter(|version| !version.has_all);
        // The own snapshot may be the settled version with documents that were read since.
        version.is_some_and(|version| Some(version.position) > settled)
    }

    /// Whether the replica ends exactly at the versions that this instance has published or
    /// adopted.
    pub(super) fn is_at_its_log(&self) -> bool {
        self.types.iter().all(|uid| match (self.settled.get(uid), self.bases.get(uid)) {
            (None, base) => base.is_none(),
            (Some(settled), None) => settled.is_read,
            (Some(settled), Some(base)) => settled.is_read && settled.position == base.position,
        })
    }
}
