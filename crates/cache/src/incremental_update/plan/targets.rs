//! Which content types the relations of a type lead to, as far as the schema, the snapshots and the
//! documents of these types show it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::super::failure::walk_within_share;
use super::is_referred_to;
use crate::SnapshotCache;
use crate::invalidation::{Invalidation, PendingInvalidation, RelationTargets};
use crate::refresh::TypeGroup;
use frontend_map_cms::{ContentQuery, Projection, Selection};
use frontend_map_rules::{ContentTypeUid, FieldPath};

/// The most versions that a check of a content type reads: all locales of one document behind each
/// relation.
const MAX_VERSIONS: u64 = 1_000;

/// Whether a document of the type `target` may be behind a relation.
///
/// A type is excluded only while what has excluded it still holds: publishing one of its documents can
/// give it dependents without another event. A path that may lead through a component leads to no
/// document: Strapi answers a filter on the `documentId` of a component with a 500.
pub(in crate::incremental_update) fn may_lead(
    group: &TypeGroup,
    targets: &RelationTargets,
    relation: &FieldPath,
    target: &str,
) -> bool {
    let uid = &group.query.uid;
    if let Some(known) = targets.target(uid, relation) {
        return known == target;
    }
    match targets.excluded_by(uid, relation, target) {
        None => is_relation(group, targets, relation),
        Some(id) => !is_referred_to(group, relation, id),
    }
}

/// Whether a path is known to be a relation: only relations lead to a `documentId`, and a document
/// of the snapshots has one there. A level of a page tree is one if the level above it leads to the
/// type itself.
fn is_relation(group: &TypeGroup, targets: &RelationTargets, relation: &FieldPath) -> bool {
    let uid = &group.query.uid;
    let first = relation.relations().next();
    let is_own_parent = |first: FieldPath| {
        let mut segments = relation.segments().iter();
        segments.all(|name| *name == first.segments()[0])
            && targets.target(uid, &first) == Some(uid.as_str())
    };
    example(group, relation).is_some() || first.is_some_and(is_own_parent)
}

/// Walks the type within the share if documents of a changed type may have become the first ones
/// behind a relation: the walk shows whether they have. Returns when these changes have to be looked at
/// again, because the last such walk was a short time ago.
fn walk_for_first_references(
    cache: &SnapshotCache,
    group: &TypeGroup,
    invalidations: &[PendingInvalidation],
) -> Option<Instant> {
    let (uid, mut targets) = (&group.query.uid, cache.triggers.targets.lock());
    let is_open = |relation: &FieldPath| {
        !targets.is_known(uid, relation) && !is_relation(group, &targets, relation)
    };
    if !group.relations().iter().any(is_open) {
        return None;
    }
    let written: BTreeSet<&str> = written(invalidations).map(|changed| &*changed.uid).collect();
    let now = Instant::now();
    let next: Option<Vec<Instant>> =
        written.into_iter().map(|target| targets.record_search(uid, target, now)).collect();
    drop(targets);
    if next.is_none() {
        walk_within_share(cache, group);
    }
    next?.into_iter().min()
}

fn written(invalidations: &[PendingInvalidation]) -> impl Iterator<Item = &Invalidation> {
    let changed = invalidations.iter().map(|pending| &*pending.invalidation);
    changed.filter(|changed| !changed.is_withdrawn)
}

/// Learns where the relations lead that may lead to the documents of these invalidations. Returns when
/// these have to be looked at again, if not now.
pub(in crate::incremental_update) async fn learn_targets(
    cache: &SnapshotCache,
    group: &TypeGroup,
    invalidations: &[PendingInvalidation],
) -> Option<Instant> {
    learn_from_schema(cache, group).await;
    learn_from_snapshots(cache, group, invalidations);
    let by_type: BTreeMap<&str, &str> =
        written(invalidations).map(|changed| (&*changed.uid, &*changed.document_id)).collect();
    for (target, id) in by_type {
        learn_from_type(cache, group, target, id).await;
    }
    walk_for_first_references(cache, group, invalidations)
}

