//! The snapshots of a site in the store.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::SiteCache;
use super::history::Predecessor;
use crate::cached_snapshot::CachedSnapshot;
use crate::entry::{Demand, Entry};
use crate::install::{Cause, install};
use crate::refresh::Member;
use frontend_map_catalog::site::{PAGES, Site};
use frontend_map_catalog::snapshot::Snapshot;
use frontend_map_fleet::SnapshotId;
use frontend_map_fleet::changes::content_of;
use frontend_map_fleet::snapshots::{PublishRequest, WalkedSnapshot};
use frontend_map_rules::ContentTypeUid;
use frontend_map_store::{SnapshotKey, StoredSnapshot, Urgency};

/// Whether the file of the store was opened before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// It has what another process has stored.
    First,
    /// It has what this process has stored, and may lack what this one has decided since.
    Later,
}

impl SiteCache {
    /// Takes snapshots from the store for content types that have none, if they were built by the
    /// same rules and are within the hard limit. The path history gets the others.
    pub(crate) fn adopt_stored(self: &Arc<Self>, hard: Duration, opening: Opening) {
        let adopted: Vec<bool> =
            self.entries().map(|entry| self.adopt_entry(entry, hard, opening)).collect();
        if adopted.contains(&true) {
            self.rebuild_index();
        }
        if !self.site.has_redirects_alone() {
            self.record_lost_types();
            self.save_pages();
        }
    }

    fn adopt_entry(self: &Arc<Self>, entry: &Arc<Entry>, hard: Duration, opening: Opening) -> bool {
        let (key, started) =
            (SnapshotKey::of(&self.site, entry.query.uid.as_str()), Instant::now());
        let (site, uid) = (&*key.site, &*key.content_type);
        let stored = self.store.load(site, uid, self.builder()).into_iter();
        // Content from a file is read at each start.
        let is_wanted = self.content.may_change() && entry.cached().is_none();
        let is_usable = |stored: &StoredSnapshot<Snapshot>| {
            is_wanted
                && stored.key == key
                && stored.begun.elapsed() < hard
                && stored.snapshot.fits(self.listing(entry))
        };
        let (mut usable, others): (Vec<_>, Vec<_>) = stored.partition(is_usable);
        let Some(stored) = usable.pop() else {
            self.remember(entry, others, opening);
            return false;
        };
        let age = stored.begun.elapsed();
        let (urls, age_seconds) = (stored.snapshot.len(), age.as_secs());
        let files = self.sitemap_files(&stored.snapshot, None);
        let cached = CachedSnapshot::stored(stored, files);
        let member = Member { site: Arc::clone(self), entry: Arc::clone(entry) };
        let is_adopted = install(&member, cached, &Cause::Store);
        if is_adopted {
            let milliseconds = started.elapsed().as_millis();
            tracing::info!(
                site,
                uid,
                urls,
                age_seconds,
                milliseconds,
                "a snapshot is taken from the store"
            );
        }
        is_adopted
    }

    /// Compares the newest of these snapshots, which cannot be served, with the next complete one, or
    /// with that of this process: the paths that it no longer has are those of its documents. Those that
    /// both have keep their owners.
    fn remember(&self, entry: &Entry, stored: Vec<StoredSnapshot<Snapshot>>, opening: Opening) {
        let Some(last) = stored.into_iter().max_by_key(|one| one.begun) else { return };
        let Some(predecessor) = self.predecessor(last) else { return };
        if opening == Opening::First {
            self.continue_owners(&entry.query.uid, predecessor.clone());
            match entry.cached() {
                Some(_) if self.content.may_change() => entry.ask_for(Demand::Background),
                Some(_) => entry.ask_for(Demand::AtOnce),
                None => false,
            };
        }
        self.compare_with_predecessor(entry, predecessor);
    }

    /// Compares a snapshot by other settings with that of this process, or with its first complete one.
    pub(crate) fn compare_with_predecessor(&self, entry: &Entry, predecessor: Predecessor) {
        let Some(history) = &self.history else { return };
        history.compare_with_predecessor(&entry.query.uid, predecessor);
        // A first walk that has ended before has not seen it.
        if let Some(cached) = entry.cached().filter(|_| !entry.is_from_store()) {
            history.record_predecessor(&entry.query.uid, &cached.snapshot);
        }
    }

    /// Enters the paths of content types that have lost their last rule since they were stored.
    fn record_lost_types(&self) {
        for uid in self.store.types(&self.site.key) {
            if uid == PAGES && self.pages.is_none() {
                self.remove(PAGES);
            }
            let Ok(uid) = ContentTypeUid::parse(&uid) else { continue };
            let is_redirect = |redirects: &Arc<Site>| redirects.has_rule(uid.as_str());
            if self.entry(uid.as_str()).is_some()
                || self.site.redirects.as_ref().is_some_and(is_redirect)
            {
                continue;
            }
            if let Some(history) = &self.history {
                let stored = self.store.load(&self.site.key, uid.as_str(), self.builder());
                let pages = stored.into_iter().filter(|one| !one.snapshot.has_redirects());
                for before in pages.filter_map(|stored| self.predecessor(stored)) {
                    history.record_lost_type(&uid, &before);
                }
            }
            self.remove(uid.as_str());
        }
    }

