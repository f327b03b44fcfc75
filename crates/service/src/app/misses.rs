//! Paths that `/api/resolve` found nothing for: counted in this instance, added to those of all instances
//! through Redis, and kept in the store.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use super::{App, former_owner, redirects};
use frontend_map_catalog::misses::{MissKey, MissedPath, Summary};
use frontend_map_catalog::moved::redirects::FormerOwner;
use frontend_map_catalog::resolve::resolve;
use frontend_map_catalog::site::{ResolveBy, Site, Sites};
use frontend_map_fleet::redis;
use frontend_map_platform::clock::unix_ms;
use frontend_map_rules::Pathname;
use frontend_map_store::{RowKey, Store};
use parking_lot::{Mutex, MutexGuard};

/// The paths that were not found on all sites, which survive a reload.
#[derive(Default)]
pub struct MissRegistry {
    /// By the source of its documents and its key.
    sites: Mutex<BTreeMap<(u128, String), Arc<SiteMisses>>>,
    /// How long a path is kept after its last request, in milliseconds.
    keep: AtomicI64,
}

/// The paths that were not found on one site.
///
/// A request waits for nothing. Each thread puts its requests into one of a few buffers, which is added to
/// the summary when it is full. While that is not possible, because
/// the list is being copied, a request is only counted as one of which no path is known.
#[derive(Default)]
pub struct SiteMisses {
    buffers: [Buffer; BUFFERS],
    /// Of a fleet, what the others do not have yet.
    own: Mutex<Summary>,
    /// What could not be counted by its path.
    uncounted: AtomicU64,
    /// What is being added to that of the fleet. Locked while it is.
    sending: tokio::sync::Mutex<Summary>,
    /// Locked while suggestions are computed: one list at a time.
    pub(crate) listing: tokio::sync::Mutex<()>,
    has_changed: AtomicBool,
    /// Whether what the store has is in `own`. Before, nothing is written.
    is_loaded: AtomicBool,
    /// Whether the store has something that all instances may have by now.
    is_stored: AtomicBool,
}

/// For threads with the same number; with more threads than buffers, some share one.
const BUFFERS: usize = 4;
/// The most requests of a buffer. All buffers take a tenth of a mebibyte at most, beside the summary.
const MAX_BUFFERED: usize = 32;

/// The last requests of some threads, each with its time. Aligned to two cache lines, which processors
/// fetch as a pair.
#[derive(Default)]
#[repr(align(128))]
struct Buffer(Mutex<Vec<(MissKey, i64)>>);

static NEXT_THREAD: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static BUFFER: usize = NEXT_THREAD.fetch_add(1, Ordering::Relaxed) % BUFFERS;
}

impl MissRegistry {
    /// Sets how long a path is kept after its last request, in milliseconds.
    pub fn set_keep(&self, milliseconds: i64) {
        self.keep.store(milliseconds, Ordering::Relaxed);
    }

    /// Sets the sites, and returns the misses of those that have a path index, by their keys; others are
    /// dropped.
    pub fn set_sites(&self, sites: &Sites, store: &Store) -> BTreeMap<String, Arc<SiteMisses>> {
        let mut own = self.sites.lock();
        let with_index = sites.iter().filter(|site| site.resolve == ResolveBy::Documents);
        let of_site = |site: &Arc<Site>| {
            let key = (site.source, site.key.clone());
            let misses = own.remove(&key).unwrap_or_default();
            misses.load(store, site);
            (key, misses)
        };
        let kept: BTreeMap<_, _> = with_index.map(of_site).collect();
        *own = kept;
        own.iter().map(|((_, key), misses)| (key.clone(), Arc::clone(misses))).collect()
    }

    /// The time before which a last request is too old.
    fn oldest(&self, now: i64) -> i64 {
        now.saturating_sub(self.keep.load(Ordering::Relaxed))
    }
}

impl SiteMisses {
    /// Counts a request for a path of this host, which is empty if the site has one or the request named
    /// none.
    pub(crate) fn record(&self, host: &str, pathname: &Pathname<'_>) {
        let key = MissKey::of(host, pathname.normalized().into_owned());
        if !self.buffer(key) {
            self.uncounted.fetch_add(1, Ordering::Relaxed);
        }
        // Most find it set: a write would take the line from the caches of other processors.
        if !self.has_changed.load(Ordering::Relaxed) {
            self.has_changed.store(true, Ordering::Relaxed);
        }
    }

    /// Puts a request into the buffer of this thread. False: it is full or in use, and cannot be emptied.
    fn buffer(&self, key: MissKey) -> bool {
        let buffer = &self.buffers[BUFFER.with(|buffer| *buffer)];
        let Some(mut buffer) = buffer.0.try_lock() else { return false };
        if buffer.len() >= MAX_BUFFERED {
            let Some(mut own) = self.own.try_lock() else { return false };
            empty(&mut buffer, &mut own);
        }
        buffer.push((key, unix_ms()));
        true
    }

