//! Invalidations during a refresh that concern documents which only its walk has found.

use crate::cached_snapshot::CachedSnapshot;
use crate::entry::Entry;
use crate::invalidation::Invalidation;
use crate::site_cache::SiteCache;

/// The invalidations during a refresh whose documents have to be read again: the walk has found
/// documents that read a changed one, which the snapshot before it did not know.
pub(super) fn missed(
    site: &SiteCache,
    entry: &Entry,
    cached: &CachedSnapshot,
) -> Vec<Invalidation> {
    let invalidations = entry.invalidations_since(cached.begun);
    if invalidations.is_empty() {
        return Vec::new();
    }
    let (read, relations) =
        (entry.read_versions(), site.site.rules.relations(entry.query.uid.as_str()));
    let is_missed = |(since, Invalidation { document_id, .. }): &(_, Invalidation)| {
        let referring =
            relations.iter().flat_map(|relation| cached.snapshot.referring(relation, document_id));
        let mut referring = referring.map(|(id, locale)| (id, &site.locales()[locale]));
        referring.any(|(id, locale)| !read.has(*since, id, locale))
    };
    invalidations.into_iter().filter(is_missed).map(|(_, invalidation)| invalidation).collect()
}