    /// The site has no redirects any more.
    pub(crate) fn remove_redirects(&self, previous: &Self) {
        let uids = previous.entries().map(|entry| entry.query.uid.as_str());
        uids.filter(|uid| self.entry(uid).is_none()).for_each(|uid| self.remove(uid));
    }

    /// A content type of the site has no pages any more.
    pub(super) fn remove(&self, uid: &str) {
        if let Some(changes) = self.fleet.changes() {
            changes.removed(&self.site.key, uid);
        }
        self.store.remove(&self.site.key, uid);
    }

    /// A stored snapshot with the names of its locales; `None`: it is from another CMS.
    fn predecessor(&self, stored: StoredSnapshot<Snapshot>) -> Option<Predecessor> {
        let SnapshotKey { source, locales, .. } = stored.key;
        let is_own = source == self.site.source && stored.snapshot.has_locales(locales.count());
        let (snapshot, locales) = (Arc::new(stored.snapshot), Arc::new(locales));
        is_own.then_some(Predecessor { snapshot, locales })
    }

    /// The store continues from this snapshot of an entry, which is from it.
    pub(crate) fn continue_store(&self, entry: &Entry, cached: &CachedSnapshot) {
        let key = SnapshotKey::of(&self.site, entry.query.uid.as_str());
        self.store.adopt(&key, &cached.snapshot);
    }

    /// The change log of a fleet continues from this snapshot of an entry, which is from the store.
    pub(crate) fn loaded(&self, entry: &Entry, cached: &CachedSnapshot) {
        if let Some(changes) = self.fleet.changes() {
            let key = SnapshotKey::of(&self.site, entry.query.uid.as_str());
            changes.loaded(&key, &cached.snapshot);
        }
    }

    /// Stores the snapshot of an entry that this instance has built, and requests its publication
    /// for the others.
    pub(crate) fn save(&self, entry: &Entry, cached: &CachedSnapshot, urgency: Urgency) {
        self.store_snapshot(entry, cached, urgency);
        self.request_publication(entry, cached);
    }

    /// Requests the publication of the snapshot of an entry for other instances.
    pub(crate) fn request_publication(&self, entry: &Entry, cached: &CachedSnapshot) {
        if cached.orphaned || entry.is_orphaned() {
            return;
        }
        let uid = entry.query.uid.as_str();
        let walked = WalkedSnapshot {
            snapshot: Arc::clone(&cached.snapshot),
            begun: cached.begun,
            as_of: cached.as_of,
            took: cached.refresh_duration(),
        };
        let (key, content) = (SnapshotKey::of(&self.site, uid), content_of(&self.site));
        let request = PublishRequest { key, content, walked };
        self.fleet.request_publication(&SnapshotId::of(&self.site, uid), request);
    }

    /// Stores the snapshot of an entry.
    pub(crate) fn store_snapshot(&self, entry: &Entry, cached: &CachedSnapshot, urgency: Urgency) {
        if !cached.orphaned && !entry.is_orphaned() {
            self.store_type(entry.query.uid.as_str(), cached, urgency);
        }
    }

    /// Stores the pages outside the CMS, for the change log alone: the settings have them.
    fn save_pages(&self) {
        if let Some(pages) = &self.pages {
            self.store_type(PAGES, pages, Urgency::Now);
        }
    }

    fn store_type(&self, uid: &str, cached: &CachedSnapshot, urgency: Urgency) {
        let stored = StoredSnapshot {
            key: SnapshotKey::of(&self.site, uid),
            snapshot: Arc::clone(&cached.snapshot),
            begun: cached.begun,
            took: cached.refresh_duration(),
        };
        if let Some(changes) = self.fleet.changes() {
            changes.saved(&stored.key, &stored.snapshot, stored.begun);
        }
        self.store.save(stored, urgency);
    }

    /// Stores the snapshots, but those that are from the file: a file that was begun in place of a
    /// damaged one lacks these too.
    pub(crate) fn save_all(&self) {
        let stored = self.store.types(&self.site.key);
        let is_there =
            |entry: &Entry| entry.is_from_store() && stored.contains(entry.query.uid.as_str());
        for entry in self.entries().filter(|entry| !is_there(entry)) {
            if let Some(cached) = entry.cached() {
                self.save(entry, &cached, Urgency::Now);
            }
        }
    }
}
