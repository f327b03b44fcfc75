//! Leases: each has at most one holder among the instances. Leases save work and do not protect
//! data: the script of a write that only the holder may do compares the token of the lease.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// A lease expires so long after its last renewal.
pub(super) const LIFETIME: Duration = Duration::from_secs(3);
/// How long an instance does not request a lease that it has given up; other instances request it
/// once a second. A random time of up to a third of it is added.
const PAUSE: Duration = Duration::from_secs(3);
/// The shortest time between two times at which an instance gives up a lease: if no instance can do
/// the work, one of them must still be the holder for a while, to report the failure.
const GIVE_UP_PERIOD: Duration = Duration::from_secs(10);

/// A lease that this instance requests; clones are the same lease. While Redis is available, each
/// heartbeat requests or renews it. When the last clone is dropped, it is released.
#[derive(Clone)]
pub struct Lease(Arc<State>);

struct State {
    name: String,
    key: String,
    instance: String,
    term: Mutex<Option<Term>>,
    given_up: Mutex<Option<GivenUp>>,
    /// The largest epoch of this lease, of any holder, that this instance has seen.
    known: AtomicU64,
    /// Whether its key had a foreign value at the last heartbeat.
    is_foreign: AtomicBool,
    registry: Weak<LeaseRegistry>,
}

/// The period in which this instance is the holder.
#[derive(Clone, Copy)]
struct Term {
    epoch: u64,
    since: Instant,
    until: Instant,
}

/// The last time that this instance gave up the lease.
#[derive(Clone, Copy)]
struct GivenUp {
    at: Instant,
    /// When it requests the lease again.
    until: Instant,
}

impl Lease {
    /// The fencing epoch if this instance is the holder now; epochs of a lease only grow. The
    /// lifetime is measured by the monotonic clock of this process, from the time at which the last
    /// renewal was sent, so that a process that was paused notices by itself that the lease has
    /// expired.
    pub fn epoch(&self) -> Option<u64> {
        self.0.term().map(|term| term.epoch)
    }

    /// How long this instance has been the holder; `None`: it is not.
    pub fn held_for(&self) -> Option<Duration> {
        self.0.term().map(|term| term.since.elapsed())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Its key in Redis, for scripts that compare its value with [`Lease::token`].
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// The value of the key while this instance is the holder in the present epoch. If it is not
    /// the holder: a value that the key never has.
    pub fn token(&self) -> String {
        self.0.token(self.epoch().unwrap_or(0))
    }

    /// The largest epoch that this instance has seen, of any holder; 0 before the first one.
    pub(super) fn known_epoch(&self) -> u64 {
        self.0.known.load(Ordering::Relaxed)
    }

    /// Records the epoch of the present holder.
    pub(super) fn see_epoch(&self, epoch: u64) {
        self.0.known.fetch_max(epoch, Ordering::Relaxed);
    }

    /// Releases the lease, and does not request it for three to four seconds: for a holder that
    /// cannot do the work of the lease. Returns `false`, and keeps the lease, if it was given up
    /// less than ten seconds ago; also `false` if this instance is not the holder.
    #[must_use]
    pub fn give_up(&self) -> bool {
        let (state, at) = (&self.0, Instant::now());
        let Some(term) = state.term() else { return false };
        let mut given_up = state.given_up.lock();
        if given_up.is_some_and(|last| at.saturating_duration_since(last.at) < GIVE_UP_PERIOD) {
            return false;
        }
        *given_up = Some(GivenUp { at, until: at + PAUSE + PAUSE.mul_f64(fastrand::f64() / 3.0) });
        drop(given_up);
        *state.term.lock() = None;
        if let Some(registry) = state.registry.upgrade() {
            registry.dropped(state.key.clone(), state.token(term.epoch));
        }
        true
    }

    /// Records whether the key had a foreign value. Logs the first of several in a row.
    pub(super) fn set_foreign(&self, is_foreign: bool) {
        if !self.0.is_foreign.swap(is_foreign, Ordering::Relaxed) && is_foreign {
            tracing::warn!(
                lease = self.name(),
                "another program has written the key of a lease; its value was replaced"
            );
        }
    }
}

impl State {
    fn term(&self) -> Option<Term> {
        self.term.lock().filter(|term| Instant::now() < term.until)
    }

