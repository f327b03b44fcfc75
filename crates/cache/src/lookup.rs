//! What requests get from the snapshot cache: a cached snapshot, a new one, or what is known now.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::{join, try_join_all};
use tokio::time::timeout;

use crate::SnapshotCache;
use crate::cached_snapshot::{CacheStatus, CachedSnapshot, KnownSnapshot, Served};
use crate::entry::{Demand, Entry, Event, Lookup};
use crate::refresh::{self, Member, Started, TypeGroup};
use crate::site_cache::Sources;
use frontend_map_catalog::moved::entries::{RedirectEntries, RedirectWorld};
use frontend_map_catalog::site::{PAGES, Site};
use frontend_map_cms::ContentError;
use frontend_map_rules::ContentTypeUid;

/// The shortest time from a failed walk to the next one that requests start without waiting for it.
const WALK_PAUSE: Duration = Duration::from_secs(5);

impl SnapshotCache {
    /// All public URLs of a content type: the cached snapshot, or else a new one.
    ///
    /// # Errors
    /// [`ContentError`] of the CMS while there is no snapshot within its hard limit, or when the
    /// deadline for the request runs out; the refresh goes on then.
    ///
    /// # Panics
    /// If the site has no rule for the content type.
    pub async fn get(&self, site: &Site, uid: &str) -> Result<Served, ContentError> {
        let (_, entry) = self.entry(site, uid);
        if let Some((cached, failing)) = self.look_up(entry) {
            let ttl = seconds(self.freshness().soft) - seconds(cached.begun.elapsed());
            return Ok(self.served(cached, CacheStatus::Hit { ttl, failing }));
        }
        if let Some(error) = self.circuit_open(entry) {
            self.postpone_refresh(entry);
            return Err(error);
        }
        // A snapshot may have come after the first look. As a follower, a refresh would wait for the
        // next publication, which may be an hour away.
        let Started { waiter, collapsed } = self.start_missing(entry);
        let outcome = timeout(self.settings.refresh_deadline, waiter.outcome()).await;
        let cached = outcome.unwrap_or(Err(ContentError::TimedOut))?;
        Ok(self.served(cached, CacheStatus::Miss { collapsed }))
    }

    /// The public URLs of a content type that sitemaps list, as [`SnapshotCache::get`]: without those that
    /// a redirect with `force` hides.
    ///
    /// # Errors
    /// As [`SnapshotCache::get`].
    ///
    /// # Panics
    /// As [`SnapshotCache::get`].
    pub async fn get_listed(&self, site: &Site, uid: &str) -> Result<Served, ContentError> {
        let Some(redirects) = &site.redirects else { return self.get(site, uid).await };
        let (served, ()) = join(self.get(site, uid), self.wait_for_redirects(redirects)).await;
        let served = served?;
        Ok(Served { cached: self.without_hidden(site, uid, served.cached).await, ..served })
    }

    /// The pages of a site outside the CMS that sitemaps list, if it has any, as
    /// [`SnapshotCache::get_listed`].
    pub async fn get_listed_pages(&self, site: &Site) -> Option<CachedSnapshot> {
        let pages = self.pages(site)?.clone();
        let Some(redirects) = &site.redirects else { return Some(pages) };
        self.wait_for_redirects(redirects).await;
        Some(self.without_hidden(site, PAGES, pages).await)
    }

    /// A snapshot of the site without the pages that a redirect with `force` hides, as far as its
    /// redirects are known.
    pub async fn without_hidden(
        &self,
        site: &Site,
        group: &str,
        cached: CachedSnapshot,
    ) -> CachedSnapshot {
        let Some(redirects) = &site.redirects else { return cached };
        let cell = self.sites.get(&site.key).and_then(|cache| cache.hidden.get(group));
        let states = (cell, self.path_index(site), self.path_index(redirects));
        let (Some(cell), Some(documents), Some(redirects)) = states else { return cached };
        let sources = Sources::new(&cached, &documents, &redirects);
        let world = RedirectWorld {
            site,
            index: &documents.index,
            entries: RedirectEntries { index: &redirects.index },
            history: self.history(site),
            // The status does not decide whether a page is hidden.
            status: 308,
        };
        cell.without_hidden(cached, sources, &world).await
    }

    /// Waits for the first walk of the redirects of a site. If that has failed, nothing is waited for: what
    /// is not known hides no page, as in `/api/resolve`.
    async fn wait_for_redirects(&self, redirects: &Site) {
        for uid in redirects.rules.content_types() {
            let (_, entry) = self.entry(redirects, uid.as_str());
            if self.look_up(entry).is_some() {
                continue;
            }
            if entry.failed().is_some() {
                self.start_walk(redirects, uid.as_str());
            } else {
                // The walk records its failure.
                let _ = self.get(redirects, uid.as_str()).await;
            }
        }
    }

    /// The snapshot that is known now, without waiting, unless it is too old to be served. As
    /// [`SnapshotCache::get`] does, it asks for a refresh where one is due; it starts no first walk.
    ///
    /// # Panics
    /// As [`SnapshotCache::get`].
    pub fn known(&self, site: &Site, uid: &str) -> Option<KnownSnapshot> {
        let (_, entry) = self.entry(site, uid);
        let (cached, _) = self.look_up(entry)?;
        let is_failing = entry.failed().is_some() || self.circuit_open(entry).is_some();
        Some(KnownSnapshot { age: self.age(&cached), cached, is_failing })
    }

