//! A cache entry: the cached snapshot of one content type, its freshness, and the refresh in
//! flight.

mod demand;
mod flight;
mod followed;
mod single_documents;
mod updates;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::cached_snapshot::CachedSnapshot;
use crate::settings::Freshness;
use flight::Outcome;
use frontend_map_cms::{ContentError, ContentQuery};
use frontend_map_platform::metrics::WalkCounters;
use updates::Updates;

pub(super) use flight::{Flight, Waiter};
pub(super) use single_documents::ReadInFlight;

/// The shortest time from a failed refresh to the next one while there is a snapshot to serve.
const RETRY_DELAY: Duration = Duration::from_secs(2);

/// What an entry has for a request.
pub(super) enum Lookup {
    /// A snapshot that may be served.
    Found {
        cached: CachedSnapshot,
        /// Whether the last refresh failed.
        failing: bool,
        /// Whether a refresh should start now.
        due: bool,
    },
    /// No snapshot, or one beyond the hard limit.
    Missing,
}

/// A refresh that has ended.
pub(super) struct Completed {
    pub(super) outcome: Outcome,
    /// Whether the refresh before it failed, too.
    pub(super) failed_before: bool,
    /// Whether the entry is orphaned.
    pub(super) orphaned: bool,
}

/// The entry of one content type of a site.
///
/// It is orphaned when a reload puts another entry in its place: refreshes of an orphaned entry
/// serve only their own waiters, and are cancelled when the last waiter has left.
pub(super) struct Entry {
    /// The key of the site.
    pub(super) site: String,
    /// The query of a refresh to the CMS.
    pub(super) query: ContentQuery,
    pub(super) counters: Arc<WalkCounters>,
    /// How many documents the refresh in flight, or the last one, has seen.
    pub(super) seen: AtomicU64,
    /// Locked while an updated snapshot is built from the current one.
    pub(super) update_lock: tokio::sync::Mutex<()>,
    orphaned: watch::Sender<bool>,
    state: Mutex<State>,
}

/// Where the snapshot comes from that takes the place of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The refresh in flight.
    Walk,
    /// The snapshot before, with documents that were read again.
    Update,
    /// Another instance.
    Adoption,
    /// A process before this one.
    Store,
}

/// What a snapshot has replaced.
pub(super) struct Replaced {
    pub(super) before: Option<CachedSnapshot>,
    /// The new one.
    pub(super) cached: CachedSnapshot,
    /// The refresh whose requests wait for it: the caller has to complete it.
    pub(super) flight: Option<Arc<Flight>>,
    /// Whether the refresh before failed.
    pub(super) failed_before: bool,
}

/// How soon a refresh should start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Demand {
    #[default]
    None,
    /// As soon as the share of the CMS permits.
    Background,
    /// Whatever the share permits.
    AtOnce,
}

/// What a refresh in flight waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Awaited {
    /// A walk of this instance.
    #[default]
    Walk,
    /// A snapshot of another instance.
    Adoption,
    /// Nothing any more: a snapshot of another instance has come since the refresh began.
    Superseded,
}

#[derive(Default)]
struct State {
    cached: Option<CachedSnapshot>,
    /// Cannot be upgraded once the refresh has ended or its task has panicked.
    flight: Weak<Flight>,
    /// What this refresh waits for.
    awaited: Awaited,
    /// When the last refresh began.
    flight_begun: Option<Instant>,
    /// When the last refresh failed, if it did.
    failed: Option<Instant>,
    /// Whether the snapshot lacks a change: the CMS has changed since the last refresh began, or
    /// that refresh failed.
    outdated: bool,
    /// The refresh that should start next.
    demand: Demand,
    /// Whether the snapshot is from a process before this one, and no refresh has replaced it yet.
    is_from_store: bool,
    /// When a request last needed the snapshot.
    requested: Option<Instant>,
    /// Incremental updates and invalidations during the reads in flight.
    updates: Updates,
}

