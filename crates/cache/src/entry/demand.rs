//! Which refreshes of an entry are wanted, and how soon.

use std::time::{Duration, Instant};

use super::{Demand, Entry};

impl Entry {
    /// Records that something may have changed, and asks for a refresh at once, or as soon as the
    /// one in flight has ended.
    pub(crate) fn mark_urgent(&self) {
        let mut state = self.state.lock();
        (state.outdated, state.demand) = (true, Demand::AtOnce);
    }

    /// Whether a refresh should start at once.
    pub(crate) fn is_urgent(&self) -> bool {
        let state = self.state.lock();
        state.demand == Demand::AtOnce && !state.is_refreshing()
    }

    /// Asks for a refresh in the background. False if it is asked for already.
    pub(crate) fn want_refresh(&self) -> bool {
        let mut state = self.state.lock();
        let before = state.demand;
        state.demand = before.max(Demand::Background);
        before == Demand::None
    }

    /// Records that something may have changed, and asks for a refresh in the background if there is a
    /// snapshot, after the one in flight.
    pub(crate) fn make_due(&self) {
        let mut state = self.state.lock();
        state.outdated = true;
        if state.cached.is_some() {
            state.demand = state.demand.max(Demand::Background);
        }
    }

    /// Whether a refresh should start, at once or in the background.
    pub(crate) fn is_refresh_wanted(&self) -> bool {
        let state = self.state.lock();
        state.demand != Demand::None && !state.is_refreshing()
    }

    /// Records that a request needs the snapshot.
    pub(crate) fn record_request(&self) {
        self.state.lock().requested = Some(Instant::now());
    }

    pub(crate) fn was_requested_within(&self, time: Duration) -> bool {
        self.state.lock().requested.is_some_and(|at| at.elapsed() < time)
    }
}
