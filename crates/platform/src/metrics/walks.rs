//! Walks over the documents of a content type, by site and content type.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::Counter;

/// The walks over one content type of a site.
#[derive(Debug, Default)]
pub struct WalkCounters {
    /// Walks that were completed.
    pub completed: Counter,
    /// Walks that failed.
    pub failed: Counter,
    /// Documents that were found to be edited, and that no webhook event has announced.
    pub unannounced: Counter,
}

impl WalkCounters {
    /// Counts a walk that has ended.
    pub fn count(&self, completed: bool) {
        let counter = if completed { &self.completed } else { &self.failed };
        counter.inc();
    }
}

/// The walks over all content types that the settings have named since the start.
#[derive(Debug, Default)]
pub struct Walks(Mutex<BTreeMap<(String, String), Arc<WalkCounters>>>);

impl Walks {
    /// The counters of a content type of a site: the same ones after a reload.
    pub fn of(&self, site: &str, uid: &str) -> Arc<WalkCounters> {
        let mut counters = self.0.lock();
        Arc::clone(counters.entry((site.to_owned(), uid.to_owned())).or_default())
    }
}
