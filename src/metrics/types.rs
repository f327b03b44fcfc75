//! What is counted for each content type of each site.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::Count;

/// The counters of one content type of a site.
#[derive(Debug, Default)]
pub struct TypeCounts {
    /// Walks that came to their end.
    pub walks: Count,
    /// Walks that did not.
    pub walk_failures: Count,
}

impl TypeCounts {
    /// A walk has ended; whether it came to its end.
    pub fn walked(&self, whole: bool) {
        let count = if whole { &self.walks } else { &self.walk_failures };
        count.one();
    }
}

/// Those of all that the settings have named since the start.
#[derive(Debug, Default)]
pub struct Types(Mutex<BTreeMap<(String, String), Arc<TypeCounts>>>);

impl Types {
    /// The counters of a content type of a site: the same for the same names, whatever is reloaded.
    #[must_use]
    pub fn of(&self, site: &str, uid: &str) -> Arc<TypeCounts> {
        let mut types = self.0.lock();
        Arc::clone(types.entry((site.to_owned(), uid.to_owned())).or_default())
    }
}
