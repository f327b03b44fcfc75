//! A cache entry: the cached snapshot of one content type, its freshness, and the refresh in
//! flight.

mod flight;
mod single_documents;
mod state;
mod updates;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::cached_snapshot::CachedSnapshot;
use crate::settings::Freshness;
use flight::Outcome;
use frontend_map_cms::{ContentError, ContentQuery};
use frontend_map_platform::metrics::WalkCounters;
use state::{Phase, State};

pub(super) use flight::{Flight, Waiter};
pub(super) use single_documents::ReadInFlight;
pub(super) use state::{Demand, Event, Lookup};

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
    locked: Mutex<Locked>,
}

#[derive(Default)]
struct Locked {
    state: State,
    /// `None` if the state is idle.
    flight: Option<Arc<Flight>>,
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

impl Locked {
    fn is_in_flight(&self, flight: &Flight) -> bool {
        self.flight.as_ref().is_some_and(|own| std::ptr::eq(Arc::as_ptr(own), flight))
    }

    /// Returns the refresh that has ended with the event.
    fn apply(&mut self, event: Event, now: Instant) -> Option<Arc<Flight>> {
        if self.state.on(event, now) { self.flight.take() } else { None }
    }
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
            locked: Mutex::default(),
        }
    }

    /// An entry that starts with the snapshot of another one, for the same rules and documents but
    /// other limits toward the CMS.
    pub(super) fn adopting(previous: &Self) -> Self {
        let (query, counters) = (previous.query.clone(), Arc::clone(&previous.counters));
        let state = previous.locked.lock().state.adopted();
        let locked = Mutex::new(Locked { state, flight: None });
        Self { locked, ..Self::new(previous.site.clone(), query, counters) }
    }

    pub(super) fn look_up(&self, freshness: Freshness) -> Lookup {
        self.locked.lock().state.look_up(freshness, Instant::now())
    }

    /// A waiter for the refresh in flight. If none is in flight, also a new flight, whose refresh
    /// the caller has to start; `follows`: with another instance. With `unless`, a snapshot that is
    /// usable by it begins nothing, and the waiter has it.
    pub(super) fn join_or_begin(
        &self,
        unless: Option<Freshness>,
        follows: bool,
    ) -> (Waiter, Option<Arc<Flight>>) {
        let (now, mut locked) = (Instant::now(), self.locked.lock());
        if let Some(cached) = unless.and_then(|freshness| locked.state.usable(freshness, now)) {
            return (Waiter::completed(cached.clone()), None);
        }
        if let Some(flight) = &locked.flight {
            return (flight.join(), None);
        }
        let (flight, waiter) = Flight::new();
        locked.apply(if follows { Event::Follow } else { Event::Walk }, now);
        locked.flight = Some(Arc::clone(&flight));
        (waiter, Some(flight))
    }

    /// Applies an event to the state. Returns the flight that ends with it; the caller completes it.
    pub(super) fn apply(&self, event: Event) -> Option<Arc<Flight>> {
        self.locked.lock().apply(event, Instant::now())
    }

    /// Takes an event about this flight into account, unless it has ended. Returns whether it was in
    /// flight.
    pub(super) fn apply_to(&self, flight: &Flight, event: Event) -> bool {
        let mut locked = self.locked.lock();
        let is_in_flight = locked.is_in_flight(flight);
        if is_in_flight {
            locked.apply(event, Instant::now());
        }
        is_in_flight
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
            let mut locked = self.locked.lock();
            // New waiters are added under the same lock.
            if !flight.has_waiters() {
                if locked.is_in_flight(flight) {
                    locked.apply(Event::Abandoned, Instant::now());
                }
                return;
            }
        }
    }

    /// Replaces the snapshot; `event` says where the new one comes from. Returns `None`, and replaces
    /// nothing, if the new one is from the store and the entry has one already.
    pub(super) fn replace(&self, cached: CachedSnapshot, event: Event) -> Option<Replaced> {
        let mut locked = self.locked.lock();
        if event == Event::Stored && locked.state.cached.is_some() {
            return None;
        }
        let orphaned = cached.orphaned || event == Event::Walked && self.is_orphaned();
        let cached = CachedSnapshot { orphaned, ..cached };
        let failed_before = locked.state.failed.is_some();
        let before = locked.state.cached.replace(cached.clone());
        let flight = locked.apply(event, Instant::now());
        Some(Replaced { before, cached, flight, failed_before })
    }

    /// Records that the refresh in flight has failed.
    pub(super) fn fail(&self, error: ContentError) -> Completed {
        let mut locked = self.locked.lock();
        let (failed_before, orphaned) = (locked.state.failed.is_some(), self.is_orphaned());
        locked.apply(Event::Failed, Instant::now());
        Completed { outcome: Err(error), failed_before, orphaned }
    }

    /// Demands a refresh after the one in flight. Returns whether this is more urgent than the demand before.
    pub(super) fn ask_for(&self, demand: Demand) -> bool {
        self.locked.lock().state.ask_for(demand)
    }

    /// Whether a refresh should start this soon.
    pub(super) fn is_wanted(&self, demand: Demand) -> bool {
        self.locked.lock().state.is_wanted(demand)
    }

    /// Whether a refresh should start as soon as the CMS has recovered.
    pub(super) fn has_pending_refresh(&self) -> bool {
        self.locked.lock().state.has_pending_refresh()
    }

    pub(super) fn is_refreshing(&self) -> bool {
        self.locked.lock().state.phase != Phase::Idle
    }

    /// Whether a refresh in flight waits for a snapshot of another instance.
    pub(super) fn is_following(&self) -> bool {
        matches!(self.locked.lock().state.phase, Phase::Following { .. })
    }

    /// Whether this flight is the refresh in flight.
    pub(super) fn is_in_flight(&self, flight: &Flight) -> bool {
        self.locked.lock().is_in_flight(flight)
    }

    /// When the last refresh failed, if it did.
    pub(super) fn failed(&self) -> Option<Instant> {
        self.locked.lock().state.failed
    }

    /// Whether the last refresh failed, and did so no longer ago than this.
    pub(super) fn failed_within(&self, time: Duration) -> bool {
        self.failed().is_some_and(|failed| failed.elapsed() < time)
    }

    /// When the last refresh failed, or else when the one that built the snapshot began.
    pub(super) fn last_tried(&self) -> Option<Instant> {
        let locked = self.locked.lock();
        locked.state.failed.max(locked.state.cached.as_ref().map(|cached| cached.begun))
    }

    /// When the refresh in flight began, or else the one that built the snapshot.
    pub(super) fn last_begun(&self) -> Option<Instant> {
        self.locked.lock().state.last_begun()
    }

    /// Records that a request needs the snapshot.
    pub(super) fn record_request(&self) {
        self.locked.lock().state.requested = Some(Instant::now());
    }

    /// When a request last needed the snapshot.
    pub(super) fn requested(&self) -> Option<Instant> {
        self.locked.lock().state.requested
    }

    pub(super) fn cached(&self) -> Option<CachedSnapshot> {
        self.locked.lock().state.cached.clone()
    }

    /// Whether no refresh of this process has confirmed the snapshot yet.
    pub(super) fn is_from_store(&self) -> bool {
        self.locked.lock().state.cached.as_ref().is_some_and(|cached| cached.is_from_store)
    }
}

#[cfg(test)]
mod tests;
