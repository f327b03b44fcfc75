//! Leases: names of which one instance at a time is the holder. They save work, they do not protect
//! data: a write that needs the holder carries the lease's token, which a script compares.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

/// How long a lease lives without a renewal.
pub(super) const LIFETIME: Duration = Duration::from_secs(3);
/// How long an instance does not try to get a lease that it has given up: other instances try once a
/// second. Up to a third of it is added, at random.
const PAUSE: Duration = Duration::from_secs(3);
/// How often an instance gives up a lease at most: if all instances have the same reason, one of them
/// has to be the holder for a while.
const GIVE_UP_PERIOD: Duration = Duration::from_secs(10);

/// A lease that this instance wants; clones are the same lease. Each heartbeat tries to get or to
/// renew it. When the last clone is dropped, it is released.
#[derive(Clone)]
pub struct Lease(Arc<State>);

struct State {
    name: String,
    key: String,
    instance: String,
    term: Mutex<Option<Term>>,
    given_up: Mutex<Option<GivenUp>>,
    epoch: watch::Sender<Option<u64>>,
    /// The largest epoch that any instance was seen to have.
    known: AtomicU64,
    /// Whether its key had a foreign value at the last heartbeat.
    is_strange: AtomicBool,
    registry: Weak<LeaseRegistry>,
}

/// The time in which this instance is the holder.
#[derive(Clone, Copy)]
struct Term {
    epoch: u64,
    since: Instant,
    until: Instant,
}

/// That this instance has left a lease to others.
#[derive(Clone, Copy)]
struct GivenUp {
    at: Instant,
    /// When it tries to get the lease again.
    until: Instant,
}

impl Lease {
    /// The fencing epoch if this instance is the holder now: by its own clock, counted from when
    /// the last renewal was sent, so that a process that was paused knows by itself. Epochs of a
    /// lease only grow.
    #[must_use]
    pub fn epoch(&self) -> Option<u64> {
        self.0.term().map(|term| term.epoch)
    }

    /// How long this instance has been the holder.
    #[must_use]
    pub fn held_for(&self) -> Option<Duration> {
        self.0.term().map(|term| term.since.elapsed())
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Its key in the engine, for scripts that compare its value with [`Lease::token`].
    #[must_use]
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// The value that the key has while this instance is the holder in this epoch. Without an epoch,
    /// a value that no key has.
    #[must_use]
    pub fn token(&self) -> String {
        self.0.token(self.epoch().unwrap_or(0))
    }

    /// The largest epoch that any instance was seen to have; 0 before the first one.
    pub(super) fn known_epoch(&self) -> u64 {
        self.0.known.load(Ordering::Relaxed)
    }

    /// Records the epoch of the present holder.
    pub(super) fn see_epoch(&self, epoch: u64) {
        self.0.known.fetch_max(epoch, Ordering::Relaxed);
    }

    /// The epoch, and each change of it.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Option<u64>> {
        self.0.epoch.subscribe()
    }