    /// The snapshot of a content type, however old it is, without a request for a refresh.
    ///
    /// # Panics
    /// As [`SnapshotCache::get`].
    pub fn present_snapshot(&self, site: &Site, uid: &str) -> Option<CachedSnapshot> {
        self.entry(site, uid).1.cached()
    }

    /// Starts a refresh of a content type without a usable snapshot, for which no request waits.
    /// Another one follows a failed one after a pause, however many requests there are.
    ///
    /// # Panics
    /// As [`SnapshotCache::get`].
    pub fn start_walk(&self, site: &Site, uid: &str) {
        let (_, entry) = self.entry(site, uid);
        if self.circuit_open(entry).is_some() {
            self.postpone_refresh(entry);
        } else if !entry.failed_within(WALK_PAUSE) {
            drop(self.start_missing(entry));
        }
    }

    /// The list of each content type of a site that sitemaps list, in the order of the settings.
    ///
    /// # Errors
    /// As [`SnapshotCache::get_listed`], if there is none for one of them.
    pub async fn get_all_listed<'s>(
        &self,
        site: &'s Site,
    ) -> Result<Vec<(&'s ContentTypeUid, Served)>, ContentError> {
        let mut types = site.rules.content_types();
        types.retain(|uid| site.rules.lists(uid.as_str()));
        let lists = types.iter().map(|uid| self.get_listed(site, uid.as_str()));
        let lists = try_join_all(lists).await?;
        Ok(types.into_iter().zip(lists).collect())
    }

    /// A snapshot for each of these content types of a site.
    ///
    /// # Errors
    /// As [`SnapshotCache::get`], if there is none for one of them.
    pub async fn get_each<'s>(
        &self,
        site: &Site,
        types: Vec<&'s ContentTypeUid>,
    ) -> Result<Vec<(&'s ContentTypeUid, Served)>, ContentError> {
        let cached_snapshots = types.iter().map(|uid| self.get(site, uid.as_str()));
        Ok(types.iter().copied().zip(try_join_all(cached_snapshots).await?).collect())
    }

    /// A new snapshot for this site alone, without a deadline.
    ///
    /// # Errors
    /// [`ContentError`] of the CMS.
    ///
    /// # Panics
    /// As [`SnapshotCache::get`].
    pub async fn refresh(&self, site: &Site, uid: &str) -> Result<CachedSnapshot, ContentError> {
        let (site, entry) = self.entry(site, uid);
        let alone =
            TypeGroup::new(vec![Member { site: Arc::clone(site), entry: Arc::clone(entry) }]);
        refresh::start(&alone, entry, &self.triggers, None, None).waiter.outcome().await
    }

    /// New snapshots of a content type for each site that lists it, from one walk, without a
    /// deadline. Each has the key of its site.
    ///
    /// # Errors
    /// [`ContentError`] of the CMS, if there is no new snapshot for one of them.
    pub async fn refresh_for_all_sites(
        &self,
        uid: &str,
    ) -> Result<Vec<(String, CachedSnapshot)>, ContentError> {
        let Some(group) = self.groups.get(uid) else { return Ok(Vec::new()) };
        let waiters = refresh::start_all(group, &self.triggers).into_iter();
        // With an async closure here, incremental builds end with an internal error of rustc 1.95.
        let cached_snapshots = waiters.map(|(site, waiter)| async move {
            Ok((site.site.key.clone(), waiter.outcome().await?))
        });
        try_join_all(cached_snapshots).await
    }

    /// How many documents the refresh in flight, or the last one, has seen.
    ///
    /// # Panics
    /// As [`SnapshotCache::get`].
    pub fn documents_seen(&self, site: &Site, uid: &str) -> u64 {
        self.entry(site, uid).1.seen.load(Ordering::Relaxed)
    }

    /// The snapshot for a request, if it may be served, and whether the last refresh failed. Asks
    /// for a refresh where one is due.
    fn look_up(&self, entry: &Entry) -> Option<(CachedSnapshot, bool)> {
        entry.record_request();
        let Lookup::Found { cached, due, mut failing } = entry.look_up(self.freshness()) else {
            return None;
        };
        if due && self.circuit_open(entry).is_some() {
            failing = true;
            self.postpone_refresh(entry);
        } else if due && self.content.may_change() && entry.ask_for(Demand::Background) {
            self.triggers.wake_refresher();
        }
        Some((cached, failing))
    }

    /// Why no walk may start now. Another instance may reach the CMS although this one does not.
    fn circuit_open(&self, entry: &Entry) -> Option<ContentError> {
        let is_followed = self.group(entry).shared.follows();
        if is_followed { None } else { self.content.circuit_open() }
    }

    fn served(&self, cached: CachedSnapshot, status: CacheStatus) -> Served {
        let age = self.age(&cached);
        Served { cached, status, age }
    }

    /// Content that cannot change is never stale.
    fn age(&self, cached: &CachedSnapshot) -> Duration {
        if self.content.may_change() { cached.begun.elapsed() } else { Duration::ZERO }
    }

    /// Leaves a refresh to the refresher, which starts it when the CMS has recovered.
    fn postpone_refresh(&self, entry: &Entry) {
        entry.apply(Event::NotStarted);
        self.triggers.wake_refresher();
    }
}

fn seconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).expect("no limit or age is longer than 292 billion years")
}
