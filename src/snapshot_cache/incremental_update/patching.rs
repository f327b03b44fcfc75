//! Puts documents that were read again into the cached copies.

use std::time::Instant;

use super::NotUpdated;
use crate::snapshot::{Patch, Patched};
use crate::snapshot_cache::copy::CachedCopy;
use crate::snapshot_cache::entry::{Entry, ReadInFlight};
use crate::snapshot_cache::refresh::TypeGroup;
use crate::snapshot_cache::site_cache::SiteCache;

/// A read of documents for the copies of all members of a group.
pub(super) struct Reading<'g> {
    group: &'g TypeGroup,
    since: Instant,
    _in_flight: Vec<ReadInFlight>,
}

impl<'g> Reading<'g> {
    /// A read that begins now.
    pub(super) fn begin(group: &'g TypeGroup) -> Self {
        let since = Instant::now();
        let in_flight = group.members.iter().map(|(_, entry)| entry.begin_read(since)).collect();
        Self { group, since, _in_flight: in_flight }
    }

    /// Puts the documents into the copies of all members, and into those of a refresh which began
    /// before the read, once it completes. What another read has found since stays.
    pub(super) async fn apply(self, patches: &[Patch]) -> Result<(), NotUpdated> {
        if patches.is_empty() {
            return Ok(());
        }
        let mut needs_walk = false;
        for (site, entry) in &self.group.members {
            let _update_lock = entry.update_lock.lock().await;
            let patches = entry.keep_patches(self.since, patches);
            // A refresh that began later has read these documents itself.
            let Some(copy) = entry.copy().filter(|copy| copy.begun < self.since) else { continue };
            match tokio::task::block_in_place(|| patched(site, entry, &copy, &patches)) {
                Patched::Unchanged => {}
                Patched::Changed(snapshot) => {
                    let files = site.sitemap_files(&snapshot, Some(&copy));
                    entry.replace_copy(copy.updated(*snapshot, files));
                    site.rebuild_index();
                }
                Patched::NeedsWalk => needs_walk = true,
            }
        }
        let (uid, documents) = (&self.group.query.uid, patches.len());
        tracing::debug!(%uid, documents, "documents were updated");
        if needs_walk { Err(NotUpdated::NeedsWalk) } else { Ok(()) }
    }
}

fn patched(site: &SiteCache, entry: &Entry, copy: &CachedCopy, patches: &[Patch]) -> Patched {
    copy.snapshot.patched(patches, site.listing(entry), site.builder())
}
