//! Invalidations during a read whose documents the read may have found behind relations.

use std::time::Instant;

use super::Member;
use crate::invalidation::Invalidation;
use frontend_map_catalog::snapshot::Snapshot;

impl Member {
    /// The invalidations since a read began that have to be processed again: the read has
    /// found versions that read a changed document, which the snapshot did not know before, and which
    /// were not read since the change. `is_found` says which documents it has found.
    pub(crate) fn invalidations_to_repeat(
        &self,
        snapshot: &Snapshot,
        begun: Instant,
        is_found: impl Fn(&str) -> bool,
    ) -> Vec<Invalidation> {
        let Self { site, entry } = self;
        let invalidations = entry.invalidations_since(begun);
        if invalidations.is_empty() {
            return Vec::new();
        }
        let read = entry.read_versions();
        let relations = site.site.rules.relations(entry.query.uid.as_str());
        let is_to_repeat = |(since, Invalidation { document_id, .. }): &(_, Invalidation)| {
            let referring =
                relations.iter().flat_map(|relation| snapshot.referring(relation, document_id));
            let mut found = referring.filter(|(id, _)| is_found(id));
            found.any(|(id, locale)| !read.has(*since, id, &site.locales()[locale]))
        };
        invalidations
            .into_iter()
            .filter(is_to_repeat)
            .map(|(_, invalidation)| invalidation)
            .collect()
    }
}
