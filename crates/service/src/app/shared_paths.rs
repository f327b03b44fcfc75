//! The shared paths of the sites, found again only after a change.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::Mutex;

use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::Snapshot;
use frontend_map_catalog::tables::SharedPaths;

/// The shared paths of each site, by its key, as the last request found them.
#[derive(Default)]
pub struct SharedPathsCache(Mutex<HashMap<String, Arc<SharedPaths>>>);

impl SharedPathsCache {
    /// The shared paths of these snapshots of the site, which are in the order of the rules. They
    /// are searched for by one request at a time, because that takes some tenths of a second for a
    /// million URLs.
    pub async fn get(&self, site: &Site, snapshots: &[Arc<Snapshot>]) -> Arc<SharedPaths> {
        let mut known = self.0.lock().await;
        if let Some(found) = known.get(&site.key).filter(|found| found.are_of(snapshots)) {
            return Arc::clone(found);
        }
        let found = tokio::task::block_in_place(|| SharedPaths::find(site, snapshots));
        let found = Arc::new(found);
        known.insert(site.key.clone(), Arc::clone(&found));
        found
    }
}
