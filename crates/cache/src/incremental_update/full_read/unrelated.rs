//! Reads the versions that have no related document.
//!
//! Publishing a document can make other documents its dependents, without events about these.
//! Withdrawing it ends their relation again. Dependents that were not read in between are found
//! neither by a filter, because the relation has ended, nor in the snapshots, which have their
//! earlier relation. But each of them has no related document now, so a read of such versions finds
//! them.

use std::slice;

use crate::SnapshotCache;
use crate::incremental_update::lists::patches;
use crate::incremental_update::patching::Reading;
use crate::incremental_update::plan::may_lead;
use crate::incremental_update::reading::selecting;
use crate::incremental_update::{Listed, NotUpdated};
use crate::invalidation::PendingInvalidation;
use crate::refresh::TypeGroup;
use frontend_map_cms::Selection;
use frontend_map_rules::Locale;

/// Updates the versions in a locale that have no document behind a relation, for each relation that may
/// lead to the document of the invalidation. Adds them to `listed`.
pub(super) async fn update_unrelated(
    cache: &SnapshotCache,
    group: &TypeGroup,
    pending: &PendingInvalidation,
    locale: &Locale,
    listed: &mut Listed,
) -> Result<(), NotUpdated> {
    let targets = &cache.triggers.targets;
    let mut relations = group.relations();
    let target = &*pending.invalidation.uid;
    relations.retain(|relation| may_lead(group, &targets.lock(), relation, target));
    // Of `parent.parent`, the parent alone may have lost the relation: the dependent still has a parent.
    if relations.iter().any(|relation| relation.segments().len() > 1) {
        return Err(NotUpdated::NeedsWalk);
    }
    for relation in relations {
        let reading = Reading::begin(cache, group);
        let query = selecting(group, Selection::Unrelated(relation));
        let versions = cache.content.select_by_locale(&query, slice::from_ref(locale)).await?;
        reading.apply(&patches(versions, listed)).await?;
    }
    Ok(())
}
