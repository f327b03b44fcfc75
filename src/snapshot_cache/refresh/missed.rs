//! Invalidations during a refresh that concern documents which only its walk has found.

use crate::snapshot_cache::copy::CachedCopy;
use crate::snapshot_cache::entry::Entry;
use crate::snapshot_cache::invalidation::Invalidation;
use crate::snapshot_cache::site_cache::SiteCache;

/// The invalidations during a refresh whose documents have to be read again: the walk has found
/// documents that read a changed one, which the copy before it did not know.
pub(super) fn missed(site: &SiteCache, entry: &Entry, copy: &CachedCopy) -> Vec<Invalidation> {
    let (patches, hints) = (entry.patches_since(copy.begun), entry.hints_since(copy.begun));
    let relations = site.site.rules.relations(entry.query.uid.as_str());
    let is_patched = |id: &str| patches.iter().any(|patch| patch.id == id);
    let is_missed = |hint: &Invalidation| {
        let relations = relations.iter();
        let mut referring =
            relations.flat_map(|relation| copy.snapshot.referring(relation, &hint.document_id));
        referring.any(|(id, _)| !is_patched(id))
    };
    hints.into_iter().filter(is_missed).collect()
}
