//! The pages of one content type that redirects hide, found again only after a change.

use std::sync::{Arc, Weak};
use std::time::SystemTime;

use tokio::sync::Mutex;

use super::PathIndexState;
use crate::cached_snapshot::{CachedSnapshot, SitemapFiles, next_whole_second};
use frontend_map_catalog::moved::entries::RedirectWorld;
use frontend_map_catalog::path_index::PathIndex;
use frontend_map_catalog::sitemap::files::Layout;
use frontend_map_catalog::sitemap::{HiddenUrls, ListedUrls};
use frontend_map_catalog::snapshot::Snapshot;

/// What the last request for a list has found.
#[derive(Debug, Default)]
pub(crate) struct HiddenUrlsCache(Mutex<Option<Found>>);

/// The snapshot and the path indexes from which the hidden pages were found, by weak references: they may be
/// dropped.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    snapshot: Weak<Snapshot>,
    documents: Weak<PathIndex>,
    redirects: Weak<PathIndex>,
}

#[derive(Clone, Debug)]
struct Found {
    sources: Sources,
    hidden: Option<Arc<HiddenUrls>>,
    /// Whether a page has been hidden since the start of the process. If so, `changed` and `files` replace
    /// those of the snapshot.
    has_hidden: bool,
    /// [`ListedUrls::hash`].
    hash: u128,
    changed: SystemTime,
    files: Arc<[SitemapFiles]>,
}

impl Sources {
    pub(crate) fn new(
        cached: &CachedSnapshot,
        documents: &PathIndexState,
        redirects: &PathIndexState,
    ) -> Self {
        Self {
            snapshot: Arc::downgrade(&cached.snapshot),
            documents: Arc::downgrade(&documents.index),
            redirects: Arc::downgrade(&redirects.index),
        }
    }

    fn are(&self, other: &Self) -> bool {
        self.snapshot.ptr_eq(&other.snapshot)
            && self.documents.ptr_eq(&other.documents)
            && self.redirects.ptr_eq(&other.redirects)
    }
}

impl HiddenUrlsCache {
    /// The snapshot without the pages that redirects hide. They are searched for by one request at a time,
    /// because with a redirect for many pages that takes some tenths of a second.
    pub(crate) async fn without_hidden(
        &self,
        cached: CachedSnapshot,
        sources: Sources,
        world: &RedirectWorld<'_>,
    ) -> CachedSnapshot {
        let mut last = self.0.lock().await;
        if let Some(found) = last.as_ref().filter(|found| found.sources.are(&sources)) {
            return found.of(cached);
        }
        // Without a redirect with `force`, and if none was seen before, the snapshot stays as it is.
        if last.is_none() && !world.entries.have_forced() {
            return cached;
        }
        let find = || Found::find(&cached, sources, world, last.as_ref());
        let found = tokio::task::block_in_place(find);
        let shown = found.of(cached);
        // An orphaned snapshot goes to its waiters alone.
        if !shown.orphaned {
            *last = Some(found);
        }
        shown
    }
}

impl Found {
    fn find(
        cached: &CachedSnapshot,
        sources: Sources,
        world: &RedirectWorld<'_>,
        before: Option<&Self>,
    ) -> Self {
        let hidden = HiddenUrls::find(world, &cached.snapshot);
        let same = before.filter(|before| {
            before.sources.snapshot.ptr_eq(&sources.snapshot)
                && before.hidden.as_deref() == hidden.as_ref()
        });
        if let Some(same) = same {
            return Self { sources, ..same.clone() };
        }
        let hidden = hidden.map(Arc::new);
        let hash = ListedUrls::new(&cached.snapshot, hidden.as_deref()).hash();
        let before = before.filter(|before| before.has_hidden);
        if hidden.is_none() && before.is_none() {
            let (changed, files) = (cached.changed, Arc::clone(&cached.files));
            return Self { sources, hidden, has_hidden: false, hash, changed, files };
        }
        let same = before.filter(|before| before.hash == hash);
        let changed = same.map_or_else(next_whole_second, |before| before.changed);
        let of_host = |(host, own): (usize, &SitemapFiles)| {
            let layout = match &hidden {
                Some(hidden) => Layout::new(&cached.snapshot, Some(hidden), &own.frame),
                None => own.layout.clone(),
            };
            let before = before.map_or(Some(own), |before| before.files.get(host));
            SitemapFiles::of_layout(layout, Arc::clone(&own.frame), before)
        };
        let files = cached.files.iter().enumerate().map(of_host).collect();
        Self { sources, hidden, has_hidden: true, hash, changed, files }
    }

    /// The snapshot with what was found.
    fn of(&self, cached: CachedSnapshot) -> CachedSnapshot {
        if !self.has_hidden {
            return cached;
        }
        let (hidden, files) = (self.hidden.clone(), Arc::clone(&self.files));
        CachedSnapshot { hidden, files, changed: self.changed, ..cached }
    }
}
