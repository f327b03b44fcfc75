//! The table of links between the instances of a fleet.

use std::sync::Arc;
use std::time::Instant;

use super::{REMEMBERED, SiteLinks, next_scan};
use crate::SnapshotCache;
use frontend_map_catalog::links::LinkTable;
use frontend_map_fleet::links::PublishedLinks;

/// A table takes at most this many times its bytes in memory once it is serialized and sealed.
const MARGIN: usize = 2;
/// Texts that are not used and take less memory than this, in bytes, are kept.
const SMALL: usize = 1 << 20;

impl SiteLinks {
    /// Stores the table if it has changed, and publishes or adopts it, whichever is due: the leader publishes
    /// what has changed, a follower adopts what it does not have.
    pub async fn share(&self, cache: &SnapshotCache) {
        tokio::task::block_in_place(|| self.compact());
        self.save(&cache.store);
        let Some(shared) = cache.fleet.links(&self.site) else { return };
        let lead = cache.groups.values().find_map(|group| group.shared.lead().cloned());
        let Some(lead) = lead else { return };
        if lead.lease().epoch().is_some() {
            let (table, version, before) = {
                let state = self.state.lock();
                let is_due = state.published_version != state.version || state.published.is_none();
                (state.table.clone().filter(|_| is_due), state.version, state.published.clone())
            };
            let Some(table) = table else { return };
            let bytes = tokio::task::block_in_place(|| table.to_bytes());
            match shared.publish(&lead, &bytes, before.as_ref()).await {
                Ok(Some(published)) => {
                    let mut state = self.state.lock();
                    (state.published, state.published_version) = (Some(published), version);
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!(site = self.site.key, %error, "links are not published yet");
                }
            }
            return;
        }
        let Ok(Some(published)) = shared.published().await else { return };
        if self.state.lock().published.as_ref() == Some(&published) {
            return;
        }
        let max_bytes = self.state.lock().max_bytes;
        let adopted = match shared.download(&published, max_bytes * MARGIN).await {
            Ok(bytes) => tokio::task::block_in_place(|| {
                LinkTable::from_bytes(&bytes, &self.site, max_bytes)
                    .map_err(|error| error.to_string())
            }),
            Err(error) => Err(error.to_string()),
        };
        match adopted {
            Ok(table) => self.adopt(table, cache, published).await,
            Err(error) => {
                tracing::debug!(site = self.site.key, error, "published links are not adopted");
            }
        }
    }

    /// Puts the table of the leader in use. It may lack what events have named a short time ago.
    async fn adopt(&self, table: LinkTable, cache: &SnapshotCache, published: PublishedLinks) {
        let (is_first, read_at) = (self.state.lock().table.is_none(), table.read_at());
        let oldest = Instant::now().checked_sub(REMEMBERED);
        self.install(table, oldest.unwrap_or_else(Instant::now));
        {
            let mut state = self.state.lock();
            (state.published, state.published_version) = (Some(published), state.version);
            state.next = Some(next_scan(read_at));
        }
        self.save(&cache.store);
        if !is_first {
            return;
        }
        for event in cache.fleet.recent_cms_events().await {
            if let Some(document) = event.document() {
                self.invalidate(&document.uid, &document.document_id);
            }
        }
    }

    /// Drops the texts of links that were replaced, once they take as much memory as the others.
    fn compact(&self) {
        let mut state = self.state.lock();
        let compact_bytes = state.compact_bytes;
        let Some(table) = &mut state.table else { return };
        if table.summary().bytes > 2 * compact_bytes + SMALL {
            let compact = table.compacted();
            let bytes = compact.summary().bytes;
            *table = Arc::new(compact);
            state.compact_bytes = bytes;
        }
    }
}
