//! The cache entries of one site, and what their snapshots are built from: rules, content source,
//! the frame of sitemap files.

mod hidden;
mod history;
mod owners;
mod path_index;
mod stored;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::cached_snapshot::{CachedSnapshot, SitemapFiles};
use crate::entry::Entry;
use frontend_map_catalog::changes::difference::LocaleNames;
use frontend_map_catalog::moved::history::PathHistory;
use frontend_map_catalog::site::{PAGES, ResolveBy, Site};
use frontend_map_catalog::sitemap::files::Frame;
use frontend_map_catalog::snapshot::{Builder, Listing, Snapshot};
use frontend_map_cms::{Content, ContentQuery, Projection};
use frontend_map_fleet::Fleet;
use frontend_map_platform::metrics::Metrics;
use frontend_map_rules::{ContentTypeUid, Locale};
use frontend_map_store::Store;
pub(super) use hidden::{HiddenUrlsCache, Sources};
use history::HistoryWriter;
pub(super) use history::Predecessor;
pub(super) use path_index::AgeLimits;
use path_index::PathIndexCell;
pub use path_index::PathIndexState;
pub(super) use stored::Opening;

/// The cache of one site. It survives a reload that changes neither the site nor the content
/// source, so all snapshots in it were built by the same rules.
pub(super) struct SiteCache {
    pub(super) site: Arc<Site>,
    pub(super) content: Arc<Content>,
    store: Arc<Store>,
    fleet: Arc<Fleet>,
    entries: HashMap<ContentTypeUid, Arc<Entry>>,
    /// For a site with `resolve = "documents"`.
    pub(super) index: Option<PathIndexCell>,
    /// For each host with a base URL.
    frames: Vec<Arc<Frame>>,
    /// The pages outside the CMS with their files, if there are any.
    pub(super) pages: Option<CachedSnapshot>,
    /// The pages that redirects hide, by content type; empty without redirects.
    pub(super) hidden: Arc<HashMap<String, HiddenUrlsCache>>,
    /// For a site with `resolve = "documents"`. Redirects have none.
    pub(super) history: Option<HistoryWriter>,
    /// The last snapshots of content types by other settings, or by another process, until the next
    /// snapshot here: the owners of paths keep them (D22).
    owners_before: Mutex<HashMap<ContentTypeUid, Predecessor>>,
}

/// What the caches of all sites write to and read from.
#[derive(Clone, Copy)]
pub(super) struct Backends<'b> {
    pub(super) store: &'b Arc<Store>,
    pub(super) history: &'b Arc<PathHistory>,
    pub(super) fleet: &'b Arc<Fleet>,
}

impl SiteCache {
    /// An empty cache.
    pub(super) fn new(
        site: Arc<Site>,
        content: Arc<Content>,
        metrics: &Metrics,
        backends: Backends<'_>,
    ) -> Self {
        let entry = |uid: &ContentTypeUid| {
            let projection = Projection::new(site.rules.listing_fields(uid.as_str()));
            let alternatives = site.rules.alternatives(uid.as_str());
            let query =
                ContentQuery { uid: uid.clone(), projection, alternatives, selection: None };
            let counters = metrics.walks.of(&site.key, uid.as_str());
            (uid.clone(), Arc::new(Entry::new(site.key.clone(), query, counters)))
        };
        let entries = site.rules.content_types().into_iter().map(entry).collect();
        Self::with_entries(site, content, backends, entries)
    }

    /// A cache with the snapshots of another one, for the same site and documents but other limits
    /// toward the CMS.
    pub(super) fn adopting(previous: &Self, content: Arc<Content>, backends: Backends<'_>) -> Self {
        let entry = |(uid, entry): (&ContentTypeUid, &Arc<Entry>)| {
            (uid.clone(), Arc::new(Entry::adopting(entry)))
        };
        let entries = previous.entries.iter().map(entry).collect();
        let site = Arc::clone(&previous.site);
        let cache = Self::with_entries(site, content, backends, entries);
        let cache = Self { hidden: Arc::clone(&previous.hidden), ..cache };
        cache.owners_before.lock().clone_from(&previous.owners_before.lock());
        cache.rebuild_index();
        cache
    }

    fn with_entries(
        site: Arc<Site>,
        content: Arc<Content>,
        backends: Backends<'_>,
        entries: HashMap<ContentTypeUid, Arc<Entry>>,
    ) -> Self {
        let resolves = site.resolve == ResolveBy::Documents;
        let index = resolves.then(|| PathIndexCell::new(&site.rules));
        let frame = |host| Arc::new(Frame::new(&site.hosts, site.rules.locales(), host));
        let are_pages = !site.has_redirects_alone();
        let hosts = if are_pages { site.hosts.all().len() } else { 0 };
        let frames = (0..hosts).map(frame).collect();
        let history = backends.history;
        let id = if resolves && are_pages { history.site(site.source, &site.key) } else { None };
        let locales = || Arc::new(LocaleNames::of(site.rules.locales(), &site.hosts));
        let history = id.map(|id| HistoryWriter::new(Arc::clone(history), id, locales()));
        let types = entries.keys().map(ContentTypeUid::as_str).chain([PAGES]);
        let types = types.filter(|_| site.redirects.is_some());
        let hidden = types.map(|group| (group.to_owned(), HiddenUrlsCache::default())).collect();
        let mut cache = Self {
            site,
            content,
            store: Arc::clone(backends.store),
            fleet: Arc::clone(backends.fleet),
            entries,
            index,
            frames,
            pages: None,
            hidden: Arc::new(hidden),
            history,
            owners_before: Mutex::default(),
        };
        cache.pages = cache.pages_snapshot();
        cache
    }

    fn pages_snapshot(&self) -> Option<CachedSnapshot> {
        let pages = &self.site.pages;
        let snapshot = (!pages.is_empty()).then(|| Arc::clone(pages.snapshot()))?;
        let files = self.sitemap_files(&snapshot, None);
        Some(CachedSnapshot::of_settings(snapshot, files))
    }

    pub(super) fn entry(&self, uid: &str) -> Option<&Arc<Entry>> {
        self.entries.get(uid)
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.entries.values()
    }

    pub(super) fn locales(&self) -> &[Locale] {
        self.site.rules.locales().codes()
    }

    /// The rules by which the documents of an entry get their URLs.
    pub(super) fn listing<'a>(&'a self, entry: &'a Entry) -> Listing<'a> {
        let Site { rules, hosts, .. } = &*self.site;
        Listing { rules, hosts, uid: entry.query.uid.as_str() }
    }

    pub(super) fn builder(&self) -> Builder {
        Builder { path_table: self.index.is_some() }
    }

    /// The sitemap files of a snapshot, for each host with a base URL.
    pub(super) fn sitemap_files(
        &self,
        snapshot: &Snapshot,
        before: Option<&CachedSnapshot>,
    ) -> Arc<[SitemapFiles]> {
        let of_host = |(host, frame): (usize, &Arc<Frame>)| {
            let before = before.and_then(|before| before.files.get(host));
            SitemapFiles::new(snapshot, Arc::clone(frame), before)
        };
        self.frames.iter().enumerate().map(of_host).collect()
    }

    /// Rebuilds the path index, if the site has one.
    pub(super) fn rebuild_index(&self) {
        if let Some(index) = &self.index {
            let cached =
                |(uid, entry): (&ContentTypeUid, &Arc<Entry>)| (uid.clone(), entry.cached());
            index.rebuild(&self.site.rules, || self.entries.iter().map(cached).collect());
        }
    }
}