    /// What this instance has counted, with all buffers. No request waits for it.
    fn lock(&self) -> MutexGuard<'_, Summary> {
        let mut own = self.own.lock();
        for buffer in &self.buffers {
            empty(&mut buffer.0.lock(), &mut own);
        }
        own.add_uncounted(self.uncounted.swap(0, Ordering::Relaxed));
        own
    }

    /// A copy of what this instance has counted.
    fn own(&self) -> Summary {
        self.lock().clone()
    }

    /// Changes it. What is requested meanwhile is not counted by its path.
    fn change(&self, change: impl FnOnce(&mut Summary)) {
        change(&mut self.lock());
        self.has_changed.store(true, Ordering::Relaxed);
    }

    /// Moves what this instance has counted to what is being sent.
    fn take_into(&self, sending: &mut Summary) {
        let own = std::mem::take(&mut *self.lock());
        sending.merge(&own);
    }

    /// Adds what the store has, once. False: it cannot be read now.
    fn load(&self, store: &Store, site: &Site) -> bool {
        if self.is_loaded.load(Ordering::Relaxed) {
            return true;
        }
        if !store.is_readable() {
            return false;
        }
        let stored = store.load_row(&RowKey::misses(site.source, &site.key));
        if let Some(summary) = stored.and_then(|bytes| Summary::from_bytes(&bytes, unix_ms()))
            && !self.is_loaded.swap(true, Ordering::Relaxed)
        {
            self.own.lock().merge(&summary);
        }
        self.is_loaded.store(true, Ordering::Relaxed);
        true
    }
}

fn empty(buffer: &mut Vec<(MissKey, i64)>, own: &mut Summary) {
    for (key, at) in buffer.drain(..) {
        own.record(&key, at);
    }
}

/// Whether a path still leads nowhere, as far as is known.
fn is_missing(app: &App, site: &Site, missed: MissedPath<'_>) -> bool {
    let Some(state) = app.snapshots.path_index(site) else { return false };
    let mut hosts = site.hosts.all().iter().filter(|_| site.hosts.are_several());
    let host = hosts.position(|host| host.base.host() == missed.host);
    // The site had this host before a change of the settings.
    if host.is_none() && !missed.host.is_empty() {
        return false;
    }
    let pathname = Pathname::parse(missed.path);
    let entries = site.redirects.as_ref().and_then(|site| app.snapshots.path_index(site));
    let of_entries = entries.as_ref().map(|state| &*state.index);
    let redirects = redirects(app, site, &state.index, of_entries);
    let forced = redirects.map_or(FormerOwner::None, |one| one.forced(&pathname, host));
    let former = || former_owner(app, site, &state.index, redirects, &pathname, host);
    !resolve(site, &state.index, &pathname, host, forced, former).leads_to_page()
}

/// Which rows of a summary have ended, without a lock of what counts.
struct Ended {
    paths: HashSet<(String, String)>,
    before: i64,
}

impl Ended {
    fn of(app: &App, site: &Site, summary: &Summary, now: i64) -> Self {
        let before = app.shared.misses.oldest(now);
        let paths = summary.paths();
        let ended = paths.iter().filter(|path| !is_missing(app, site, **path));
        let key = |path: &MissedPath<'_>| (path.host.to_owned(), path.path.to_owned());
        Self { paths: ended.map(key).collect(), before }
    }

    fn drop_from(&self, summary: &mut Summary) {
        if !self.paths.is_empty() {
            summary
                .retain(|path| !self.paths.contains(&(path.host.to_owned(), path.path.to_owned())));
        }
        summary.expire(self.before);
    }
}

/// The paths that were not found on a site, of all instances as far as Redis is available, without those
/// that exist by now.
pub(crate) async fn read_misses(app: &App, site: &Site, misses: &SiteMisses) -> Summary {
    let mut summary = match share(app, site, misses, None).await {
        Some(Ok(summary)) => summary,
        Some(Err(_)) => {
            let mut summary = misses.sending.lock().await.clone();
            summary.merge(&misses.own());
            summary
        }
        None => misses.own(),
    };
    Ended::of(app, site, &summary, unix_ms()).drop_from(&mut summary);
    summary
}