impl Entry {
    pub(super) fn new(site: String, query: ContentQuery, counters: Arc<WalkCounters>) -> Self {
        Self {
            site,
            query,
            counters,
            seen: AtomicU64::new(0),
            update_lock: tokio::sync::Mutex::default(),
            orphaned: watch::Sender::new(false),
            state: Mutex::default(),
        }
    }

    /// An entry that starts with the snapshot of another one, for the same rules and documents but
    /// other limits toward the CMS. A refresh is pending if the other entry has a snapshot or a
    /// refresh in flight: its updates until the reload is complete do not reach this entry.
    pub(super) fn adopting(previous: &Self) -> Self {
        let (query, counters) = (previous.query.clone(), Arc::clone(&previous.counters));
        let entry = Self::new(previous.site.clone(), query, counters);
        {
            let (mut state, previous) = (entry.state.lock(), previous.state.lock());
            state.cached.clone_from(&previous.cached);
            (state.failed, state.is_from_store) = (previous.failed, previous.is_from_store);
            state.requested = previous.requested;
            state.outdated =
                previous.cached.is_some() || previous.outdated || previous.is_refreshing();
        }
        entry
    }

    pub(super) fn look_up(&self, freshness: Freshness) -> Lookup {
        let state = self.state.lock();
        let Some(cached) =
            state.cached.clone().filter(|cached| cached.begun.elapsed() < freshness.hard)
        else {
            return Lookup::Missing;
        };
        let old = state.outdated || cached.begun.elapsed() >= freshness.soft;
        // After a long refresh, the next one starts no sooner than that refresh took.
        let rested = cached.completed.elapsed() >= cached.refresh_duration();
        let may_retry = state.failed.is_none_or(|failed| failed.elapsed() >= RETRY_DELAY);
        let due = old && rested && may_retry && !state.is_refreshing();
        Lookup::Found { failing: state.failed.is_some(), cached, due }
    }

    /// A waiter for the refresh in flight. If none is in flight, also a new flight, whose refresh
    /// the caller has to start.
    pub(super) fn join_or_begin(&self) -> (Waiter, Option<Arc<Flight>>) {
        let mut state = self.state.lock();
        if let Some(flight) = state.flight.upgrade() {
            return (flight.join(), None);
        }
        let (flight, waiter) = Flight::new();
        state.flight = Arc::downgrade(&flight);
        state.begin();
        (waiter, Some(flight))
    }

    /// Records that the refresh in flight begins again.
    pub(super) fn begin_again(&self) {
        self.state.lock().begin();
    }

    /// Marks the entry as orphaned: another entry is in use from now on.
    pub(super) fn orphan(&self) {
        self.orphaned.send_replace(true);
    }

    pub(super) fn is_orphaned(&self) -> bool {
        *self.orphaned.borrow()
    }

    /// Returns when the entry is orphaned and the flight has no waiters, and takes the flight out
    /// of the entry.
    pub(super) async fn abandoned(&self, flight: &Flight) {
        let orphaned = self.orphaned.subscribe().wait_for(|orphaned| *orphaned).await.is_ok();
        assert!(orphaned, "the entry owns the sender");
        loop {
            flight.no_waiters().await;
            let mut state = self.state.lock();
            // New waiters are added under the same lock.
            if !flight.has_waiters() {
                state.flight = Weak::new();
                return;
            }
        }
    }

    /// Puts a snapshot in the place of the present one. `None`: one from the store takes the place of no
    /// other one.
    pub(super) fn replace(&self, cached: CachedSnapshot, source: Source) -> Option<Replaced> {
        let mut state = self.state.lock();
        if source == Source::Store && state.cached.is_some() {
            return None;
        }
        let orphaned = cached.orphaned || source == Source::Walk && self.is_orphaned();
        let cached = CachedSnapshot { orphaned, ..cached };
        let failed_before = state.failed.is_some();
        let flight = state.replace(&cached, source);
        let before = state.cached.replace(cached.clone());
        Some(Replaced { before, cached, flight, failed_before })
    }

