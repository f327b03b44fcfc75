//! Incremental updates of an entry, and the invalidations behind them.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use super::updates::ReadVersions;
use super::{Demand, Entry, Phase};
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
        let state = &mut self.entry.locked.lock().state;
        state.updates.end_read(self.since);
        state.prune_updates();
    }
}

impl Entry {
    /// Records that single documents are read from now on.
    pub(crate) fn begin_read(self: &Arc<Self>, since: Instant) -> ReadInFlight {
        self.locked.lock().state.updates.begin_read(since);
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
        let state = &mut self.locked.lock().state;
        let merged = state.updates.keep_patches(since, patches);
        state.prune_updates();
        merged
    }

    /// Stores invalidations of other documents, which may change documents that only the reads in
    /// flight know.
    pub(crate) fn keep_invalidations(&self, since: Instant, invalidations: &[&Invalidation]) {
        let state = &mut self.locked.lock().state;
        let is_reading = state.phase != Phase::Idle || state.updates.has_reads();
        if is_reading && !state.updates.keep_invalidations(since, invalidations) {
            // After the reads in flight, another refresh is wanted.
            state.ask_for(Demand::OnRequest);
        }
    }

    /// Forgets invalidations for which another refresh follows the one in flight.
    pub(crate) fn forget_invalidations(&self, invalidations: &[&Invalidation]) {
        self.locked.lock().state.updates.forget_invalidations(invalidations);
    }

    /// Whether the snapshot may lack a change that is known since this time.
    pub(crate) fn may_lack(&self, at: Instant) -> bool {
        self.locked.lock().state.may_lack(at)
    }

    /// The incremental updates since a refresh began, one for each document.
    pub(crate) fn patches_since(&self, begun: Instant) -> Vec<Patch> {
        self.locked.lock().state.updates.patches_since(begun)
    }

    /// The invalidations since a refresh began, each with the time from which its documents were
    /// read.
    pub(crate) fn invalidations_since(&self, begun: Instant) -> Vec<(Instant, Invalidation)> {
        self.locked.lock().state.updates.invalidations_since(begun)
    }

    /// Which versions incremental updates have read.
    pub(crate) fn read_versions(&self) -> ReadVersions {
        self.locked.lock().state.updates.read_versions()
    }
}
