//! The cache of all sites: what requests read, and what a reload takes over.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::refresher::RefreshInterval;

use crate::cached_snapshot::CachedSnapshot;
use crate::entry::Entry;
use crate::invalidation::Invalidation;
use crate::refresh::{self, Started, TypeGroup};
use crate::settings::{Freshness, ProcessState, Settings};
use crate::site_cache::{AgeLimits, Backends, Opening, PathIndexState, SiteCache};
use crate::status::TypeStatus;
use crate::triggers::{BackgroundWalks, RefreshTriggers};
use frontend_map_catalog::moved::redirects::SiteHistory;
use frontend_map_catalog::site::{PAGES, Site, Sites};
use frontend_map_cms::Content;
use frontend_map_fleet::{Fleet, SnapshotId};
use frontend_map_rules::{ContentTypeUid, FieldPath, Pathname};
use frontend_map_store::Store;

/// The cached snapshots of all sites behind one content source.
pub struct SnapshotCache {
    pub(crate) sites: HashMap<String, Arc<SiteCache>>,
    /// The redirects of the sites that have content types for them.
    redirects: HashMap<String, Arc<SiteCache>>,
    /// The entries of all sites, by content type.
    pub(crate) groups: HashMap<ContentTypeUid, Arc<TypeGroup>>,
    pub(crate) content: Arc<Content>,
    pub(crate) settings: Settings,
    pub(crate) triggers: Arc<RefreshTriggers>,
    pub(crate) store: Arc<Store>,
    /// Whether the file of the store had been opened before this cache was built, which has read it then.
    has_read_store: bool,
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) interval: RefreshInterval,
}

/// Takes snapshots from the store and stores the others whenever its file has been opened, as after
/// another process has released it. Works on the current cache until it is dropped.
pub async fn follow_store(current: impl Fn() -> Arc<SnapshotCache>) {
    let Some(mut openings) = current().store.watch_openings() else { return };
    while openings.changed().await.is_ok() {
        let cache = current();
        let is_first = *openings.borrow_and_update() == 1 && !cache.has_read_store;
        let opening = if is_first { Opening::First } else { Opening::Later };
        tokio::task::block_in_place(|| cache.use_store(opening));
    }
}

impl SnapshotCache {
    /// A cache of these sites. A site of `previous` with the same fingerprint keeps what is cached
    /// for it; any other site starts with the snapshots that the store has for it.
    pub fn new(
        sites: &Sites,
        content: Arc<Content>,
        settings: Settings,
        ProcessState { metrics, triggers, store, history, fleet }: ProcessState<'_>,
        previous: Option<&Self>,
    ) -> Self {
        let backends = Backends { store, history, fleet };
        for site in sites.iter() {
            let types = site.all_content_types().map(ContentTypeUid::as_str);
            let pages = (!site.pages.is_empty()).then_some(PAGES);
            let types: Vec<String> = types.chain(pages).map(str::to_owned).collect();
            fleet.set_site(site, &types);
            store.set_types(&site.key, types);
        }
        fleet.set_deployment(sites);
        let has_read_store = store.watch_openings().is_some_and(|openings| *openings.borrow() > 0);
        let cache = |site: &Arc<Site>| {
            let content = Arc::clone(&content);
            match previous.and_then(|previous| previous.same(site)) {
                Some(same) if Arc::ptr_eq(&same.content, &content) => Arc::clone(same),
                Some(same) => Arc::new(SiteCache::adopting(same, content, backends)),
                None => {
                    let cache = SiteCache::new(Arc::clone(site), content, metrics, backends);
                    let cache = Arc::new(cache);
                    cache.adopt_stored(settings.freshness.hard, Opening::First);
                    cache
                }
            }
        };
        let redirects = sites.iter().filter_map(|site| site.redirects.as_ref());
        let all: Vec<Arc<SiteCache>> = sites.iter().chain(redirects).map(cache).collect();
        let groups = TypeGroup::of_sites(&all, fleet);
        let by_key = all.into_iter().map(|cache| (cache.site.key.clone(), cache));
        let (redirects, sites) = by_key.partition(|(_, cache)| cache.site.has_redirects_alone());
        let freshness = settings.freshness;
        let freshness = if content.may_change() { freshness } else { freshness.for_ever() };
        let settings = Settings { freshness, ..settings };
        let cache = Self {
            sites,
            redirects,
            groups,
            content,
            settings,
            triggers,
            store: Arc::clone(store),
            has_read_store,
            fleet: Arc::clone(fleet),
            interval: RefreshInterval::default(),
        };
        if let Some(previous) = previous {
            cache.replace(previous);
        }
        cache.update_interval();
        if previous.is_none() {
            cache.triggers.named.expect_events(settings.expects_events);
        }
        cache
    }

