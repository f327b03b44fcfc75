//! The change log of each site, which all instances share (D44, D56).
//!
//! While Redis is available, only publications of snapshots append changes, and the log of each
//! instance is a replica: a cursor of one instance is valid on all. While Redis is unavailable, an
//! instance continues its replica as a branch, from the snapshots in its memory.

mod append;
mod begin;
mod fields;
mod follow;
mod plan;
mod read_script;
mod readiness;
mod tail;
mod unavailable;

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

use self::tail::Tail;
use crate::redis;
use crate::redis::Event;
use crate::snapshot_position::Position;
use frontend_map_catalog::changes::log::{Baseline, ChangeLog, Recorder};
use frontend_map_catalog::site::{Site, Sites};
use frontend_map_store::SnapshotKey;

pub(crate) use self::fields::{BaseValue, LogValue};

pub use append::ChangeAppend;
#[cfg(test)]
pub(crate) use follow::{Progress, judge};
pub use plan::SnapshotReplacement;
#[cfg(test)]
pub(crate) use plan::{LogState, Plan, PublicationContext, Since, decide};
pub use readiness::{Readiness, Wanted};
#[cfg(test)]
pub(crate) use readiness::{answer, is_behind};

/// The kind of the event by which an instance announces that it has begun a log again. Its body is
/// the key of the site.
pub const EVENT: &str = "changes";

/// A snapshot that could not be published for so long is a problem: the log lacks its changes.
const UNPUBLISHED: Duration = Duration::from_secs(5);
/// The most bytes of a description, without the hash at its end.
const MAX_DESCRIPTION: usize = 1_000;

/// The change logs in Redis. Clones share their state.
#[derive(Clone)]
pub struct SharedChanges {
    redis: redis::Client,
    log: Arc<ChangeLog>,
    inner: Arc<Inner>,
}

struct Inner {
    /// Records changes while Redis is unavailable.
    recorder: Recorder,
    state: Mutex<State>,
    /// The sites whose logs are to be read.
    due: Mutex<BTreeSet<String>>,
    is_due: Notify,
    /// Notified when a log lacks the base of a version that this instance serves: its publisher publishes
    /// the base.
    lacks_base: Notify,
}

#[derive(Default)]
struct State {
    /// Whether this instance records changes by itself: until Redis is available, and while it
    /// is unavailable.
    is_alone: bool,
    /// The key of the lease of the instances with the present settings; empty: not known yet.
    lease: String,
    sites: HashMap<String, SiteState>,
}

/// What this instance knows of the log of a site.
#[derive(Default)]
struct SiteState {
    source: u128,
    /// What decides its content: sites that differ in it have a log each.
    content: u128,
    /// Whether the last read of the log has failed: it may have changes that are not known here.
    is_unread: bool,
    /// By content type: since when its last version could not be published, and why.
    unpublished: HashMap<String, (Instant, String)>,
    types: Vec<String>,
    /// Held during a read: a second one would apply the same changes.
    reading: Arc<tokio::sync::Mutex<()>>,
    /// The sealed identity of the log that was read last, and the session in which it was read.
    read: Option<(Vec<u8>, u64)>,
    /// The last part that was read.
    tail: Option<Tail>,
    /// When this instance has last read another log, or another base.
    since: Option<Instant>,
    /// By content type: the position up to which the log has the changes.
    bases: HashMap<String, BaseValue>,
    /// The key of the lease whose holder appends to the present log.
    lease: String,
    /// In which session of Redis the last check was, if that lease is one of other settings and had no
    /// holder then.
    abandoned_in: Option<u64>,
    /// By content type: the last version that this instance has published or adopted.
    settled: HashMap<String, Settled>,
    /// By content type: the last version since `settled` that this instance did not adopt, because its own
    /// snapshot was later.
    passed_over: HashMap<String, PassedOver>,
    /// By content type: the last snapshot of this instance, whether it is published or not.
    latest: HashMap<String, Baseline>,
}

impl SiteState {
    /// Whether the log was read after this instance has published or adopted a version of the content
    /// type, and has no base of it.
    fn lacks_base(&self, uid: &str) -> bool {
        self.settled.get(uid).is_some_and(|one| one.is_read) && !self.bases.contains_key(uid)
    }

    /// The content type that has not been published for long, and why.
    fn unpublished(&self) -> Option<(&str, &str)> {
        let mut all = self.unpublished.iter();
        all.find_map(|(uid, (since, error))| {
            (since.elapsed() >= UNPUBLISHED).then_some((uid.as_str(), error.as_str()))
        })
    }
}

/// A version that this instance did not adopt, because its own snapshot was later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassedOver {
    pub(crate) position: Position,
    /// When it was published.
    pub(crate) published: Instant,
    /// Whether the own snapshot has all changes up to this version.
    pub(crate) has_all: bool,
}

/// A version that this instance has published or adopted.
struct Settled {
    snapshot_id: String,
    position: String,
    baseline: Baseline,
    /// Whether the log has been read since: the replica has the changes up to this version.
    is_read: bool,
}

impl SharedChanges {
    /// The logs in Redis; `log` has the replicas, which readers get.
    pub fn new(redis: redis::Client, log: Arc<ChangeLog>) -> Self {
        let inner = Inner {
            recorder: Recorder::new(Arc::clone(&log)),
            // Until Redis is available for the first time.
            state: Mutex::new(State { is_alone: true, ..State::default() }),
            due: Mutex::default(),
            is_due: Notify::new(),
            lacks_base: Notify::new(),
        };
        Self { redis, log, inner: Arc::new(inner) }
    }

