//! Reads the versions without a related document.
//!
//! Publishing a document can give it dependents that no event names, and withdrawing it takes them
//! away. If they were not read in between, no filter on the document finds them any more, and the
//! copies know them as dependents of another one. All of them have lost the relation.

use std::slice;

use crate::content::Selection;
use crate::rules::Locale;
use crate::snapshot_cache::SnapshotCache;
use crate::snapshot_cache::incremental_update::lists::patches;
use crate::snapshot_cache::incremental_update::patching::Reading;
use crate::snapshot_cache::incremental_update::plan::may_lead;
use crate::snapshot_cache::incremental_update::reading::selecting;
use crate::snapshot_cache::incremental_update::{Listed, NotUpdated};
use crate::snapshot_cache::invalidation::Hint;
use crate::snapshot_cache::refresh::TypeGroup;

/// Updates the versions in a locale that have no related document behind a relation which may lead to
/// the document of the hint, and adds them to `listed`.
pub(super) async fn update_unrelated(
    cache: &SnapshotCache,
    group: &TypeGroup,
    hint: &Hint,
    locale: &Locale,
    listed: &mut Listed,
) -> Result<(), NotUpdated> {
    let targets = &cache.triggers.targets;
    let mut relations = group.relations();
    let target = &*hint.invalidation.uid;
    relations.retain(|relation| may_lead(group, &targets.lock(), relation, target));
    // In a chain such as `parent.parent`, a dependent still has its parent if only that one has lost the
    // relation.
    if relations.iter().any(|relation| relation.segments().len() > 1) {
        return Err(NotUpdated::NeedsWalk);
    }
    for relation in relations {
        let reading = Reading::begin(group);
        let query = selecting(group, Selection::Unrelated(relation));
        let versions = cache.content.select_by_locale(&query, slice::from_ref(locale)).await?;
        reading.apply(&patches(versions, listed)).await?;
    }
    Ok(())
}