    /// The cache of a site with the same fingerprint.
    fn same(&self, site: &Site) -> Option<&Arc<SiteCache>> {
        let cache = self.cache_of(site)?;
        (cache.site.fingerprint == site.fingerprint).then_some(cache)
    }

    /// Puts this cache in use in place of `previous`. Entries of `previous` that it does not share
    /// are orphaned.
    pub fn take_over_from(&self, previous: &Self) {
        self.triggers.named.expect_events(self.settings.expects_events);
        let shared = |site: &&Arc<SiteCache>| {
            self.cache_of(&site.site).is_some_and(|cache| Arc::ptr_eq(cache, site))
        };
        for site in previous.caches().filter(|site| !shared(site)) {
            site.entries().for_each(|entry| entry.orphan());
        }
        // Again: they may have changed since this cache was built.
        self.replace(previous);
        self.triggers.wake_refresher();
    }

    /// The last snapshots of sites whose caches this one does not share are compared with the first
    /// complete ones here. Until then nothing is known of their paths, from the first request on.
    fn replace(&self, previous: &Self) {
        for site in previous.caches() {
            let successor = self.cache_of(&site.site);
            if successor.is_none()
                && let Some(cache) = self.sites.get(&site.site.key)
            {
                cache.remove_redirects(site);
            }
            if let Some(successor) = successor.filter(|cache| !Arc::ptr_eq(cache, site)) {
                successor.replace(site);
            }
        }
    }

    /// The store has been opened: takes the snapshots from it that are missing here, and stores the
    /// others.
    fn use_store(&self, opening: Opening) {
        for site in self.caches() {
            site.adopt_stored(self.settings.freshness.hard, opening);
            site.save_all();
        }
        self.triggers.wake_refresher();
    }

    /// The content source.
    pub fn content(&self) -> &Arc<Content> {
        &self.content
    }

    /// Records that a document may have changed in the CMS; `None`: any document.
    pub fn invalidate(&self, invalidation: Option<Invalidation>) {
        self.expect_responses(invalidation.as_ref().map(|named| &*named.uid));
        self.triggers.invalidations.add(invalidation);
    }

    /// The path index of a site; `None` for one that resolves by rules alone. Content that cannot change
    /// has the age zero.
    pub fn path_index(&self, site: &Site) -> Option<PathIndexState> {
        let limits =
            AgeLimits { stale: self.interval.stale_limit(), hard: self.settings.freshness.hard };
        let cache = self.cache_of(site)?;
        let mut state = cache.index.as_ref()?.state(&cache.site.rules, limits);
        if !self.content.may_change() {
            state.age = Duration::ZERO;
        }
        Some(state)
    }

    /// The content type that a relation leads to, as far as responses, events or the schema have shown
    /// it.
    pub async fn target(
        &self,
        uid: &ContentTypeUid,
        relation: &FieldPath,
    ) -> Option<ContentTypeUid> {
        let known = self.triggers.targets.lock().target(uid, relation).map(str::to_owned);
        if let Some(known) = known.and_then(|known| ContentTypeUid::parse(&known).ok()) {
            return Some(known);
        }
        let target = self.content.target(uid, relation).await?;
        self.triggers.targets.lock().record_target(uid, relation, target.as_str());
        Some(target)
    }

