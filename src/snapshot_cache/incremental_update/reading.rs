//! Reads the documents of a plan from the CMS.

use std::collections::{BTreeMap, BTreeSet};

use super::NotUpdated;
use super::known_locales;
use super::plan::{Plan, RelationList};
use crate::content::{ContentError, ContentQuery, Selected, Selection, SetupProblem};
use crate::rules::{Document, DocumentLocale, FieldPath};
use crate::snapshot::Patch;
use crate::snapshot_cache::SnapshotCache;
use crate::snapshot_cache::refresh::TypeGroup;

/// Up to this many versions, which fit on one page of a list, a walk never replaces an update.
const PAGE: usize = 100;
/// The most ids of one request, which are some kilobytes of text.
const IDS: usize = 50;
/// If more documents are named at once, a walk is faster.
const MAX_NAMED: usize = 1_000;
/// A walk is faster for more than this part of a type's documents.
const WALK_PART: usize = 4;

impl From<ContentError> for NotUpdated {
    fn from(error: ContentError) -> Self {
        match error {
            // This includes responses of a CMS that ignores the filter.
            ContentError::TlsFailed | ContentError::Unusable(_) | ContentError::Setup(_) => {
                Self::Unusable
            }
            error => Self::Failed(error),
        }
    }
}

/// The current state of the documents, one patch for each.
pub(super) async fn read(
    cache: &SnapshotCache,
    group: &TypeGroup,
    plan: &Plan,
) -> Result<Vec<Patch>, NotUpdated> {
    let max = max_versions(group);
    if plan.named.len() > MAX_NAMED.min(max) {
        return Err(NotUpdated::NeedsWalk);
    }
    let listed = list_all(cache, group, &plan.lists, max).await?;
    // A version that read a changed document and does no longer is in no list.
    let is_gone = |(id, locales): &(&String, &BTreeSet<String>)| {
        let versions = listed.get(*id);
        let is_listed = |locale: &String| {
            versions.is_some_and(|versions| versions.iter().any(|one| is_in(one, locale)))
        };
        !locales.iter().all(is_listed)
    };
    let gone = plan.known.iter().filter(is_gone).map(|(id, _)| id);
    let named: BTreeSet<&String> = plan.named.iter().chain(gone).collect();
    if named.len() * group.locales.len() > max {
        return Err(NotUpdated::NeedsWalk);
    }
    let mut patches = read_all(cache, group, &named).await?;
    let others = listed.into_iter().filter(|(id, _)| !named.contains(id));
    patches.extend(others.map(|(id, versions)| Patch { id, versions, is_partial: true }));
    Ok(patches)
}

/// The versions that read one of the documents, by `documentId`.
async fn list_all(
    cache: &SnapshotCache,
    group: &TypeGroup,
    lists: &[RelationList],
    max: usize,
) -> Result<BTreeMap<String, Vec<Document<'static>>>, NotUpdated> {
    let mut found: BTreeMap<String, Vec<Document<'static>>> = BTreeMap::new();
    let mut empty: Vec<&RelationList> = Vec::new();
    for list in lists {
        // Without children there are no grandchildren.
        if empty.iter().any(|shorter| is_level_above(group, shorter, list)) {
            empty.push(list);
            continue;
        }
        let versions = list_one(cache, group, list, max).await?;
        if versions.is_empty() {
            empty.push(list);
        }
        for version in versions {
            let own = found.entry(version.id.clone().into_owned()).or_default();
            own.retain(|other| other.locale != version.locale);
            own.push(version);
        }
    }
    Ok(found)
}

