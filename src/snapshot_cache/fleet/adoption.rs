//! Lists that another instance has published, in place of the copies of this one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::block_in_place;

use crate::fleet::ListId;
use crate::snapshot::Snapshot;
use crate::snapshot_cache::SnapshotCache;
use crate::snapshot_cache::copy::CachedCopy;
use crate::snapshot_cache::entry::Entry;
use crate::snapshot_cache::site_cache::SiteCache;
use crate::store::Urgency;

/// A list that another instance has published, and that was checked.
#[derive(Clone, Debug)]
pub struct PublishedList {
    /// The URLs.
    pub snapshot: Arc<Snapshot>,
    /// When the walk began: later changes in the CMS may be missing.
    pub begun: Instant,
    /// How long the walk took.
    pub took: Duration,
}

impl SnapshotCache {
    /// Puts a published list in place of the copy, and does what a refresh does with a new copy.
    /// Returns whether there is such a list by the present settings.
    pub async fn adopt(&self, list: &ListId, published: PublishedList) -> bool {
        let is_own = |(site, entry): &(&Arc<SiteCache>, &Arc<Entry>)| {
            ListId::of(&site.site, entry.query.uid.as_str()) == *list
        };
        let Some((site, entry)) = self.entries().find(is_own) else { return false };
        let update_lock = entry.update_lock.lock().await;
        let (copy, flight) = block_in_place(|| {
            let before = entry.copy();
            let files = site.sitemap_files(&published.snapshot, before.as_ref());
            let PublishedList { snapshot, begun, took } = published;
            let copy = CachedCopy::adopted((snapshot, begun, took), files, before.as_ref());
            let flight = entry.adopt(copy.clone());
            if let Some(history) = &site.history {
                // Before the path index: a path that it no longer has is in the history.
                let before = before.as_ref().map(|before| &*before.snapshot);
                history.record_refresh(&entry.query.uid, before, &copy.snapshot);
            }
            site.save(entry, &copy, Urgency::Now);
            (copy, flight)
        });
        drop(update_lock);
        site.rebuild_index();
        if let Some(flight) = flight {
            flight.complete(Ok(copy));
        }
        self.triggers.wake_refresher();
        true
    }
}
