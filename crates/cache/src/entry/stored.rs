//! A copy from the store.

use super::{CopyOrigin, Entry};
use crate::copy::CachedCopy;

impl Entry {
    /// Takes a copy from the store, unless the entry has one already. Webhook events since then may have
    /// been lost, so that a refresh is due. Returns whether the copy was taken.
    pub(crate) fn adopt_stored(&self, copy: CachedCopy) -> bool {
        let mut state = self.state.lock();
        if state.copy.is_some() {
            return false;
        }
        state.copy = Some(copy);
        (state.origin, state.outdated) = (CopyOrigin::Store, true);
        true
    }

    /// Whether no walk of this process has confirmed the copy yet.
    pub(crate) fn is_from_store(&self) -> bool {
        self.state.lock().origin == CopyOrigin::Store
    }
}
