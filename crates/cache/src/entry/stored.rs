//! A snapshot from the store.

use super::{Entry, SnapshotOrigin};
use crate::cached_snapshot::CachedSnapshot;

impl Entry {
    /// Takes a snapshot from the store, unless the entry has one already. Webhook events since then
    /// may have been lost, so that a refresh is due. Returns whether the snapshot was taken.
    pub(crate) fn adopt_stored(&self, cached: CachedSnapshot) -> bool {
        let mut state = self.state.lock();
        if state.cached.is_some() {
            return false;
        }
        state.cached = Some(cached);
        (state.origin, state.outdated) = (SnapshotOrigin::Store, true);
        true
    }

    /// Whether no walk of this process has confirmed the snapshot yet.
    pub(crate) fn is_from_store(&self) -> bool {
        self.state.lock().origin == SnapshotOrigin::Store
    }
}
