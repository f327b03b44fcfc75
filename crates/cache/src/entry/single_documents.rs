//! Incremental updates of an entry, and the invalidations behind them.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use super::updates::ReadVersions;
use super::{Entry, State};
use crate::invalidation::Invalidation;
use frontend_map_catalog::snapshot::Patch;

/// A read of single documents in flight: what other reads put into the snapshot meanwhile is kept
/// until this is dropped.
pub(crate) struct ReadInFlight {
    entry: Arc<Entry>,
    since: Instant,
}

impl Drop for ReadInFlight {
    fn drop(&mut self) {
        let mut state = self.entry.state.lock();
        state.updates.end_read(self.since);
        state.prune_updates();
    }
}

impl Entry {
    /// Records that single documents are read from now on.
    pub(crate) fn begin_read(self: &Arc<Self>, since: Instant) -> ReadInFlight {
        self.state.lock().updates.begin_read(since);
        ReadInFlight { entry: Arc::clone(self), since }
    }

    /// Stores incremental updates for the reads in flight. The documents were read after `since`.
    /// Returns the same updates with what was read later on top: an older read never replaces a
    /// newer one.
    pub(crate) fn keep_patches<'p>(
        &self,
        since: Instant,
        patches: &'p [Patch],
    ) -> Cow<'p, [Patch]> {
        let mut state = self.state.lock();
        let merged = state.updates.keep_patches(since, patches);
        state.prune_updates();
        merged
    }

    /// Stores invalidations of other documents, which may change documents that only the refresh in
    /// flight knows.
    pub(crate) fn keep_invalidations(&self, since: Instant, invalidations: &[&Invalidation]) {
        let mut state = self.state.lock();
        if state.is_refreshing() && !state.updates.keep_invalidations(since, invalidations) {
            // After the refresh in flight, another one is wanted.
            state.outdated = true;
        }
    }

    /// Forgets invalidations for which another refresh follows the one in flight.
    pub(crate) fn forget_invalidations(&self, invalidations: &[&Invalidation]) {
        self.state.lock().updates.forget_invalidations(invalidations);
    }

    /// Whether the snapshot may lack a change that is known since this time. Without a snapshot:
    /// whether the one that the refresh in flight builds may.
    pub(crate) fn may_lack(&self, at: Instant) -> bool {
        let state = self.state.lock();
        state.cached.as_ref().map_or(state.is_refreshing(), |cached| cached.begun <= at)
    }

    /// The incremental updates since a refresh began, one for each document.
    pub(crate) fn patches_since(&self, begun: Instant) -> Vec<Patch> {
        self.state.lock().updates.patches_since(begun)
    }

    /// The invalidations since a refresh began, each with the time from which its documents were
    /// read.
    pub(crate) fn invalidations_since(&self, begun: Instant) -> Vec<(Instant, Invalidation)> {
        self.state.lock().updates.invalidations_since(begun)
    }

    /// Which versions incremental updates have read.
    pub(crate) fn read_versions(&self) -> ReadVersions {
        self.state.lock().updates.read_versions()
    }
}

impl State {
    /// Forgets the updates that no read in flight needs.
    pub(super) fn prune_updates(&mut self) {
        let walk = if self.is_refreshing() { self.flight_begun } else { None };
        self.updates.prune(walk);
    }
}