    /// The path history of a site; `None` for one that resolves by rules alone.
    pub fn history(&self, site: &Site) -> Option<SiteHistory<'_>> {
        Some(self.sites.get(&site.key)?.history.as_ref()?.reader())
    }

    /// The content type of which a document had this path, on any host, by the settings before the
    /// present ones, and that has no complete snapshot by these yet: where the document is now is not
    /// known.
    pub fn type_that_had(
        &self,
        site: &Site,
        pathname: &Pathname<'_>,
        host: Option<usize>,
    ) -> Option<ContentTypeUid> {
        self.sites.get(&site.key)?.history.as_ref()?.type_that_had(site, pathname, host)
    }

    /// The pages of a site outside the CMS, if it has any: they depend on the settings alone.
    pub fn pages(&self, site: &Site) -> Option<&CachedSnapshot> {
        self.sites.get(&site.key)?.pages.as_ref()
    }

    /// Whether a service that has been running for this long still waits for the first walks of
    /// content types whose documents decide about paths (D33).
    pub fn is_starting(&self, running_for: Duration) -> bool {
        let Freshness { at_start, ready, .. } = self.settings.freshness;
        let is_awaited = |(site, entry): (&Arc<SiteCache>, &Arc<Entry>)| {
            site.index.is_some() && entry.cached().is_none()
        };
        at_start && running_for < ready && self.entries().any(is_awaited)
    }

    /// The age from which snapshots are refreshed at present (D35).
    pub fn interval(&self) -> Duration {
        self.interval.current()
    }

    /// The statuses of all content types of a site, in the order of the settings.
    pub fn statuses<'a>(&'a self, site: &'a Site) -> impl Iterator<Item = TypeStatus<'a>> {
        site.rules.content_types().into_iter().map(|uid| {
            let (_, entry) = self.entry(site, uid.as_str());
            let shared = self.fleet.snapshot_status(&SnapshotId::of(site, uid.as_str()));
            TypeStatus::of(site, entry, self.freshness(), shared)
        })
    }

    fn caches(&self) -> impl Iterator<Item = &Arc<SiteCache>> {
        self.sites.values().chain(self.redirects.values())
    }

    /// The cache of a site, or of the redirects of one.
    fn cache_of(&self, site: &Site) -> Option<&Arc<SiteCache>> {
        let caches = if site.has_redirects_alone() { &self.redirects } else { &self.sites };
        caches.get(&site.key)
    }

    pub(crate) fn entry(&self, site: &Site, uid: &str) -> (&Arc<SiteCache>, &Arc<Entry>) {
        let site = self.cache_of(site).expect("each site of the settings has a cache");
        (site, site.entry(uid).expect("callers check that the site has a rule for the type"))
    }

    /// Joins the refresh of an entry in flight, or starts one at once, of all sites with this content
    /// type.
    pub(crate) fn start_refresh(&self, entry: &Arc<Entry>) -> Started {
        refresh::start(self.group(entry), entry, &self.triggers, None, None)
    }

    /// As `start_refresh`, unless there is a usable snapshot by now.
    pub(crate) fn start_missing(&self, entry: &Arc<Entry>) -> Started {
        let unless = Some(self.freshness());
        refresh::start(self.group(entry), entry, &self.triggers, unless, None)
    }

    pub(crate) fn group(&self, entry: &Entry) -> &Arc<TypeGroup> {
        &self.groups[&entry.query.uid]
    }

    /// The age limits of snapshots at present.
    pub(crate) fn freshness(&self) -> Freshness {
        Freshness { soft: self.interval.current(), ..self.settings.freshness }
    }

    pub(crate) fn update_interval(&self) {
        let cms_share = BackgroundWalks::part_of_walks(self.cms_share());
        let freshness = Freshness { cms_share, ..self.settings.freshness };
        self.interval.update(freshness, self.groups.values(), self.since_event());
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = (&Arc<SiteCache>, &Arc<Entry>)> {
        self.caches().flat_map(|site| site.entries().map(move |entry| (site, entry)))
    }
}
