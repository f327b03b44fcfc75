//! What the path history gets from the refreshes and updates of a site.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::SiteCache;
use frontend_map_catalog::changes::difference::{Difference, LocaleNames, Side};
use frontend_map_catalog::moved::history::{PathHistory, SiteId};
use frontend_map_catalog::moved::redirects::{SiteHistory, paths_in_default_locale};
use frontend_map_catalog::site::{PAGES, Site};
use frontend_map_catalog::snapshot::Snapshot;
use frontend_map_platform::clock::unix_ms;
use frontend_map_rules::{ContentTypeUid, Pathname};

/// The path history of one site, for one version of its settings.
pub(crate) struct HistoryWriter {
    history: Arc<PathHistory>,
    id: SiteId,
    locales: Arc<LocaleNames>,
    /// For content types of which other settings have built a snapshot, until the first complete one
    /// by these settings.
    predecessors: Mutex<HashMap<ContentTypeUid, Predecessor>>,
}

/// The last snapshot of a content type that other settings have built.
#[derive(Clone)]
pub(crate) struct Predecessor {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) locales: Arc<LocaleNames>,
}

impl HistoryWriter {
    pub(super) fn new(history: Arc<PathHistory>, id: SiteId, locales: Arc<LocaleNames>) -> Self {
        Self { history, id, locales, predecessors: Mutex::default() }
    }

    /// The history as a request gets it now.
    pub(crate) fn reader(&self) -> SiteHistory<'_> {
        SiteHistory { history: &self.history, id: self.id, now: self.now() }
    }

    /// As [`SnapshotCache::type_that_had`](crate::SnapshotCache::type_that_had).
    pub(crate) fn type_that_had(
        &self,
        site: &Site,
        pathname: &Pathname<'_>,
        host: Option<usize>,
    ) -> Option<ContentTypeUid> {
        let predecessors = self.predecessors.lock();
        // The usual case.
        if predecessors.is_empty() {
            return None;
        }
        let path = pathname.normalized();
        let others: Vec<String> = paths_in_default_locale(site, pathname, host).collect();
        let had = |snapshot: &Snapshot| {
            let not_localized =
                |path: &String| snapshot.owner(path).is_some_and(|owner| !owner.is_localized());
            snapshot.owner(&path).is_some() || others.iter().any(not_localized)
        };
        let mut pending = predecessors.iter();
        pending.find(|(_, before)| had(&before.snapshot)).map(|(uid, _)| uid.clone())
    }

    fn predecessor(&self, uid: &ContentTypeUid) -> Option<Predecessor> {
        self.predecessors.lock().get(uid).cloned()
    }

    /// Compares a snapshot of another process with the first complete one by these settings, unless
    /// there is one of this process.
    pub(super) fn compare_with_predecessor(&self, uid: &ContentTypeUid, stored: Predecessor) {
        self.predecessors.lock().entry(uid.clone()).or_insert(stored);
    }

    /// Records what a complete snapshot no longer has: of the snapshot before it, and of the last
    /// one by other settings.
    pub(crate) fn record_refresh(
        &self,
        uid: &ContentTypeUid,
        before: Option<&Snapshot>,
        after: &Snapshot,
    ) {
        self.record_predecessor(uid, after);
        let Some(before) = before else { return };
        let difference = Difference::of_edits(before, self.side(after));
        self.history.enter(self.id, uid.as_str(), &difference, difference.all(), self.now());
    }

    /// Records what an updated snapshot no longer has, of which only these documents were read again.
    pub(crate) fn record_update(
        &self,
        uid: &ContentTypeUid,
        before: Option<&Snapshot>,
        after: &Snapshot,
        ids: &[&str],
    ) {
        let Some(before) = before else { return };
        let difference = Difference::of_edits(before, self.side(after));
        let changes = difference.of_documents(ids);
        self.history.enter(self.id, uid.as_str(), &difference, changes, self.now());
    }

    /// Records the paths of a content type that has lost its last rule.
    pub(super) fn record_lost_type(&self, uid: &ContentTypeUid, before: &Predecessor) {
        self.record_other_settings(uid, before, &Snapshot::default());
    }

    pub(super) fn record_predecessor(&self, uid: &ContentTypeUid, after: &Snapshot) {
        let Some(before) = self.predecessor(uid) else { return };
        self.record_other_settings(uid, &before, after);
        // Afterwards, so that no request finds its paths in neither.
        let mut predecessors = self.predecessors.lock();
        let now = predecessors.get(uid);
        if now.is_some_and(|now| Arc::ptr_eq(&now.snapshot, &before.snapshot)) {
            predecessors.remove(uid);
        }
    }

    fn record_other_settings(&self, uid: &ContentTypeUid, before: &Predecessor, after: &Snapshot) {
        let before = Side { snapshot: &before.snapshot, locales: &before.locales };
        let difference = Difference::of_rules(before, self.side(after));
        self.history.enter(self.id, uid.as_str(), &difference, difference.all(), self.now());
    }

    fn now(&self) -> i64 {
        self.history.now(unix_ms)
    }

    fn side<'s>(&'s self, snapshot: &'s Snapshot) -> Side<'s> {
        Side { snapshot, locales: &self.locales }
    }
}

impl SiteCache {
    /// Puts this cache in use in place of one for other settings of the same site: its last snapshots
    /// are compared with the first complete ones of this cache.
    pub(crate) fn replace(&self, previous: &Self) {
        let lost = previous.entries.keys().filter(|uid| self.entry(uid.as_str()).is_none());
        let lost = lost.map(ContentTypeUid::as_str);
        let has_lost_pages = previous.pages.is_some() && self.pages.is_none();
        let lost = lost.chain(has_lost_pages.then_some(PAGES));
        lost.for_each(|uid| self.remove(uid));
        if self.site.source != previous.site.source {
            return;
        }
        self.continue_owners_of(previous);
        let Some(history) = &self.history else { return };
        let pending = previous.history.as_ref().map(|history| history.predecessors.lock().clone());
        for (uid, before) in previous.last_snapshots(pending.unwrap_or_default()) {
            let Some(entry) = self.entry(uid.as_str()) else {
                history.record_lost_type(&uid, &before);
                continue;
            };
            history.predecessors.lock().insert(uid.clone(), before);
            // A first walk that has ended before has not seen it.
            if let Some(cached) = entry.cached() {
                history.record_predecessor(&uid, &cached.snapshot);
            }
        }
    }

    /// The owners by other settings keep their paths in the first snapshots of this cache.
    fn continue_owners_of(&self, previous: &Self) {
        // With other limits alone, this cache has the snapshots, too.
        if self.site.fingerprint == previous.site.fingerprint {
            return;
        }
        let before = previous.last_snapshots(previous.owners_before.lock().clone());
        for (uid, before) in before {
            if self.entry(uid.as_str()).is_some_and(|entry| entry.cached().is_none()) {
                self.continue_owners(&uid, before);
            }
        }
    }

    /// The last snapshot of each content type: by these settings, or else the pending one by those
    /// before them.
    fn last_snapshots(
        &self,
        mut last: HashMap<ContentTypeUid, Predecessor>,
    ) -> HashMap<ContentTypeUid, Predecessor> {
        let locales = Arc::new(LocaleNames::of(self.site.rules.locales(), &self.site.hosts));
        let own = |entry: &Arc<super::Entry>| {
            let (snapshot, locales) = (entry.cached()?.snapshot, Arc::clone(&locales));
            Some((entry.query.uid.clone(), Predecessor { snapshot, locales }))
        };
        last.extend(self.entries().filter_map(own));
        last
    }
}
