//! A cached snapshot: the public URLs of one content type as one refresh found them; what is known of
//! them now, and what one request gets.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use frontend_map_catalog::sitemap::files::{File, Frame, Layout};
use frontend_map_catalog::sitemap::{HiddenUrls, ListedUrls};
use frontend_map_catalog::snapshot::Snapshot;
use frontend_map_fleet::snapshots::ReadTimes;
use frontend_map_store::StoredSnapshot;

/// A snapshot, and from when it is.
#[derive(Clone, Debug)]
pub struct CachedSnapshot {
    /// The URLs.
    pub snapshot: Arc<Snapshot>,
    /// The URLs of `snapshot` that redirects hide, so that sitemaps leave them out; `None` before
    /// [`SnapshotCache::without_hidden`](crate::SnapshotCache::without_hidden) has looked for them, or if
    /// there are none.
    pub hidden: Option<Arc<HiddenUrls>>,
    /// The sitemap files, for each host of the site with a base URL.
    pub files: Arc<[SitemapFiles]>,
    /// When the refresh began: later changes in the CMS may be missing.
    pub begun: Instant,
    /// When what is newest in it was read from the CMS, at the earliest: by the refresh, or by the last
    /// update.
    pub(super) as_of: Instant,
    /// The first whole second at whose start the list had these URLs, as far as this process knows.
    pub changed: SystemTime,
    /// Whether the refresh was for an orphaned entry. Only its own waiters get such a snapshot, and
    /// other clients may get another list at the same time.
    pub orphaned: bool,
    pub(super) completed: Instant,
    /// Whether a process before this one has built it.
    pub(super) is_from_store: bool,
}

impl CachedSnapshot {
    /// The result of a refresh that ends now; `before` is the snapshot that it replaces.
    pub(super) fn new(
        snapshot: Snapshot,
        files: Arc<[SitemapFiles]>,
        begun: Instant,
        before: Option<&Self>,
    ) -> Self {
        Self::adopted(Arc::new(snapshot), begun, begun.elapsed(), files, before)
    }

    /// Of pages that the settings name, which do not change before a reload.
    pub(super) fn of_settings(snapshot: Arc<Snapshot>, files: Arc<[SitemapFiles]>) -> Self {
        let (now, changed, hidden) = (Instant::now(), next_whole_second(), None);
        let (begun, as_of, completed, orphaned, is_from_store) = (now, now, now, false, false);
        Self { snapshot, hidden, files, begun, as_of, changed, orphaned, completed, is_from_store }
    }

    /// A snapshot from the store. The process that wrote it may have served other URLs since, so
    /// that the dates of the sitemap files begin now.
    pub(super) fn stored(stored: StoredSnapshot<Snapshot>, files: Arc<[SitemapFiles]>) -> Self {
        let StoredSnapshot { snapshot, begun, took, .. } = stored;
        let cached = Self::new(snapshot, files, begun, None);
        Self { completed: begun + took, is_from_store: true, ..cached }
    }

    /// The result of a refresh of another instance, which began then and took this long; `before` is
    /// the snapshot that it replaces.
    pub(super) fn adopted(
        snapshot: Arc<Snapshot>,
        begun: Instant,
        took: Duration,
        files: Arc<[SitemapFiles]>,
        before: Option<&Self>,
    ) -> Self {
        let same =
            before.filter(|before| before.snapshot.listing_hash() == snapshot.listing_hash());
        let changed = same.map_or_else(next_whole_second, |before| before.changed);
        let completed = begun + took;
        let of_settings = Self::of_settings(snapshot, files);
        Self { begun, as_of: begun, changed, completed, ..of_settings }
    }

    /// The result of the same refresh with single documents updated, which were read since then.
    pub(super) fn updated(
        &self,
        snapshot: Snapshot,
        files: Arc<[SitemapFiles]>,
        since: Instant,
    ) -> Self {
        let updated = Self::new(snapshot, files, self.begun, Some(self));
        let Self { completed, orphaned, is_from_store, .. } = *self;
        Self { as_of: self.as_of.max(since), orphaned, completed, is_from_store, ..updated }
    }