async fn list_one(
    cache: &SnapshotCache,
    group: &TypeGroup,
    RelationList { relation, target, ids }: &RelationList,
    max: usize,
) -> Result<Vec<Document<'static>>, NotUpdated> {
    let (uid, targets) = (&group.query.uid, &cache.triggers.targets);
    if ids.len() > MAX_NAMED {
        return Err(NotUpdated::NeedsWalk);
    }
    let mut versions = Vec::new();
    for ids in ids.chunks(IDS) {
        let query = selecting(group, Some(relation), ids.to_vec());
        let found = match cache.content.select(&query, &group.locales, max as u64).await {
            Ok(Selected::TooMany) => return Err(NotUpdated::NeedsWalk),
            Ok(Selected::Versions(found)) => found,
            Err(error) if !targets.lock().is_known(uid, relation) && is_no_relation(&error) => {
                Vec::new()
            }
            Err(error) => return Err(error.into()),
        };
        let mut targets = targets.lock();
        if !found.is_empty() {
            targets.leads(uid, relation, target);
        } else if !targets.is_known(uid, relation) {
            targets.exclude(uid, relation, target);
            break;
        }
        drop(targets);
        versions.extend(found);
        if versions.len() > max {
            return Err(NotUpdated::NeedsWalk);
        }
    }
    Ok(versions)
}

/// All versions of these documents.
async fn read_all(
    cache: &SnapshotCache,
    group: &TypeGroup,
    named: &BTreeSet<&String>,
) -> Result<Vec<Patch>, NotUpdated> {
    let ids: Vec<String> = named.iter().map(|id| (*id).clone()).collect();
    let at_once = (PAGE / group.locales.len().max(1)).clamp(1, IDS);
    let mut patches = Vec::with_capacity(ids.len());
    for ids in ids.chunks(at_once) {
        let query = selecting(group, None, ids.to_vec());
        let found = cache.content.select(&query, &group.locales, u64::MAX).await?;
        let Selected::Versions(mut versions) = found else { return Err(NotUpdated::NeedsWalk) };
        if known_locales::may_be_missing(group, ids, &versions) {
            versions = cache.content.select_by_locale(&query, &group.locales).await?;
        }
        let mut by_id: BTreeMap<&str, Vec<Document<'static>>> =
            ids.iter().map(|id| (&**id, Vec::new())).collect();
        for version in versions {
            if let Some(own) = by_id.get_mut(&*version.id) {
                own.push(version);
            }
        }
        let patch =
            |(id, versions): (&str, _)| Patch { id: id.to_owned(), versions, is_partial: false };
        patches.extend(by_id.into_iter().map(patch));
    }
    Ok(patches)
}

fn selecting(group: &TypeGroup, relation: Option<&FieldPath>, ids: Vec<String>) -> ContentQuery {
    let selection = Some(Selection { relation: relation.cloned(), ids });
    ContentQuery { selection, ..group.query.clone() }
}

/// The number of versions up to which single documents are read.
fn max_versions(group: &TypeGroup) -> usize {
    let copies = group.members.iter().filter_map(|(_, entry)| entry.copy());
    let most = copies.map(|copy| copy.snapshot.len()).max().unwrap_or(0);
    (most / WALK_PART).max(PAGE)
}

/// Whether a request fails because the path leads through something other than a relation, such as
/// a component.
fn is_no_relation(error: &ContentError) -> bool {
    matches!(
        error,
        ContentError::Setup(SetupProblem::UnknownKey { .. }) | ContentError::TypeFails { .. }
    )
}

/// Whether `above` lists the level of a page tree above that of `list`, for the same documents.
fn is_level_above(group: &TypeGroup, above: &RelationList, list: &RelationList) -> bool {
    let (short, long) = (above.relation.segments(), list.relation.segments());
    above.target == list.target
        && list.target == group.query.uid.as_str()
        && long.len() == short.len() + 1
        && long.iter().all(|name| *name == short[0])
        && short.iter().all(|name| *name == short[0])
        && list.ids.iter().all(|id| above.ids.contains(id))
}

fn is_in(version: &Document<'_>, locale: &str) -> bool {
    match &version.locale {
        DocumentLocale::Named(name) => name == locale,
        DocumentLocale::None | DocumentLocale::NotText => true,
    }
}
