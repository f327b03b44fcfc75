//! Documents that the CMS has otherwise than a snapshot.

use std::collections::BTreeSet;
use std::slice;

use tokio::task::block_in_place;

use super::reading::read_by_id;
use crate::SnapshotCache;
use crate::refresh::{Member, TypeGroup};
use frontend_map_catalog::snapshot::{Patch, Patched};

/// Reads these documents of the content type of a group; those that differ from a snapshot of its
/// members. `None`: not all of them could be read.
pub(crate) async fn differing(
    cache: &SnapshotCache,
    group: &TypeGroup,
    ids: &BTreeSet<&str>,
) -> Option<BTreeSet<String>> {
    let (patches, result) = read_by_id(cache, group, ids).await;
    result.ok()?;
    let is_different = |patch: &&Patch| {
        group.members.iter().any(|Member { site, entry }| {
            let updated = entry.cached().map(|cached| {
                cached.snapshot.patched(slice::from_ref(patch), site.listing(entry), site.builder())
            });
            !matches!(updated, None | Some(Patched::Unchanged))
        })
    };
    block_in_place(|| {
        Some(patches.iter().filter(is_different).map(|patch| patch.id.clone()).collect())
    })
}