    /// Releases it, and leaves it to other instances for a while: for a holder that cannot do what the
    /// lease is about. `false`: it is not held, or was given up a short time ago.
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
        state.set(None);
        if let Some(registry) = state.registry.upgrade() {
            registry.dropped(state.key.clone(), state.token(term.epoch));
        }
        true
    }

    /// Records whether the key had a foreign value, and logs the first of several in a row.
    pub(super) fn set_strange(&self, is_strange: bool) {
        if !self.0.is_strange.swap(is_strange, Ordering::Relaxed) && is_strange {
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

    fn set(&self, term: Option<Term>) {
        *self.term.lock() = term;
        let epoch = term.map(|term| term.epoch);
        self.epoch.send_if_modified(|current| std::mem::replace(current, epoch) != epoch);
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

/// The leases that this instance wants.
#[derive(Default)]
pub(super) struct LeaseRegistry {
    pages: Mutex<Pages>,
    /// A lease is wanted or was dropped: the next heartbeat must not wait.
    pub(super) changed: Notify,
}

#[derive(Default)]
struct Pages {
    wanted: BTreeMap<String, Weak<State>>,
    /// Keys and tokens of leases to be released.
    dropped: Vec<(String, String)>,
    /// No lease is wanted any more.
    is_leaving: bool,
}

impl LeaseRegistry {
    pub(super) fn lease(
        self: &Arc<Self>,
        name: &str,
        key: impl FnOnce() -> String,
        instance: &str,
    ) -> Lease {
        let mut pages = self.pages.lock();
        if let Some(state) = pages.wanted.get(name).and_then(Weak::upgrade) {
            return Lease(state);
        }
        let state = Arc::new(State {
            name: name.to_owned(),
            key: key(),
            instance: instance.to_owned(),
            term: Mutex::default(),
            given_up: Mutex::default(),
            epoch: watch::Sender::new(None),
            known: AtomicU64::new(0),
            is_strange: AtomicBool::new(false),
            registry: Arc::downgrade(self),
        });
        pages.wanted.insert(name.to_owned(), Arc::downgrade(&state));
        drop(pages);
        self.changed.notify_one();
        Lease(state)
    }

    fn dropped(&self, key: String, token: String) {
        self.pages.lock().dropped.push((key, token));
        self.changed.notify_one();
    }

    /// The wanted leases, without those that are left to other instances for now.
    pub(super) fn wanted(&self) -> Vec<Lease> {
        let mut pages = self.pages.lock();
        if pages.is_leaving {
            return Vec::new();
        }
        // Dropped outside the lock: the last clone enters the lease in `dropped`.
        let mut leases: Vec<Lease> =
            pages.wanted.values().filter_map(Weak::upgrade).map(Lease).collect();
        pages.wanted.retain(|_, state| state.strong_count() > 0);
        drop(pages);
        leases.retain(|Lease(state)| !state.is_paused());
        leases
    }

    /// Whether all leases are given up for good.
    pub(super) fn is_leaving(&self) -> bool {
        self.pages.lock().is_leaving
    }

    /// Takes the leases to be released, as key and token.
    pub(super) fn take_dropped(&self) -> Vec<(String, String)> {
        std::mem::take(&mut self.pages.lock().dropped)
    }

    /// Records the result of a heartbeat that was sent at this time: the epoch if this instance is
    /// the holder.
    pub(super) fn enter(&self, lease: &Lease, epoch: Option<u64>, sent: Instant) {
        if self.pages.lock().is_leaving || lease.0.is_given_up_since(sent) {
            return;
        }
        let before = lease.0.term();
        let term = epoch.map(|epoch| {
            let same = before.filter(|before| before.epoch == epoch);
            let since = same.map_or_else(Instant::now, |before| before.since);
            Term { epoch, since, until: sent + LIFETIME }
        });
        lease.0.set(term);
    }

    /// Gives up all leases for good; returns those that were held, as key and token.
    pub(super) fn leave(&self) -> Vec<(String, String)> {
        let leases = self.wanted();
        self.pages.lock().is_leaving = true;
        let held = leases.iter().filter_map(|Lease(state)| {
            let epoch = state.term()?.epoch;
            state.set(None);
            Some((state.key.clone(), state.token(epoch)))
        });
        let held: Vec<_> = held.collect();
        held.into_iter().chain(self.take_dropped()).collect()
    }

    /// Waits until the next lease expires, and notifies its watchers.
    pub(super) async fn expire_next(&self) {
        let ends = self.wanted().into_iter().filter_map(|lease| {
            let until = (*lease.0.term.lock())?.until;
            Some((until, lease))
        });
        let first = ends.min_by_key(|(until, _)| *until);
        // Waiting must not keep a lease that is dropped meanwhile.
        let first = first.map(|(until, lease)| (until, Arc::downgrade(&lease.0)));
        let Some((until, state)) = first else { return pending().await };
        tokio::time::sleep_until(until.into()).await;
        let Some(state) = state.upgrade() else { return };
        if state.term().is_none() {
            state.set(None);
        }
    }
}
