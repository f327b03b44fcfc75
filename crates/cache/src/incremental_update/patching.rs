//! Puts documents that were read again into the cached snapshots.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use tokio::task::block_in_place;

use super::NotUpdated;
use crate::entry::ReadInFlight;
use crate::install::{Cause, install};
use crate::refresh::{Member, TypeGroup};
use crate::{RefreshTriggers, SnapshotCache};
use frontend_map_catalog::snapshot::{Patch, Patched};

/// A read of documents for the snapshots of all members of a group.
pub(super) struct Reading<'g> {
    group: &'g TypeGroup,
    triggers: &'g Arc<RefreshTriggers>,
    since: Instant,
    _in_flight: Vec<ReadInFlight>,
}

impl<'g> Reading<'g> {
    /// A read that begins now.
    pub(super) fn begin(cache: &'g SnapshotCache, group: &'g TypeGroup) -> Self {
        let since = Instant::now();
        let in_flight = group.members.iter().map(|member| member.entry.begin_read(since)).collect();
        Self { group, triggers: &cache.triggers, since, _in_flight: in_flight }
    }

    /// Puts the documents into the snapshots of all members, and into those of a refresh which
    /// began before the read, once it completes. What another read has found since stays.
    pub(super) async fn apply(self, patches: &[Patch]) -> Result<(), NotUpdated> {
        // Another instance that has the lease by now reads the documents again.
        if patches.is_empty() || self.group.shared.follows() {
            return Ok(());
        }
        let mut needs_walk = false;
        for member in &self.group.members {
            let Member { site, entry } = member;
            let _update_lock = entry.update_lock.lock().await;
            let patches = entry.keep_patches(self.since, patches);
            // A refresh that began later has read these documents itself.
            let Some(cached) = entry.cached().filter(|cached| cached.begun < self.since) else {
                continue;
            };
            let (listing, builder) = (site.listing(entry), site.builder());
            let mut snapshot =
                match block_in_place(|| cached.snapshot.patched(&patches, listing, builder)) {
                    Patched::Unchanged => continue,
                    Patched::Changed(snapshot) => *snapshot,
                    Patched::NeedsWalk => {
                        needs_walk = true;
                        continue;
                    }
                };
            if !snapshot.undecided().is_empty() {
                snapshot = site.with_owners(entry, snapshot).await;
            }
            let ids: Vec<&str> = patches.iter().map(|patch| &*patch.id).collect();
            let updated = block_in_place(|| {
                let files = site.sitemap_files(&snapshot, Some(&cached));
                let updated = cached.updated(snapshot, files, self.since);
                install(member, updated.clone(), &Cause::Update(&ids, self.triggers));
                updated
            });
            let ids: HashSet<&str> = ids.into_iter().collect();
            for changed in
                member.invalidations_to_repeat(&updated.snapshot, self.since, |id| ids.contains(id))
            {
                self.triggers.invalidations.add_for(&entry.query.uid, changed);
            }
        }
        let (uid, documents) = (&self.group.query.uid, patches.len());
        tracing::debug!(%uid, documents, "documents were updated");
        if needs_walk { Err(NotUpdated::NeedsWalk) } else { Ok(()) }
    }
}