    /// Records that the refresh in flight has failed.
    pub(super) fn fail(&self, error: ContentError) -> Completed {
        let mut state = self.state.lock();
        let (failed_before, orphaned) = (state.failed.is_some(), self.is_orphaned());
        state.end_flight();
        state.demand_another(orphaned);
        // The changes that it should have read are still missing.
        (state.failed, state.outdated) = (Some(Instant::now()), true);
        Completed { outcome: Err(error), failed_before, orphaned }
    }

    /// Records that something may have changed in the CMS. After a refresh in flight, another one is
    /// wanted.
    pub(super) fn mark_outdated(&self) {
        self.state.lock().outdated = true;
    }

    /// Records that a refresh was not started because the CMS fails.
    pub(super) fn mark_failed(&self) {
        let mut state = self.state.lock();
        state.failed = Some(Instant::now());
        state.outdated = true;
    }

    /// Whether a refresh should start as soon as the CMS has recovered.
    pub(super) fn has_pending_refresh(&self) -> bool {
        let state = self.state.lock();
        (state.failed.is_some() || state.outdated) && !state.is_refreshing()
    }

    pub(super) fn is_refreshing(&self) -> bool {
        self.state.lock().is_refreshing()
    }

    /// Whether this flight is the refresh in flight.
    pub(super) fn is_in_flight(&self, flight: &Arc<Flight>) -> bool {
        self.state.lock().flight.ptr_eq(&Arc::downgrade(flight))
    }

    /// Whether the last refresh failed, and did so no longer ago than this.
    pub(super) fn failed_within(&self, time: Duration) -> bool {
        self.state.lock().failed.is_some_and(|failed| failed.elapsed() < time)
    }

    /// When the last refresh failed, or else when the one that built the snapshot began.
    pub(super) fn last_tried(&self) -> Option<Instant> {
        let state = self.state.lock();
        state.failed.max(state.cached.as_ref().map(|cached| cached.begun))
    }

    /// Whether the last refresh failed.
    pub(super) fn is_failing(&self) -> bool {
        self.state.lock().failed.is_some()
    }

    pub(super) fn cached(&self) -> Option<CachedSnapshot> {
        self.state.lock().cached.clone()
    }
}

impl State {
    /// A refresh begins, which reads all changes before.
    fn begin(&mut self) {
        self.flight_begun = Some(Instant::now());
        (self.outdated, self.demand) = (false, Demand::None);
        self.awaited = Awaited::Walk;
    }

    fn is_refreshing(&self) -> bool {
        self.flight.strong_count() > 0
    }

    /// Ends the refresh in flight; later ones read the documents of its updates themselves.
    fn end_flight(&mut self) -> Option<Arc<Flight>> {
        let flight = self.flight.upgrade();
        (self.flight, self.awaited) = (Weak::new(), Awaited::Walk);
        self.prune_updates();
        flight
    }

    /// A refresh has ended: another one is wanted if something has changed since it began.
    fn demand_another(&mut self, orphaned: bool) {
        if self.outdated && !orphaned {
            self.demand = self.demand.max(Demand::Background);
        }
    }

    /// What a new snapshot changes beside itself. Returns the refresh that has ended with it.
    fn replace(&mut self, cached: &CachedSnapshot, source: Source) -> Option<Arc<Flight>> {
        let flight = match source {
            Source::Walk => {
                self.demand_another(cached.orphaned);
                self.end_flight()
            }
            Source::Update => return None,
            Source::Adoption => {
                (self.outdated, self.demand) = (false, Demand::None);
                if self.awaited == Awaited::Adoption {
                    self.end_flight()
                } else {
                    if self.is_refreshing() {
                        self.awaited = Awaited::Superseded;
                    }
                    self.prune_updates();
                    None
                }
            }
            Source::Store => {
                // Events since then may have been lost.
                (self.is_from_store, self.outdated) = (true, true);
                return None;
            }
        };
        (self.is_from_store, self.failed) = (false, None);
        flight
    }
}

impl Entry {
    /// Whether no refresh of this process has confirmed the snapshot yet.
    pub(crate) fn is_from_store(&self) -> bool {
        self.state.lock().is_from_store
    }
}

#[cfg(test)]
mod tests;
