//! The snapshot cache: a copy of the public URLs of each content type of each site, refreshed in the
//! background, and built once however many requests wait for it.

mod copy;
mod document_cache;
mod entry;
mod file_cache;
mod flight;
mod incremental_update;
mod invalidation;
mod path_index;
mod refresh;
mod refresher;
mod site_cache;
mod sitemap_files;
mod status;
mod triggers;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::try_join_all;
use tokio::time::timeout;

pub use copy::{CacheStatus, CachedCopy, Knowledge, KnownCopy, Served};
pub use document_cache::{DocumentCache, DocumentLimits, FoundDocument, LastGoodDocuments};
pub use entry::Freshness;
pub use file_cache::FileCache;
pub use incremental_update::apply_invalidations;
pub use invalidation::{Change, Invalidation};
use path_index::AgeLimits;
pub use path_index::PathIndexState;
use refresher::Pace;
pub use refresher::keep_fresh;
pub use sitemap_files::SitemapFiles;
pub use status::TypeStatus;
pub use triggers::RefreshTriggers;

use crate::content::{BreakerState, Content, ContentError};
use crate::metrics::Metrics;
use crate::rules::ContentTypeUid;
use crate::site::{Site, Sites};
use entry::{Entry, Lookup};
use refresh::{Started, TypeGroup};
use site_cache::SiteCache;

/// The shortest time from a failed walk to the next one that requests start without waiting for it.
const WALK_PAUSE: Duration = Duration::from_secs(5);

/// The cached copies of all sites behind one content source.
pub struct SnapshotCache {
    sites: HashMap<String, Arc<SiteCache>>,
    /// The same entries by content type.
    groups: HashMap<ContentTypeUid, Arc<TypeGroup>>,
    content: Arc<Content>,
    settings: Settings,
    triggers: Arc<RefreshTriggers>,
    pace: Pace,
}

/// Age limits of copies, and deadlines of requests.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The age limits of copies.
    pub freshness: Freshness,
    /// How long a request waits for a refresh.
    pub refresh_deadline: Duration,
}

impl SnapshotCache {
    /// A cache of these sites. A site of `previous` with the same fingerprint keeps what is cached
    /// for it; any other site starts empty.
    #[must_use]
    pub fn new(
        sites: &Sites,
        content: Arc<Content>,
        settings: Settings,
        (metrics, triggers): (&Metrics, Arc<RefreshTriggers>),
        previous: Option<&Self>,
    ) -> Self {
        let cache = |site: &Arc<Site>| match previous.and_then(|previous| previous.same(site)) {
            Some(same) if Arc::ptr_eq(&same.content, &content) => Arc::clone(same),
            Some(same) => Arc::new(SiteCache::adopting(same, Arc::clone(&content))),
            None => Arc::new(SiteCache::new(Arc::clone(site), Arc::clone(&content), metrics)),
        };
        let sites: Vec<Arc<SiteCache>> = sites.iter_shared().map(cache).collect();
        let groups = TypeGroup::of_sites(&sites);
        let sites = sites.into_iter().map(|cache| (cache.site.key.clone(), cache)).collect();
        let freshness = settings.freshness;
        let freshness = if content.may_change() { freshness } else { freshness.for_ever() };
        let settings = Settings { freshness, ..settings };
        let cache = Self { sites, groups, content, settings, triggers, pace: Pace::default() };
        cache.update_pace();
        cache
    }

    /// The cache of a site with the same fingerprint.
    fn same(&self, site: &Site) -> Option<&Arc<SiteCache>> {
        let cache = self.sites.get(&site.key)?;
        (cache.site.fingerprint == site.fingerprint).then_some(cache)
    }

    /// Puts this cache in use in place of `previous`. Entries of `previous` that it does not share
    /// are orphaned.
    pub fn take_over_from(&self, previous: &Self) {
        let shared = |site: &&Arc<SiteCache>| {
            self.sites.get(&site.site.key).is_some_and(|own| Arc::ptr_eq(own, site))
        };
        for site in previous.sites.values().filter(|site| !shared(site)) {
            site.entries().for_each(|entry| entry.orphan());
        }
        self.triggers.wake_refresher();
    }

    /// The content source.
    #[must_use]
    pub fn content(&self) -> &Arc<Content> {
        &self.content
    }

    /// Whether requests to the CMS are let through; `None` without a CMS.
    #[must_use]
    pub fn breaker_state(&self) -> Option<BreakerState> {
        self.content.breaker_state()
    }

