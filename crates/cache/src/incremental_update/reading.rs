//! Reads single documents of a content type from the CMS.

use std::collections::{BTreeMap, BTreeSet};

use super::NotUpdated;
use super::known_locales;
use super::plan::RelationList;
use crate::SnapshotCache;
use crate::cached_snapshot::CachedSnapshot;
use crate::refresh::TypeGroup;
use frontend_map_catalog::snapshot::Patch;
use frontend_map_cms::{ContentQuery, Selected, Selection};
use frontend_map_rules::{Document, DocumentLocale};

/// Up to this many versions, which fit on one page of a list, a walk never replaces an update.
const PAGE: usize = 100;
/// The most ids of one request, which are some kilobytes of text.
const IDS: usize = 50;
/// If more documents are named at once, a walk is faster.
pub(super) const MAX_READ_BY_ID: usize = 1_000;
/// A walk is faster for more than this part of a type's documents, if one document causes it.
const WALK_PART: usize = 4;
/// With more dependents than this, documents are asked for in smaller groups.
const MAX_JOINED: u64 = 1_000;

/// The versions of a list: those that read one of its documents.
pub(super) async fn list_dependents(
    cache: &SnapshotCache,
    group: &TypeGroup,
    list: &RelationList<'_>,
) -> Result<Vec<Document<'static>>, NotUpdated> {
    let ids = list.ids();
    if ids.len() > MAX_READ_BY_ID {
        return Err(NotUpdated::NeedsWalk);
    }
    let mut versions = Vec::new();
    let mut groups: Vec<&[String]> = ids.chunks(IDS).rev().collect();
    while let Some(ids) = groups.pop() {
        let found = match select_dependents(cache, group, list, ids).await? {
            Selected::TooMany if ids.len() > 1 => {
                let (first, second) = ids.split_at(ids.len() / 2);
                groups.extend([second, first]);
                continue;
            }
            Selected::TooMany => return Err(NotUpdated::NeedsWalk),
            Selected::Versions(found) => found,
        };
        record_target(cache, group, list, &found);
        versions.extend(found);
        if versions.len() > all_versions(group) {
            return Err(NotUpdated::NeedsWalk);
        }
    }
    Ok(versions)
}

/// The versions of a list that read one of these documents.
async fn select_dependents(
    cache: &SnapshotCache,
    group: &TypeGroup,
    RelationList { relation, locales, is_full, .. }: &RelationList<'_>,
    ids: &[String],
) -> Result<Selected, NotUpdated> {
    let selection = Selection::Dependents { relation: relation.clone(), of: ids.to_vec() };
    let query = selecting(group, selection);
    let max = if ids.len() > 1 { MAX_JOINED } else { max_versions(group) as u64 };
    Ok(if *is_full {
        Selected::Versions(cache.content.select_by_locale(&query, locales).await?)
    } else {
        cache.content.select(&query, locales, max).await?
    })
}

/// Records where the relation of a list leads, if its versions show it.
fn record_target(
    cache: &SnapshotCache,
    group: &TypeGroup,
    RelationList { relation, target, .. }: &RelationList<'_>,
    found: &[Document<'_>],
) {
    if !found.is_empty() {
        cache.triggers.targets.lock().leads(&group.query.uid, relation, target);
    }
}

/// All versions of these documents, one patch for each that was read, and why it is not all of them.
pub(super) async fn read_by_id(
    cache: &SnapshotCache,
    group: &TypeGroup,
    ids: &BTreeSet<&str>,
) -> (Vec<Patch>, Result<(), NotUpdated>) {
    let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    let at_once = (PAGE / group.locales.len().max(1)).clamp(1, IDS);
    let mut patches = Vec::with_capacity(ids.len());
    for ids in ids.chunks(at_once) {
        let query = selecting(group, Selection::Documents(ids.to_vec()));
        let versions = match select(cache, group, &query, ids).await {
            Ok(versions) => versions,
            Err(reason) => return (patches, Err(reason)),
        };
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
    (patches, Ok(()))
}

async fn select(
    cache: &SnapshotCache,
    group: &TypeGroup,
    query: &ContentQuery,
    ids: &[String],
) -> Result<Vec<Document<'static>>, NotUpdated> {
    let (content, locales) = (&cache.content, &group.locales);
    match content.select(query, locales, u64::MAX).await? {
        Selected::Versions(versions) if known_locales::may_be_missing(group, ids, &versions) => {
            Ok(content.select_by_locale(query, locales).await?)
        }
        Selected::Versions(versions) => Ok(versions),
        Selected::TooMany => Err(NotUpdated::NeedsWalk),
    }
}

pub(super) fn selecting(group: &TypeGroup, selection: Selection) -> ContentQuery {
    ContentQuery { selection: Some(selection), ..group.query.clone() }
}

/// The number of versions up to which single documents are read because of one document.
pub(super) fn max_versions(group: &TypeGroup) -> usize {
    (all_versions(group) / WALK_PART).max(PAGE)
}

/// The number of versions up to which single documents are read in one round: those of a walk.
pub(super) fn all_versions(group: &TypeGroup) -> usize {
    let cached_snapshots = group.members.iter().filter_map(|member| member.entry.cached());
    let versions = |cached: CachedSnapshot| cached.snapshot.len() + cached.snapshot.no_url_count();
    cached_snapshots.map(versions).max().unwrap_or(0).max(PAGE)
}

/// Whether the locale of a version is this one; a version without locale is in all of them.
pub(super) fn is_in(own: &DocumentLocale<'_>, locale: &str) -> bool {
    match own {
        DocumentLocale::Named(name) => name == locale,
        DocumentLocale::None | DocumentLocale::NotText => true,
    }
}