/// The id of a document that a version of the snapshots reads through a relation. It may have been
/// withdrawn since.
fn example(group: &TypeGroup, relation: &FieldPath) -> Option<String> {
    let mut cached_snapshots = group.members.iter().filter_map(|member| member.entry.cached());
    cached_snapshots.find_map(|cached| cached.snapshot.related_example(relation).map(str::to_owned))
}

/// Learns from the schema, if the token may read it.
async fn learn_from_schema(cache: &SnapshotCache, group: &TypeGroup) {
    let (uid, targets) = (&group.query.uid, &cache.triggers.targets);
    for relation in group.relations() {
        let is_known = targets.lock().is_known(uid, &relation);
        if is_known {
            continue;
        }
        if let Some(target) = cache.content.target(uid, &relation).await {
            targets.lock().record_target(uid, &relation, target.as_str());
        }
    }
}

/// Learns from the snapshots: a changed document that a version reads is behind the relation.
fn learn_from_snapshots(
    cache: &SnapshotCache,
    group: &TypeGroup,
    invalidations: &[PendingInvalidation],
) {
    let mut targets = cache.triggers.targets.lock();
    for relation in group.relations() {
        let invalidations = invalidations.iter().map(|pending| &pending.invalidation);
        let mut known =
            invalidations.filter(|changed| is_referred_to(group, &relation, &changed.document_id));
        if let Some(changed) = known.next() {
            targets.record_target(&group.query.uid, &relation, &changed.uid);
        }
    }
}

/// Learns from the documents of the type `target`: one of them is behind a relation if one that the
/// snapshots know behind it is among them. The response proves the contrary only if it has the
/// changed document: otherwise the endpoint may be another type's.
async fn learn_from_type(cache: &SnapshotCache, group: &TypeGroup, target: &str, id: &str) {
    let (uid, targets) = (&group.query.uid, &cache.triggers.targets);
    let open: Vec<(FieldPath, String)> = {
        let targets = targets.lock();
        let is_open = |relation: &FieldPath| {
            !targets.is_known(uid, relation) && may_lead(group, &targets, relation, target)
        };
        let with_example = |relation: FieldPath| {
            let example = example(group, &relation)?;
            Some((relation, example))
        };
        let may_be_checked = targets.may_be_checked(target);
        let relations = group.relations().into_iter().filter(|_| may_be_checked);
        relations.filter(is_open).filter_map(with_example).collect()
    };
    if open.is_empty() {
        return;
    }
    let ids = open.iter().map(|(_, example)| &**example).chain([id]).collect();
    let found = documents_of_type(cache, group, target, ids).await;
    let mut targets = targets.lock();
    for (relation, example) in open {
        if found.contains(&example) {
            targets.record_target(uid, &relation, target);
        } else if found.contains(id) {
            targets.exclude(uid, &relation, target, example);
        }
    }
    if !found.contains(id) {
        targets.record_unreadable(target);
    }
}

/// The ids among these that documents of a content type have; none if they cannot be read.
async fn documents_of_type(
    cache: &SnapshotCache,
    group: &TypeGroup,
    target: &str,
    ids: BTreeSet<&str>,
) -> BTreeSet<String> {
    let Ok(uid) = ContentTypeUid::parse(target) else { return BTreeSet::new() };
    let selection = Some(Selection::Documents(ids.into_iter().map(str::to_owned).collect()));
    let query = ContentQuery::new(uid, Projection::new(Vec::new()));
    let query = ContentQuery { selection, ..query };
    let found = cache.content.select(&query, &group.locales, MAX_VERSIONS).await;
    let versions = found.ok().flatten().unwrap_or_default();
    versions.into_iter().map(|version| version.id.into_owned()).collect()
}
