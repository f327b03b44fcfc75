//! A snapshot that another instance of the fleet has built.

use std::sync::{Arc, Weak};
use std::time::Instant;

use super::{Awaited, Entry, Flight, SnapshotOrigin};
use crate::cached_snapshot::CachedSnapshot;

impl Entry {
    /// Records that the refresh in flight waits for a snapshot of another instance. Returns the
    /// snapshot if one came between the beginning of the refresh and this call: the refresh is
    /// over, and the caller has to complete it. The next snapshot may come much later.
    #[must_use]
    pub(crate) fn follow(&self) -> Option<CachedSnapshot> {
        let mut state = self.state.lock();
        if state.awaited != Awaited::Superseded {
            state.awaited = Awaited::Adoption;
            return None;
        }
        (state.flight, state.awaited) = (Weak::new(), Awaited::Walk);
        state.prune_updates();
        state.cached.clone()
    }

    /// Whether a refresh in flight waits for a snapshot of another instance.
    pub(crate) fn is_following(&self) -> bool {
        let state = self.state.lock();
        state.is_refreshing() && state.awaited == Awaited::Adoption
    }

    /// Ends the refresh in flight without a snapshot if it waits for one of another instance: the
    /// caller has to complete it.
    #[must_use]
    pub(crate) fn end_followed(&self) -> Option<Arc<Flight>> {
        let mut state = self.state.lock();
        let flight = state.flight.upgrade().filter(|_| state.awaited == Awaited::Adoption)?;
        (state.flight, state.awaited) = (Weak::new(), Awaited::Walk);
        (state.failed, state.outdated) = (Some(Instant::now()), true);
        state.prune_updates();
        Some(flight)
    }

    /// Whether the refresh in flight, or else the one that built the snapshot, began at this time
    /// or before.
    pub(crate) fn was_begun_before(&self, time: Instant) -> bool {
        let state = self.state.lock();
        let in_flight = state.flight_begun.filter(|_| state.is_refreshing());
        let begun = in_flight.or(state.cached.as_ref().map(|cached| cached.begun));
        begun.is_some_and(|begun| begun <= time)
    }

    /// Takes a snapshot that another instance has built; no walk of this one is needed any more.
    /// Returns the refresh in flight if it has waited for the snapshot: the caller has to complete
    /// it.
    #[must_use]
    pub(crate) fn adopt(&self, cached: CachedSnapshot) -> Option<Arc<Flight>> {
        let mut state = self.state.lock();
        let flight = state.flight.upgrade().filter(|_| state.awaited == Awaited::Adoption);
        if flight.is_some() {
            (state.flight, state.awaited) = (Weak::new(), Awaited::Walk);
        } else if state.is_refreshing() {
            state.awaited = Awaited::Superseded;
        }
        (state.cached, state.origin, state.failed) = (Some(cached), SnapshotOrigin::Walk, None);
        (state.outdated, state.wanted, state.urgent) = (false, false, false);
        state.prune_updates();
        flight
    }
}