    /// Sets the content types of a site. If its CMS or its base URLs have changed, it has another log,
    /// and its state is forgotten.
    pub fn set_site(&self, site: &Site, types: &[String]) {
        let (Site { key, source, .. }, content) = (site, content_of(site));
        self.inner.recorder.set_types(key, types.to_vec());
        let state = &mut *self.inner.state.lock();
        // Until `set_lease`: no log begins under the lease of former settings.
        state.lease.clear();
        let known = state.sites.entry(key.clone()).or_default();
        if known.content != content {
            let reading = Arc::clone(&known.reading);
            *known = SiteState { source: *source, content, reading, ..SiteState::default() };
        }
        known.types = types.to_vec();
        self.read_soon(key);
    }

    /// Sets the lease of the instances with the present settings, by its key.
    pub(super) fn set_lease(&self, lease: &str) {
        lease.clone_into(&mut self.inner.state.lock().lease);
        self.read_all_soon();
    }

    /// Schedules a read of the log of a site: it has changed, or changes may have been missed.
    pub fn read_soon(&self, site: &str) {
        self.inner.due.lock().insert(site.to_owned());
        self.inner.is_due.notify_one();
    }

    /// Schedules a read of the logs of all sites.
    pub fn read_all_soon(&self) {
        let sites: Vec<String> = self.inner.state.lock().sites.keys().cloned().collect();
        for site in &sites {
            self.read_soon(site);
        }
    }

    /// Schedules a read of the log that an event announces. Returns `false` if the event is of
    /// another kind.
    #[must_use]
    pub fn read_event(&self, event: &Event) -> bool {
        if event.kind != EVENT {
            return false;
        }
        self.read_soon(&String::from_utf8_lossy(&event.body));
        true
    }

    /// The keys of the head of a site's log and of its stream.
    fn keys(&self, site: &str) -> [String; 2] {
        let (content, site) = (self.content_of(site), xxh3_128(site.as_bytes()));
        ["log", "changes"].map(|kind| self.redis.key(&format!("{kind}:{site:032x}:{content:032x}")))
    }

    /// What decides the content of a site; 0 for a site that this instance does not have.
    pub(super) fn content_of(&self, site: &str) -> u128 {
        self.inner.state.lock().sites.get(site).map_or(0, |known| known.content)
    }

    /// Records whether the last version of a snapshot could not be published, and why.
    pub(super) fn set_unpublished(&self, key: &SnapshotKey, error: Option<String>) {
        let mut state = self.inner.state.lock();
        let Some(site) = state.sites.get_mut(&key.site) else { return };
        let Some(error) = error else {
            site.unpublished.remove(&key.content_type);
            return;
        };
        let new = (Instant::now(), String::new());
        site.unpublished.entry(key.content_type.clone()).or_insert(new).1 = error;
    }

    /// Which snapshot has not been published for long, and why; `None`: all are.
    pub fn unpublished(&self) -> Option<String> {
        let state = self.inner.state.lock();
        state.sites.iter().find_map(|(site, known)| {
            let (uid, error) = known.unpublished()?;
            Some(format!("the snapshot of {uid} in {site} cannot be published: {error}"))
        })
    }

    /// Waits until a log has been read that lacks the base of a version.
    pub(super) async fn wait_for_missing_base(&self) {
        self.inner.lacks_base.notified().await;
    }

    /// Whether the log of a site has no base of a content type whose version this instance serves.
    pub(super) fn lacks_base(&self, site: &str, uid: &str) -> bool {
        let state = self.inner.state.lock();
        let known = state.sites.get(site).filter(|known| known.lease == state.lease);
        known.is_some_and(|known| known.lacks_base(uid))
    }

    /// The content types of a site; the pages outside the CMS count as one of them.
    pub(super) fn types_of(&self, site: &str) -> Vec<String> {
        let state = self.inner.state.lock();
        state.sites.get(site).map(|known| known.types.clone()).unwrap_or_default()
    }

    fn log_value(&self, site: &str, log: u64, lease: &str) -> LogValue {
        LogValue { log, types: self.types_of(site), lease: lease.to_owned() }
    }
}

/// A hash of what decides the content of a site: its key, its CMS and its base URLs by locale. Instances
/// that differ in it share neither change logs nor webhooks.
pub fn content_of(site: &Site) -> u128 {
    let mut hash = Xxh3::new();
    let mut add = |text: &str| {
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    };
    add(&site.key);
    add(&format!("{:032x}", site.source));
    for at in 0..site.hosts.locales() {
        match site.hosts.base(at) {
            Some(base) => add(base.as_str()),
            None => add(""),
        }
    }
    hash.digest128()
}

/// The content of all sites in words, with a hash: the sites, their base URLs, and a hash of the
/// address of the CMS. Equal texts mean equal content.
pub fn describe(sites: &Sites) -> String {
    let (mut text, mut hash) = (String::new(), Xxh3::new());
    for site in sites.iter() {
        hash.update(&content_of(site).to_le_bytes());
        let bases: Vec<&str> = site.hosts.all().iter().map(|host| host.base.as_str()).collect();
        // Writing to a string cannot fail.
        let _ = write!(text, "site {} at {}; ", site.key, bases.join(", "));
    }
    text.truncate(text.floor_char_boundary(MAX_DESCRIPTION));
    let cms = sites.iter().next().map_or(0, |site| xxh3_64(&site.source.to_le_bytes()));
    format!("{text}CMS {:08x}; {:016x}", cms >> 32, hash.digest())
}