    fn is_paused(&self) -> bool {
        self.given_up.lock().is_some_and(|last| Instant::now() < last.until)
    }

    fn is_given_up_since(&self, sent: Instant) -> bool {
        self.given_up.lock().is_some_and(|last| last.at >= sent)
    }

    fn token(&self, epoch: u64) -> String {
        token(&self.instance, epoch)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let (Some(registry), Some(term)) = (self.registry.upgrade(), *self.term.lock()) else {
            return;
        };
        registry.dropped(self.key.clone(), self.token(term.epoch));
    }
}

/// The value of a lease's key.
pub(super) fn token(instance: &str, epoch: u64) -> String {
    format!("{instance}:{epoch}")
}

/// The leases that this instance requests.
#[derive(Default)]
pub(super) struct LeaseRegistry {
    entries: Mutex<Entries>,
    /// Notified when a lease is requested or dropped: the next heartbeat must not wait.
    pub(super) changed: Notify,
}

#[derive(Default)]
struct Entries {
    wanted: BTreeMap<String, Weak<State>>,
    /// Keys and tokens of the leases that the next heartbeat releases.
    dropped: Vec<(String, String)>,
    /// Whether this instance stops, and requests no lease any more.
    is_leaving: bool,
}

impl LeaseRegistry {
    pub(super) fn lease(
        self: &Arc<Self>,
        name: &str,
        key: impl FnOnce() -> String,
        instance: &str,
    ) -> Lease {
        let mut entries = self.entries.lock();
        if let Some(state) = entries.wanted.get(name).and_then(Weak::upgrade) {
            return Lease(state);
        }
        let state = Arc::new(State {
            name: name.to_owned(),
            key: key(),
            instance: instance.to_owned(),
            term: Mutex::default(),
            given_up: Mutex::default(),
            known: AtomicU64::new(0),
            is_foreign: AtomicBool::new(false),
            registry: Arc::downgrade(self),
        });
        entries.wanted.insert(name.to_owned(), Arc::downgrade(&state));
        drop(entries);
        self.changed.notify_one();
        Lease(state)
    }

    fn dropped(&self, key: String, token: String) {
        self.entries.lock().dropped.push((key, token));
        self.changed.notify_one();
    }

    /// The leases to be requested, without those that this instance has given up for now.
    pub(super) fn wanted(&self) -> Vec<Lease> {
        let mut entries = self.entries.lock();
        if entries.is_leaving {
            return Vec::new();
        }
        // The clones are dropped outside the lock, because dropping the last one takes it.
        let mut leases: Vec<Lease> =
            entries.wanted.values().filter_map(Weak::upgrade).map(Lease).collect();
        entries.wanted.retain(|_, state| state.strong_count() > 0);
        drop(entries);
        leases.retain(|Lease(state)| !state.is_paused());
        leases
    }

    /// Whether this instance has left, and requests no leases any more.
    pub(super) fn is_leaving(&self) -> bool {
        self.entries.lock().is_leaving
    }

    /// Takes the leases to be released, as key and token.
    pub(super) fn take_dropped(&self) -> Vec<(String, String)> {
        std::mem::take(&mut self.entries.lock().dropped)
    }

    /// Records the result of a heartbeat that was sent at this time: the epoch, or `None` if this
    /// instance is not the holder.
    pub(super) fn enter(&self, lease: &Lease, epoch: Option<u64>, sent: Instant) {
        if self.entries.lock().is_leaving || lease.0.is_given_up_since(sent) {
            return;
        }
        let before = lease.0.term();
        let term = epoch.map(|epoch| {
            let same = before.filter(|before| before.epoch == epoch);
            let since = same.map_or_else(Instant::now, |before| before.since);
            Term { epoch, since, until: sent + LIFETIME }
        });
        *lease.0.term.lock() = term;
    }

    /// Ends all leases for good; returns those that were held, as key and token.
    pub(super) fn leave(&self) -> Vec<(String, String)> {
        let leases = self.wanted();
        self.entries.lock().is_leaving = true;
        let held = leases.iter().filter_map(|Lease(state)| {
            let epoch = state.term()?.epoch;
            *state.term.lock() = None;
            Some((state.key.clone(), state.token(epoch)))
        });
        let held: Vec<_> = held.collect();
        held.into_iter().chain(self.take_dropped()).collect()
    }
}
