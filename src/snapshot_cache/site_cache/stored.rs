//! The copies of a site in the store.

use std::sync::Arc;
use std::time::{Duration, Instant};

use xxhash_rust::xxh3::xxh3_128;

use super::SiteCache;
use super::history::Predecessor;
use crate::path_changes::LocaleNames;
use crate::snapshot::Snapshot;
use crate::snapshot_cache::copy::CachedCopy;
use crate::snapshot_cache::entry::Entry;
use crate::store::{Head, LocaleName, StoredSnapshot, Urgency};

impl SiteCache {
    /// Takes copies from the store for content types that have none, if they were built by the same rules
    /// and are within the hard limit.
    pub(in crate::snapshot_cache) fn adopt_stored(&self, hard: Duration) {
        if !self.content.may_change() {
            return;
        }
        let missing = self.entries().filter(|entry| entry.copy().is_none());
        let adopted: Vec<bool> = missing.map(|entry| self.adopt_entry(entry, hard)).collect();
        if adopted.contains(&true) {
            self.rebuild_index();
        }
    }

    fn adopt_entry(&self, entry: &Entry, hard: Duration) -> bool {
        let (head, started) = (self.head(entry), Instant::now());
        let (site, uid) = (&*head.site, &*head.content_type);
        let stored = self.store.load(site, uid, self.builder()).into_iter();
        let is_usable = |stored: &StoredSnapshot<Snapshot>| {
            stored.head == head
                && stored.begun.elapsed() < hard
                && stored.snapshot.fits(self.listing(entry))
        };
        let (mut usable, others): (Vec<_>, Vec<_>) = stored.partition(is_usable);
        let Some(stored) = usable.pop() else {
            self.remember(entry, others);
            return false;
        };
        let age = stored.begun.elapsed();
        let (urls, age_seconds) = (stored.snapshot.len(), age.as_secs());
        let files = self.sitemap_files(&stored.snapshot, None);
        let is_adopted = entry.adopt_stored(CachedCopy::stored(stored, files));
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

    /// Compares the newest of these snapshots, which cannot be served, with the next complete one: the
    /// paths that it no longer has are those of its documents.
    fn remember(&self, entry: &Entry, stored: Vec<StoredSnapshot<Snapshot>>) {
        let Some(history) = &self.history else { return };
        let same_source = stored.into_iter().filter(|one| one.head.source == self.site.source);
        let Some(last) = same_source.max_by_key(|one| one.begun) else { return };
        let locales = last.head.locales.iter().map(|own| (&*own.code, &*own.host));
        let locales = LocaleNames::from_parts(locales, last.head.several_hosts);
        let predecessor =
            Predecessor { snapshot: Arc::new(last.snapshot), locales: Arc::new(locales) };
        history.compare_with_stored(&entry.query.uid, predecessor);
    }

    /// Stores the copy of an entry.
    pub(in crate::snapshot_cache) fn save(
        &self,
        entry: &Entry,
        copy: &CachedCopy,
        urgency: Urgency,
    ) {
        if copy.orphaned || entry.is_orphaned() || !self.content.may_change() {
            return;
        }
        let stored = StoredSnapshot {
            head: self.head(entry),
            snapshot: Arc::clone(&copy.snapshot),
            begun: copy.begun,
            took: copy.refresh_duration(),
        };
        self.store.save(stored, urgency);
    }

    /// Stores the copies that walks of this process have built.
    pub(in crate::snapshot_cache) fn save_all(&self) {
        for entry in self.entries().filter(|entry| !entry.is_from_store()) {
            if let Some(copy) = entry.copy() {
                self.save(entry, &copy, Urgency::Now);
            }
        }
    }

    fn head(&self, entry: &Entry) -> Head {
        let (site, hosts) = (&self.site, &self.site.hosts);
        let locale = |(at, code): (usize, &crate::rules::Locale)| LocaleName {
            code: code.as_str().to_owned(),
            host: hosts.base(at).map_or("", |base| base.host()).to_owned(),
        };
        // Another version of the service may build other URLs by the same rules.
        let made_by = format!("{} {:032x}", env!("CARGO_PKG_VERSION"), site.fingerprint);
        Head {
            site: site.key.clone(),
            content_type: entry.query.uid.as_str().to_owned(),
            fingerprint: xxh3_128(made_by.as_bytes()),
            source: site.source,
            locales: self.locales().iter().enumerate().map(locale).collect(),
            several_hosts: hosts.are_several(),
        }
    }
}
