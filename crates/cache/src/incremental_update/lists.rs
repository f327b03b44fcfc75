//! Updates the documents in lists of dependents.

use std::collections::BTreeMap;

use super::patching::Reading;
use super::plan::RelationList;
use super::reading::list_dependents;
use super::{Listed, NotUpdated};
use crate::SnapshotCache;
use crate::invalidation::PendingInvalidation;
use crate::refresh::TypeGroup;
use frontend_map_catalog::snapshot::Patch;
use frontend_map_rules::Document;

/// Updates the documents of these lists, each put into the snapshots as soon as it is read. Returns
/// the invalidations of each list that has failed, with the reason.
pub(super) async fn update_lists<'l, 'h>(
    cache: &SnapshotCache,
    group: &TypeGroup,
    lists: &'l [RelationList<'h>],
    listed: &mut Listed,
) -> Vec<(&'l [&'h PendingInvalidation], NotUpdated)> {
    let mut empty: Vec<&RelationList<'_>> = Vec::new();
    let mut failed = Vec::new();
    for list in lists {
        // Without children there are no grandchildren.
        if empty.iter().any(|shorter| is_level_above(group, shorter, list)) {
            empty.push(list);
            continue;
        }
        match update_listed(cache, group, list, listed).await {
            Ok(true) => {}
            Ok(false) => empty.push(list),
            Err(reason) => failed.push((&*list.invalidations, reason)),
        }
    }
    failed
}

/// Updates the dependents of one list. Returns whether there are any.
async fn update_listed(
    cache: &SnapshotCache,
    group: &TypeGroup,
    list: &RelationList<'_>,
    listed: &mut Listed,
) -> Result<bool, NotUpdated> {
    let reading = Reading::begin(cache, group);
    let versions = list_dependents(cache, group, list).await?;
    let patches = patches(versions, listed);
    reading.apply(&patches).await?;
    Ok(!patches.is_empty())
}

/// The patches for the versions of a list, which are added to `listed`.
pub(super) fn patches(versions: Vec<Document<'static>>, listed: &mut Listed) -> Vec<Patch> {
    let mut by_id: BTreeMap<String, Vec<Document<'static>>> = BTreeMap::new();
    for version in versions {
        let own = by_id.entry(version.id.clone().into_owned()).or_default();
        own.retain(|other| other.locale != version.locale);
        own.push(version);
    }
    for (id, versions) in &by_id {
        let locales = versions.iter().map(|version| version.locale.clone());
        listed.entry(id.clone()).or_default().extend(locales);
    }
    let patch = |(id, versions)| Patch { id, versions, is_partial: true };
    by_id.into_iter().map(patch).collect()
}

/// Whether `above` lists the level of a page tree above that of `list`, for the same documents.
fn is_level_above(group: &TypeGroup, above: &RelationList<'_>, list: &RelationList<'_>) -> bool {
    let (short, long) = (above.relation.segments(), list.relation.segments());
    above.target == list.target
        && list.target == group.query.uid.as_str()
        && long.len() == short.len() + 1
        && long.iter().all(|name| *name == short[0])
        && short.iter().all(|name| *name == short[0])
        && list
            .invalidations
            .iter()
            .all(|own| above.invalidations.iter().any(|pending| std::ptr::eq(*own, *pending)))
}
