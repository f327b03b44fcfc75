//! Which dependents of a content type to list after invalidations.

mod targets;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

pub(super) use targets::may_lead;

use crate::SnapshotCache;
use crate::invalidation::{Change, Invalidation, PendingInvalidation, RelationTargets, Task};
use crate::refresh::{Member, TypeGroup};
use frontend_map_rules::{FieldPath, Locale};

/// A list of the documents that read changed documents through a relation.
#[derive(Debug)]
pub(super) struct RelationList<'h> {
    pub(super) relation: FieldPath,
    /// The content type of the changed documents.
    pub(super) target: &'h str,
    pub(super) invalidations: Vec<&'h PendingInvalidation>,
    /// The locales to list.
    pub(super) locales: Vec<Locale>,
    /// Whether all dependents are read, however many there are.
    pub(super) is_full: bool,
}

impl RelationList<'_> {
    pub(super) fn ids(&self) -> Vec<String> {
        self.invalidations.iter().map(|pending| pending.invalidation.document_id.clone()).collect()
    }
}

/// The lists to request: one for each relation and content type that it leads to. Shorter relations
/// come first.
pub(super) fn lists<'h>(
    group: &TypeGroup,
    invalidations: &'h [PendingInvalidation],
    targets: &RelationTargets,
) -> Vec<RelationList<'h>> {
    let mut lists: BTreeMap<(usize, FieldPath, &str), RelationList<'h>> = BTreeMap::new();
    for relation in group.relations() {
        for pending in invalidations.iter().filter(|pending| is_listed(pending)) {
            let changed = &*pending.invalidation;
            let is_known = is_referred_to(group, &relation, &changed.document_id);
            if !is_known && !may_lead(group, targets, &relation, &changed.uid) {
                continue;
            }
            let target = &*changed.uid;
            let list = lists.entry((relation.segments().len(), relation.clone(), target));
            let list = list.or_insert_with(|| RelationList {
                relation: relation.clone(),
                target,
                invalidations: Vec::new(),
                locales: group.locales.clone(),
                is_full: false,
            });
            list.invalidations.push(pending);
        }
    }
    lists.into_values().collect()
}

/// Whether the documents that read the one of an invalidation are listed. After a withdrawal, the
/// filter finds no document any more. A read of all dependents may be due for an earlier change,
/// too.
fn is_listed(pending: &PendingInvalidation) -> bool {
    pending.invalidation.change == Change::Written || pending.task == Task::FullRead
}

/// The versions that read this document as the snapshots know them: their locales by `documentId`.
pub(super) fn referring(group: &TypeGroup, id: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for relation in group.relations() {
        for (document, locales) in referring_through(group, &relation, id) {
            known.entry(document).or_default().extend(locales);
        }
    }
    known
}

/// Whether the snapshots know a version that reads this document through a relation.
pub(super) fn is_referred_to(group: &TypeGroup, relation: &FieldPath, id: &str) -> bool {
    let mut cached_snapshots = group.members.iter().filter_map(|member| member.entry.cached());
    cached_snapshots.any(|cached| cached.snapshot.referring(relation, id).next().is_some())
}

/// The versions that read this document through one relation, as [`referring`] has them.
pub(super) fn referring_through(
    group: &TypeGroup,
    relation: &FieldPath,
    id: &str,
) -> BTreeMap<String, BTreeSet<String>> {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for Member { site, entry } in &group.members {
        let Some(cached) = entry.cached() else { continue };
        for (document, locale) in cached.snapshot.referring(relation, id) {
            let locale = site.locales()[locale].as_str().to_owned();
            known.entry(document.to_owned()).or_default().insert(locale);
        }
    }
    known
}

/// Whether a relation may lead to the changed document.
pub(super) fn may_be_read(
    cache: &SnapshotCache,
    group: &TypeGroup,
    pending: &PendingInvalidation,
) -> bool {
    let (uid, targets) = (&group.query.uid, cache.triggers.targets.lock());
    let target = &*pending.invalidation.uid;
    group.relations().iter().any(|relation| !targets.leads_elsewhere(uid, relation, target))
}

/// What has to be done before dependents of these documents are read.
pub(super) async fn prepare(
    cache: &SnapshotCache,
    group: &TypeGroup,
    invalidations: &[PendingInvalidation],
) {
    keep_invalidations(group, invalidations);
    targets::learn_targets(cache, group, invalidations).await;
}

/// For a refresh in flight, which may have read dependents that the snapshots do not know.
fn keep_invalidations(group: &TypeGroup, invalidations: &[PendingInvalidation]) {
    let since = Instant::now();
    let changed: Vec<&Invalidation> =
        invalidations.iter().map(|pending| &*pending.invalidation).collect();
    group.members.iter().for_each(|member| member.entry.keep_invalidations(since, &changed));
}
