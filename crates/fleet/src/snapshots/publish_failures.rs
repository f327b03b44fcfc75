//! Why snapshots of this instance are not published.

use std::collections::BTreeMap;

use super::SharedSnapshotId;

/// The last error of each snapshot whose last publication has failed.
#[derive(Default)]
pub(super) struct PublishFailures(BTreeMap<SharedSnapshotId, String>);

impl PublishFailures {
    /// Adds the error of a publication. Returns whether no publication fails for this reason yet: an
    /// outage is one line in the log, however many snapshots there are and however often each is tried.
    pub(super) fn add(&mut self, id: &SharedSnapshotId, error: &str) -> bool {
        let is_new = !self.0.values().any(|known| known == error);
        self.0.insert(id.clone(), error.to_owned());
        is_new
    }

    /// A snapshot is published, or need not be.
    pub(super) fn remove(&mut self, id: &SharedSnapshotId) {
        self.0.remove(id);
    }
}
