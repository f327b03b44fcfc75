//! Which dependents of a content type to list after invalidations.

mod targets;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

pub(super) use targets::may_lead;

use crate::SnapshotCache;
use crate::invalidation::{Change, Hint, Invalidation, RelationTargets, Task};
use crate::refresh::{Member, TypeGroup};
use frontend_map_rules::{FieldPath, Locale};

/// A list of the documents that read changed documents through a relation.
#[derive(Debug)]
pub(super) struct RelationList<'h> {
    pub(super) relation: FieldPath,
    /// The content type of the changed documents.
    pub(super) target: &'h str,
    pub(super) hints: Vec<&'h Hint>,
    /// The locales to list.
    pub(super) locales: Vec<Locale>,
    /// Whether all dependents are read, however many there are.
    pub(super) is_full: bool,
}

impl RelationList<'_> {
    pub(super) fn ids(&self) -> Vec<String> {
        self.hints.iter().map(|hint| hint.invalidation.document_id.clone()).collect()
    }
}

/// The lists to request: one for each relation and content type that it leads to. Shorter relations
/// come first.
pub(super) fn lists<'h>(
    group: &TypeGroup,
    hints: &'h [Hint],
    targets: &RelationTargets,
) -> Vec<RelationList<'h>> {
    let mut lists: BTreeMap<(usize, FieldPath, &str), RelationList<'h>> = BTreeMap::new();
    for relation in group.relations() {
        for hint in hints.iter().filter(|hint| is_listed(hint)) {
            let changed = &*hint.invalidation;
            let is_known = is_referred_to(group, &relation, &changed.document_id);
            if !is_known && !may_lead(group, targets, &relation, &changed.uid) {
                continue;
            }
            let target = &*changed.uid;
            let list = lists.entry((relation.segments().len(), relation.clone(), target));
            let list = list.or_insert_with(|| RelationList {
                relation: relation.clone(),
                target,
                hints: Vec::new(),
                locales: group.locales.clone(),
                is_full: false,
            });
            list.hints.push(hint);
        }
    }
    lists.into_values().collect()
}

/// Whether the documents that read the one of a hint are listed. After a withdrawal, the filter finds no
/// document any more. A read of all dependents may be due for an earlier change, too.
fn is_listed(hint: &Hint) -> bool {
    hint.invalidation.change == Change::Written || hint.task == Task::FullRead
}

/// The versions that read this document as the copies know them: their locales by `documentId`.
pub(super) fn referring(group: &TypeGroup, id: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for relation in group.relations() {
        for (document, locales) in referring_through(group, &relation, id) {
            known.entry(document).or_default().extend(locales);
        }
    }
    known
}

/// Whether the copies know a version that reads this document through a relation.
pub(super) fn is_referred_to(group: &TypeGroup, relation: &FieldPath, id: &str) -> bool {
    let mut copies = group.members.iter().filter_map(|member| member.entry.copy());
    copies.any(|copy| copy.snapshot.referring(relation, id).next().is_some())
}

/// The same as [`referring`] for one relation.
pub(super) fn referring_through(
    group: &TypeGroup,
    relation: &FieldPath,
    id: &str,
) -> BTreeMap<String, BTreeSet<String>> {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for Member { site, entry } in &group.members {
        let Some(copy) = entry.copy() else { continue };
        for (document, locale) in copy.snapshot.referring(relation, id) {
            let locale = site.locales()[locale].as_str().to_owned();
            known.entry(document.to_owned()).or_default().insert(locale);
        }
    }
    known
}

/// Whether a relation may lead to the changed document.
pub(super) fn may_be_read(cache: &SnapshotCache, group: &TypeGroup, hint: &Hint) -> bool {
    let (uid, targets) = (&group.query.uid, cache.triggers.targets.lock());
    let target = &*hint.invalidation.uid;
    group.relations().iter().any(|relation| !targets.leads_elsewhere(uid, relation, target))
}

/// What has to be done before dependents of these documents are read.
pub(super) async fn prepare(cache: &SnapshotCache, group: &TypeGroup, hints: &[Hint]) {
    keep_hints(group, hints);
    targets::learn_targets(cache, group, hints).await;
}

/// For a refresh in flight, which may have read dependents that the copies do not know.
fn keep_hints(group: &TypeGroup, hints: &[Hint]) {
    let since = Instant::now();
    let changed: Vec<&Invalidation> = hints.iter().map(|hint| &*hint.invalidation).collect();
    group.members.iter().for_each(|member| member.entry.keep_hints(since, &changed));
}
