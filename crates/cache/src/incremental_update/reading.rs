//! Reads single documents of a content type from the CMS.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use tokio::task::block_in_place;

use super::NotUpdated;
use super::plan::{RelationList, Scope};
use crate::SnapshotCache;
use crate::cached_snapshot::CachedSnapshot;
use crate::refresh::{Member, TypeGroup};
use frontend_map_catalog::snapshot::{Patch, Patched};
use frontend_map_cms::{ContentQuery, Selection};
use frontend_map_rules::{Document, DocumentLocale, Locale};

/// Up to this many versions, which fit on one page of a list, a walk never replaces an update.
const PAGE: usize = 100;
/// The most ids of one request, which are some kilobytes of text.
const IDS: usize = 50;
/// If more documents are named at once, a walk is faster.
pub(super) const MAX_READ_BY_ID: usize = 1_000;
/// A walk is faster for more than this part of a type's documents, if one document causes it.
const WALK_PART: usize = 4;
/// The most versions of a short read.
const MAX_SHORT: u64 = 1_000;

/// The versions of a list: those that read one of its documents.
pub(super) async fn list_dependents(
    cache: &SnapshotCache,
    group: &TypeGroup,
    RelationList { relation, target, invalidations, scope }: &RelationList<'_>,
) -> Result<Vec<Document<'static>>, NotUpdated> {
    if invalidations.len() > MAX_READ_BY_ID {
        return Err(NotUpdated::NeedsWalk);
    }
    let ids: Vec<String> =
        invalidations.iter().map(|one| one.invalidation.document_id.clone()).collect();
    let mut versions = Vec::new();
    for of in ids.chunks(IDS) {
        let selection = Selection::Dependents { relation: relation.clone(), of: of.to_vec() };
        versions.extend(select_in(cache, group, selection, *scope).await?);
    }
    if !versions.is_empty() {
        cache.triggers.targets.lock().record_target(&group.query.uid, relation, target);
    }
    Ok(versions)
}

/// A selection in the locales of a scope.
pub(super) async fn select_in(
    cache: &SnapshotCache,
    group: &TypeGroup,
    selection: Selection,
    Scope { locales, is_full }: Scope<'_>,
) -> Result<Vec<Document<'static>>, NotUpdated> {
    let query = selecting(group, selection);
    if is_full {
        return Ok(cache.content.select_by_locale(&query, locales).await?);
    }
    cache.content.select(&query, locales, MAX_SHORT).await?.ok_or(NotUpdated::TooMany)
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
    let found = content.select(query, locales, u64::MAX).await?;
    let versions = found.ok_or(NotUpdated::NeedsWalk)?;
    if may_be_missing(group, ids, &versions) {
        return Ok(content.select_by_locale(query, locales).await?);
    }
    Ok(versions)
}

fn selecting(group: &TypeGroup, selection: Selection) -> ContentQuery {
    ContentQuery { selection: Some(selection), ..group.query.clone() }
}

/// The number of versions up to which single documents are read because of one document.
pub(super) fn max_versions(group: &TypeGroup) -> usize {
    (all_versions(group) / WALK_PART).max(PAGE)
}

/// The number of versions up to which single documents are read in one round: those of a walk.
pub(super) fn all_versions(group: &TypeGroup) -> usize {
    let cached_snapshots = group.members.iter().filter_map(|member| member.entry.cached());
    let versions = |cached: CachedSnapshot| cached.snapshot.len() + cached.snapshot.no_url().len();
    cached_snapshots.map(versions).max().unwrap_or(0).max(PAGE)
}

/// Whether versions that the snapshots have may be missing from a response about all locales: it has
/// versions in one locale or none, and the snapshots have versions of the same documents in another
/// one. A response without versions counts as one in the first locale.
///
/// A proxy or cache in front of the CMS that ignores `locale=*` returns the versions in one locale,
/// with their own total. A document whose other versions were unpublished looks alike.
fn may_be_missing(group: &TypeGroup, ids: &[String], versions: &[Document<'static>]) -> bool {
    let Some(only) = only_locale(group, versions) else { return false };
    group.members.iter().any(|Member { site, entry }| {
        let Some(cached) = entry.cached() else { return false };
        let locales = site.locales();
        let has_other = |id: &String| {
            let known = (0..locales.len()).filter_map(|locale| cached.snapshot.path_of(id, locale));
            known.into_iter().any(|(_, locale)| locales[locale].as_str() != only)
        };
        ids.iter().any(has_other)
    })
}

/// The locale of all versions; `None`: there are several.
fn only_locale<'a>(group: &'a TypeGroup, versions: &'a [Document<'static>]) -> Option<&'a str> {
    let mut named = versions.iter().filter_map(|version| match &version.locale {
        DocumentLocale::Named(name) => Some(&**name),
        DocumentLocale::None | DocumentLocale::NotText => None,
    });
    let only = named.next().or_else(|| group.locales.first().map(Locale::as_str))?;
    named.all(|name| name == only).then_some(only)
}

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