    /// What decides whether a snapshot of another instance replaces it.
    pub(crate) fn read_times(&self) -> ReadTimes {
        let (hash, begun, as_of) = (self.snapshot.content_hash(), self.begun, self.as_of);
        ReadTimes { hash, begun, as_of }
    }

    /// The URLs that sitemaps list.
    pub fn listed(&self) -> ListedUrls<'_> {
        ListedUrls::new(&self.snapshot, self.hidden.as_deref())
    }

    /// `changed` as the `Last-Modified` of a response. `None` for an orphaned snapshot: while two
    /// lists are in use, a date does not distinguish them.
    pub fn last_modified(&self, changed: SystemTime) -> Option<SystemTime> {
        (!self.orphaned).then_some(changed)
    }

    /// How long the refresh took.
    pub fn refresh_duration(&self) -> Duration {
        self.completed - self.begun
    }
}

/// A snapshot that a response may be built from now, and how old it is.
#[derive(Clone, Debug)]
pub struct KnownSnapshot {
    /// The snapshot.
    pub cached: CachedSnapshot,
    /// The time since its walk began; zero for content that cannot change.
    pub age: Duration,
    /// Whether the CMS fails: the last refresh has failed, or the circuit breaker is open.
    pub is_failing: bool,
}

/// A snapshot as served to one request.
#[derive(Clone, Debug)]
pub struct Served {
    /// The snapshot.
    pub cached: CachedSnapshot,
    /// For `Cache-Status`.
    pub status: CacheStatus,
    /// For `Age`.
    pub age: Duration,
}

/// Whether the cache had the snapshot (RFC 9211).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheStatus {
    /// The cache had the snapshot.
    Hit {
        /// How long the snapshot is fresh, in seconds; negative after that.
        ttl: i64,
        /// Whether the last refresh failed.
        failing: bool,
    },
    /// The snapshot was built for this request.
    Miss {
        /// Whether the refresh was already in flight for an earlier request.
        collapsed: bool,
    },
}

/// The sitemap files of one content type on one host.
#[derive(Debug)]
pub struct SitemapFiles {
    /// Which documents are in which file.
    pub layout: Layout,
    /// When a file was last added, changed or removed, as far as this process knows; a whole second, like
    /// [`CachedSnapshot::changed`].
    pub changed: SystemTime,
    /// When each file last changed, by its number.
    file_dates: HashMap<u64, SystemTime>,
    /// The parts of a file's text that do not depend on its documents.
    pub(crate) frame: Arc<Frame>,
}

impl SitemapFiles {
    /// The files of a snapshot; a file with the same content as in `before` keeps its date.
    pub(crate) fn new(snapshot: &Snapshot, frame: Arc<Frame>, before: Option<&Self>) -> Self {
        Self::of_layout(Layout::new(snapshot, None, &frame), frame, before)
    }

    /// The files of this layout; a file with the same content as in `before` keeps its date.
    pub(crate) fn of_layout(layout: Layout, frame: Arc<Frame>, before: Option<&Self>) -> Self {
        let now = next_whole_second();
        let since = |file: &File| {
            let before = before?;
            let same = before.layout.file(file.number)?.hash == file.hash;
            same.then(|| before.file_dates.get(&file.number).copied()).flatten()
        };
        let dated = |file: &File| (file.number, since(file).unwrap_or(now));
        let file_dates = layout.files.iter().map(dated).collect();
        let hashes = |layout: &Layout| -> Vec<(u64, u128)> {
            layout.files.iter().map(|file| (file.number, file.hash)).collect()
        };
        let same = before.filter(|before| hashes(&before.layout) == hashes(&layout));
        let changed = same.map_or(now, |before| before.changed);
        Self { layout, changed, file_dates, frame }
    }

    /// When a file of the layout last changed, as far as this process knows.
    pub fn changed(&self, file: &File) -> SystemTime {
        self.file_dates.get(&file.number).copied().unwrap_or(self.changed)
    }
}

/// The date for content that changes now: the next whole second. A client may have received other
/// content earlier in this second, and HTTP dates have no fractions of seconds.
pub(crate) fn next_whole_second() -> SystemTime {
    let now = SystemTime::now();
    let past = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    now + Duration::from_secs(1) - Duration::from_nanos(past.into())
}