    /// All public URLs of a content type: the cached copy, or else a new one.
    ///
    /// # Errors
    /// [`ContentError`] of the CMS while there is no copy within its hard limit, or when the
    /// deadline for the request runs out; the refresh goes on then.
    ///
    /// # Panics
    /// If the site has no rule for the content type.
    pub async fn get(&self, site: &Site, uid: &str) -> Result<Served, ContentError> {
        let (_, entry) = self.entry(site, uid);
        if let Some((copy, failing)) = self.look_up(entry) {
            let ttl = seconds(self.freshness().soft) - seconds(copy.begun.elapsed());
            return Ok(self.served(copy, CacheStatus::Hit { ttl, failing }));
        }
        if let Some(error) = self.content.circuit_open() {
            self.postpone_refresh(entry);
            return Err(error);
        }
        let Started { waiter, collapsed } = self.start_refresh(entry);
        let outcome = timeout(self.settings.refresh_deadline, waiter.outcome()).await;
        let copy = outcome.unwrap_or(Err(ContentError::TimedOut))?;
        Ok(self.served(copy, CacheStatus::Miss { collapsed }))
    }

    /// What is known of a content type now, without waiting. As [`SnapshotCache::get`] does, it asks
    /// for a refresh where one is due; it starts no first walk.
    ///
    /// # Panics
    /// As [`SnapshotCache::get`].
    #[must_use]
    pub fn knowledge(&self, site: &Site, uid: &str) -> Knowledge {
        let (_, entry) = self.entry(site, uid);
        let found = self.look_up(entry);
        let is_usable = found.is_some();
        let copy = found.map(|(copy, _)| copy).or_else(|| entry.copy());
        let Some(copy) = copy else { return Knowledge::Unknown };
        let known = KnownCopy { age: self.age(&copy), copy };
        match known.age {
            _ if !is_usable => Knowledge::Expired(known),
            age if age > self.pace.stale_limit() => Knowledge::Stale(known),
            _ => Knowledge::Fresh(known),
        }
    }

    /// Starts a refresh of a content type without a usable copy, for which no request waits. Another
    /// one follows a failed one after a pause, however many requests there are.
    ///
    /// # Panics
    /// As [`SnapshotCache::get`].
    pub fn start_walk(&self, site: &Site, uid: &str) {
        let (_, entry) = self.entry(site, uid);
        if self.content.circuit_open().is_some() {
            self.postpone_refresh(entry);
        } else if !entry.failed_within(WALK_PAUSE) {
            drop(self.start_refresh(entry));
        }
    }

