//! Puts documents that were read again into the cached copies.

use std::time::Instant;

use super::NotUpdated;
use crate::snapshot::{Patch, Patched};
use crate::snapshot_cache::copy::CachedCopy;
use crate::snapshot_cache::entry::Entry;
use crate::snapshot_cache::refresh::TypeGroup;
use crate::snapshot_cache::site_cache::SiteCache;

/// Puts documents that were read after `since` into the copies of all members, and into those of a
/// refresh which began before, once it completes.
pub(super) async fn apply(
    group: &TypeGroup,
    since: Instant,
    patches: &[Patch],
) -> Result<(), NotUpdated> {
    let mut needs_walk = false;
    for (site, entry) in &group.members {
        let _update_lock = entry.update_lock.lock().await;
        entry.keep_patches(since, patches);
        // A refresh that began later has read these documents itself.
        let Some(copy) = entry.copy().filter(|copy| copy.begun < since) else { continue };
        match tokio::task::block_in_place(|| patched(site, entry, &copy, patches)) {
            Patched::Unchanged => {}
            Patched::Changed(snapshot) => {
                let files = site.sitemap_files(&snapshot, Some(&copy));
                entry.replace_copy(copy.updated(*snapshot, files));
                site.rebuild_index();
            }
            Patched::NeedsWalk => needs_walk = true,
        }
    }
    if needs_walk { Err(NotUpdated::NeedsWalk) } else { Ok(()) }
}

fn patched(site: &SiteCache, entry: &Entry, copy: &CachedCopy, patches: &[Patch]) -> Patched {
    copy.snapshot.patched(patches, site.listing(entry), site.builder())
}