/// Drops the row in which a path counts, or all rows, and returns how many there were.
///
/// # Errors
/// [`redis::Error`] if the other instances could not be told.
pub(crate) async fn remove_misses(
    app: &App,
    site: &Site,
    misses: &SiteMisses,
    key: Option<&MissKey>,
) -> Result<usize, redis::Error> {
    let removed = AtomicU64::new(0);
    let remove = |summary: &mut Summary| {
        let number = if let Some(key) = key {
            usize::from(summary.remove(key))
        } else {
            let before = std::mem::take(summary);
            before.len() + usize::from(before.scanners().is_some())
        };
        // The last attempt counts.
        removed.store(number as u64, Ordering::Relaxed);
    };
    match share(app, site, misses, Some(&remove)).await {
        Some(shared) => drop(shared?),
        None => misses.change(remove),
    }
    save(app, site, misses).await;
    Ok(usize::try_from(removed.into_inner()).unwrap_or(usize::MAX))
}

/// A change of what all instances have counted.
type Change<'c> = &'c (dyn Fn(&mut Summary) + Send + Sync);

/// Adds what this instance has counted to what all have, and changes that. `None` without `[shared]`.
async fn share(
    app: &App,
    site: &Site,
    misses: &SiteMisses,
    change: Option<Change<'_>>,
) -> Option<Result<Summary, redis::Error>> {
    let shared = app.shared.fleet.misses(site)?;
    // One at a time, so that no list is without what is just being sent.
    let mut sending = misses.sending.lock().await;
    misses.take_into(&mut sending);
    let (now, keep) = (unix_ms(), app.shared.misses.keep.load(Ordering::Relaxed));
    let keep = Duration::from_millis(u64::try_from(keep).unwrap_or_default());
    if sending.is_empty() && change.is_none() {
        return Some(shared.load(now).await);
    }
    let add = |summary: &mut Summary| {
        summary.merge(&sending);
        if let Some(change) = change {
            change(summary);
        }
        Ended::of(app, site, summary, now).drop_from(summary);
    };
    let updated = shared.update(now, keep, add).await;
    if updated.is_ok() {
        *sending = Summary::default();
        misses.has_changed.store(true, Ordering::Relaxed);
    }
    drop(sending);
    // A process that is killed now must not add it again.
    if updated.is_ok() && misses.is_stored.load(Ordering::Relaxed) {
        save(app, site, misses).await;
    }
    Some(updated)
}

/// Adds what this instance has counted to what all have.
pub(crate) async fn share_misses(app: &App) {
    for site in app.sites.iter() {
        let Some(misses) = app.misses.get(&site.key) else { continue };
        misses.load(&app.shared.store, site);
        let is_empty = misses.own().is_empty() && misses.sending.lock().await.is_empty();
        if !is_empty && let Some(Err(error)) = share(app, site, misses, None).await {
            tracing::debug!(site = site.key, %error, "paths that were not found are not shared yet");
        }
    }
}

/// Drops the rows that have ended, and writes what has changed to the store.
pub(crate) async fn save_misses(app: &App) {
    for site in app.sites.iter() {
        let Some(misses) = app.misses.get(&site.key) else { continue };
        let own = misses.own();
        let ended = Ended::of(app, site, &own, unix_ms());
        ended.drop_from(&mut misses.own.lock());
        save(app, site, misses).await;
    }
}

async fn save(app: &App, site: &Site, misses: &SiteMisses) {
    let is_due =
        misses.load(&app.shared.store, site) && misses.has_changed.swap(false, Ordering::Relaxed);
    if is_due {
        let mut summary = misses.sending.lock().await.clone();
        summary.merge(&misses.own());
        misses.is_stored.store(!summary.is_empty(), Ordering::Relaxed);
        let (row, bytes) = (RowKey::misses(site.source, &site.key), summary.to_bytes());
        app.shared.store.save_row(row, move || bytes.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_waits_for_nothing_and_counts_what_it_cannot_count_by_path() {
        let misses = SiteMisses::default();
        misses.record("", &Pathname::parse("/a//b/?x"));
        let copied = misses.own.lock();
        for _ in 0..MAX_BUFFERED + 2 {
            misses.record("", &Pathname::parse("/a/b"));
        }
        drop(copied);
        misses.record("", &Pathname::parse("/c"));
        let own = misses.own();
        let rows: Vec<_> = own.paths().iter().map(|row| (row.path, row.tally.count)).collect();
        let buffered = MAX_BUFFERED as u64;
        assert_eq!((rows, own.uncounted()), (vec![("/a/b", buffered), ("/c", 1)], 3));
        assert_eq!(misses.own().uncounted(), 3, "counted once");
    }

    #[test]
    fn take_into_moves_what_was_counted() {
        let (misses, mut sending) = (SiteMisses::default(), Summary::default());
        for path in ["/a", "/b", "/a"] {
            misses.record("", &Pathname::parse(path));
        }
        misses.take_into(&mut sending);
        assert!(misses.own().is_empty() && sending.len() == 2);
        misses.record("", &Pathname::parse("/a"));
        misses.take_into(&mut sending);
        let paths = sending.paths();
        assert_eq!(paths.iter().map(|row| row.tally.count).collect::<Vec<_>>(), [3, 1]);
    }
}
