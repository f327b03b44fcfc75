//! What happens to an entry while a refresh is in flight, which may have read older versions.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use crate::snapshot::Patch;
use crate::snapshot_cache::invalidation::Invalidation;

/// Incremental updates and invalidations, in order.
#[derive(Default)]
pub(super) struct Updates {
    /// Each with the time before the document was read.
    patches: Vec<(Instant, Patch)>,
    hints: Vec<(Instant, Invalidation)>,
}

impl Updates {
    pub(super) fn keep_patches(&mut self, since: Instant, patches: &[Patch]) {
        let whole = patches.iter().filter(|patch| !patch.is_partial);
        let whole: HashSet<&str> = whole.map(|patch| &*patch.id).collect();
        self.patches.retain(|(_, patch)| !whole.contains(&*patch.id));
        self.patches.extend(patches.iter().map(|patch| (since, patch.clone())));
    }

    pub(super) fn keep_hints(&mut self, since: Instant, hints: &[&Invalidation]) {
        self.hints.retain(|(_, hint)| !hints.contains(&hint));
        self.hints.extend(hints.iter().map(|hint| (since, (*hint).clone())));
    }

    pub(super) fn patches_since(&self, begun: Instant) -> Vec<Patch> {
        let mut by_id: HashMap<&str, Patch> = HashMap::new();
        for (_, patch) in self.patches.iter().filter(|(since, _)| *since > begun) {
            match by_id.get_mut(&*patch.id) {
                Some(before) => before.add(patch),
                None => drop(by_id.insert(&patch.id, patch.clone())),
            }
        }
        by_id.into_values().collect()
    }

    pub(super) fn hints_since(&self, begun: Instant) -> Vec<Invalidation> {
        let since = self.hints.iter().filter(|(since, _)| *since > begun);
        since.map(|(_, hint)| hint.clone()).collect()
    }
}
