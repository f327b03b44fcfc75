//! A snapshot that another instance of the fleet has built.

use std::sync::Arc;
use std::time::Instant;

use super::{Awaited, Entry, Flight};
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
        state.end_flight();
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
        if state.awaited != Awaited::Adoption {
            return None;
        }
        let flight = state.end_flight()?;
        (state.failed, state.outdated) = (Some(Instant::now()), true);
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
}