    /// A copy for each content type of a site that sitemaps list, in the order of the settings.
    ///
    /// # Errors
    /// As [`SnapshotCache::get`], if there is none for one of them.
    pub async fn get_listed<'s>(
        &self,
        site: &'s Site,
    ) -> Result<Vec<(&'s ContentTypeUid, Served)>, ContentError> {
        let mut types = site.rules.content_types();
        types.retain(|uid| site.rules.lists(uid.as_str()));
        self.get_each(site, types).await
    }

    /// A copy for each of these content types of a site.
    ///
    /// # Errors
    /// As [`SnapshotCache::get`], if there is none for one of them.
    pub async fn get_each<'s>(
        &self,
        site: &Site,
        types: Vec<&'s ContentTypeUid>,
    ) -> Result<Vec<(&'s ContentTypeUid, Served)>, ContentError> {
        let copies = types.iter().map(|uid| self.get(site, uid.as_str()));
        Ok(types.iter().copied().zip(try_join_all(copies).await?).collect())
    }

    /// A new copy for this site alone, without a deadline.
    ///
    /// # Errors
    /// [`ContentError`] of the CMS.
    ///
    /// # Panics
    /// As [`SnapshotCache::get`].
    pub async fn refresh(&self, site: &Site, uid: &str) -> Result<CachedCopy, ContentError> {
        let (site, entry) = self.entry(site, uid);
        let alone = TypeGroup::new(vec![(Arc::clone(site), Arc::clone(entry))]);
        refresh::start(&alone, entry, &self.triggers).waiter.outcome().await
    }

    /// How many documents the refresh in flight, or the last one, has seen.
    ///
    /// # Panics
    /// As [`SnapshotCache::get`].
    #[must_use]
    pub fn documents_seen(&self, site: &Site, uid: &str) -> u64 {
        self.entry(site, uid).1.seen.load(Ordering::Relaxed)
    }

    /// Records that a document may have changed in the CMS; `None`: any document.
    pub fn invalidate(&self, invalidation: Option<Invalidation>) {
        self.triggers.invalidations.add(invalidation);
    }

    /// Records that a webhook event has been accepted, whatever it says (D35).
    pub fn record_event(&self) {
        self.triggers.record_event();
    }

    /// Records that a document was unpublished or deleted in the CMS: a list may lose entries.
    pub fn record_withdrawal(&self) {
        self.triggers.record_withdrawal();
    }

    /// The path index of a site; `None` for one that resolves by rules alone.
    #[must_use]
    pub fn path_index(&self, site: &Site) -> Option<PathIndexState> {
        let limits =
            AgeLimits { stale: self.pace.stale_limit(), hard: self.settings.freshness.hard };
        let cache = self.sites.get(&site.key)?;
        Some(cache.index.as_ref()?.state(&cache.site.rules, limits))
    }

    /// Whether a service that has been running for this long still waits for the first walks of
    /// content types whose documents decide about paths (D33).
    #[must_use]
    pub fn is_starting(&self, running_for: Duration) -> bool {
        let Freshness { at_start, ready, .. } = self.settings.freshness;
        let is_awaited = |(site, entry): (&Arc<SiteCache>, &Arc<Entry>)| {
            site.index.is_some() && entry.copy().is_none()
        };
        at_start && running_for < ready && self.entries().any(is_awaited)
    }

    /// The age from which copies are refreshed at present (D35).
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.pace.interval()
    }

    /// The statuses of all content types of a site, in the order of the settings.
    pub fn statuses<'a>(&'a self, site: &'a Site) -> impl Iterator<Item = TypeStatus<'a>> {
        site.rules.content_types().into_iter().map(|uid| {
            let (_, entry) = self.entry(site, uid.as_str());
            TypeStatus::of(site, entry, self.freshness())
        })
    }

    fn entry(&self, site: &Site, uid: &str) -> (&Arc<SiteCache>, &Arc<Entry>) {
        let site = self.sites.get(&site.key).expect("each site of the settings has a cache");
        (site, site.entry(uid).expect("callers check that the site has a rule for the type"))
    }

    /// Joins the refresh of an entry in flight, or starts one at once, of all sites with this content
    /// type.
    fn start_refresh(&self, entry: &Arc<Entry>) -> Started {
        refresh::start(self.group(entry), entry, &self.triggers)
    }

    fn group(&self, entry: &Entry) -> &Arc<TypeGroup> {
        &self.groups[&entry.query.uid]
    }

    /// The age limits of copies at present.
    fn freshness(&self) -> Freshness {
        Freshness { soft: self.pace.interval(), ..self.settings.freshness }
    }

    fn update_pace(&self) {
        self.pace.update(self.settings.freshness, self.groups.values(), &self.triggers);
    }

    fn entries(&self) -> impl Iterator<Item = (&Arc<SiteCache>, &Arc<Entry>)> {
        self.sites.values().flat_map(|site| site.entries().map(move |entry| (site, entry)))
    }

    /// The copy for a request, if it may be served, and whether the last refresh failed. Asks for a
    /// refresh where one is due.
    fn look_up(&self, entry: &Entry) -> Option<(CachedCopy, bool)> {
        entry.record_request();
        let Lookup::Copy { copy, due, mut failing } = entry.look_up(self.freshness()) else {
            return None;
        };
        if due && self.content.circuit_open().is_some() {
            failing = true;
            self.postpone_refresh(entry);
        } else if due && self.content.may_change() && entry.want_refresh() {
            self.triggers.wake_refresher();
        }
        Some((copy, failing))
    }

    fn served(&self, copy: CachedCopy, status: CacheStatus) -> Served {
        let age = self.age(&copy);
        Served { copy, status, age }
    }

    /// Content that cannot change is never stale.
    fn age(&self, copy: &CachedCopy) -> Duration {
        if self.content.may_change() { copy.begun.elapsed() } else { Duration::ZERO }
    }

    /// Leaves a refresh to the refresher, which starts it when the CMS has recovered.
    fn postpone_refresh(&self, entry: &Entry) {
        entry.mark_failed();
        self.triggers.wake_refresher();
    }
}

fn seconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).expect("no limit or age is longer than 292 billion years")
}
