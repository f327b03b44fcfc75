//! Which dependents of a content type to list after invalidations.

mod targets;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

pub(super) use targets::{learn_targets, may_lead};

use super::NotUpdated;
use crate::SnapshotCache;
use crate::invalidation::{Invalidation, PendingInvalidation, RelationTargets};
use crate::refresh::{Member, TypeGroup};
use frontend_map_rules::{FieldPath, Locale};

/// Where dependents are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'s> {
    pub(super) locales: &'s [Locale],
    /// Whether all of them are read, however many there are.
    pub(super) is_full: bool,
}

/// A list of the documents that read changed documents through a relation.
#[derive(Debug)]
pub(super) struct RelationList<'h> {
    pub(super) relation: FieldPath,
    /// The content type of the changed documents.
    pub(super) target: &'h str,
    pub(super) invalidations: Vec<&'h PendingInvalidation>,
    pub(super) scope: Scope<'h>,
}

/// The lists to request: one for each relation and content type that it leads to. Shorter relations
/// come first.
pub(super) fn lists<'h>(
    group: &TypeGroup,
    invalidations: &'h [PendingInvalidation],
    targets: &RelationTargets,
    scope: Scope<'h>,
) -> Vec<RelationList<'h>> {
    let mut lists: BTreeMap<(usize, FieldPath, &str), RelationList<'h>> = BTreeMap::new();
    for relation in group.relations() {
        // After a withdrawal, the filter finds no document any more.
        let is_written = |pending: &&PendingInvalidation| !pending.invalidation.is_withdrawn;
        for pending in invalidations.iter().filter(is_written) {
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
                scope,
            });
            list.invalidations.push(pending);
        }
    }
    lists.into_values().collect()
}

/// What is read after a change, beside the changed document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// A walk: nothing else finds all dependents.
    Walk,
    /// The dependents at once, and then, in a long read, the versions without a related document.
    Short { with_unrelated: bool },
    /// All dependents in a long read, with the versions without a related document.
    Long { with_unrelated: bool },
}

/// Decides what is read after a change of a document that the snapshots know `known` dependents of, where
/// a short read has `page` of them. `is_chain`: a relation may lead to the document through others.
pub(super) fn reads(
    pending: &PendingInvalidation,
    known: usize,
    page: usize,
    is_chain: bool,
) -> Reads {
    let is_unread = pending.may_have_unread_dependents;
    if is_chain && is_unread && pending.has_withdrawal {
        return Reads::Walk;
    }
    let is_long = known > page;
    // A withdrawal has taken the relation from all of them.
    let is_lost = is_long && pending.invalidation.is_withdrawn;
    let with_unrelated = !is_chain && (is_unread || is_lost);
    if is_long { Reads::Long { with_unrelated } } else { Reads::Short { with_unrelated } }
}

/// Whether a relation may lead to the document of an invalidation through others.
pub(super) fn is_chain(
    group: &TypeGroup,
    pending: &PendingInvalidation,
    targets: &RelationTargets,
) -> bool {
    group.relations().iter().any(|relation| {
        relation.segments().len() > 1
            && may_lead(group, targets, relation, &pending.invalidation.uid)
    })
}

/// The relations whose ends may have been missed: those that may lead to a document with unread
/// dependents.
pub(super) fn unrelated(
    group: &TypeGroup,
    invalidations: &[PendingInvalidation],
    targets: &RelationTargets,
) -> Result<BTreeSet<FieldPath>, NotUpdated> {
    let mut relations = BTreeSet::new();
    for pending in invalidations.iter().filter(|pending| pending.may_have_unread_dependents) {
        // Of `parent.parent`, the parent alone may have lost the relation: the dependent still has a
        // parent.
        if !is_chain(group, pending, targets) {
            let mut own = group.relations();
            own.retain(|relation| may_lead(group, targets, relation, &pending.invalidation.uid));
            relations.extend(own);
        } else if pending.has_withdrawal {
            return Err(NotUpdated::NeedsWalk);
        }
    }
    Ok(relations)
}

/// The versions that read this document as the snapshots know them: their locales by `documentId`.
pub(super) fn referring(group: &TypeGroup, id: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for relation in group.relations() {
        for Member { site, entry } in &group.members {
            let Some(cached) = entry.cached() else { continue };
            for (document, locale) in cached.snapshot.referring(&relation, id) {
                let locale = site.locales()[locale].as_str().to_owned();
                known.entry(document.to_owned()).or_default().insert(locale);
            }
        }
    }
    known
}

/// Whether the snapshots know a version that reads this document through a relation.
pub(super) fn is_referred_to(group: &TypeGroup, relation: &FieldPath, id: &str) -> bool {
    let mut cached_snapshots = group.members.iter().filter_map(|member| member.entry.cached());
    cached_snapshots.any(|cached| cached.snapshot.referring(relation, id).next().is_some())
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

/// Keeps invalidations for the reads in flight, which may have found dependents that the snapshots do
/// not know.
pub(super) fn keep_invalidations(group: &TypeGroup, invalidations: &[PendingInvalidation]) {
    let since = Instant::now();
    let changed: Vec<&Invalidation> =
        invalidations.iter().map(|pending| &*pending.invalidation).collect();
    group.members.iter().for_each(|member| member.entry.keep_invalidations(since, &changed));
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = 100;

    fn pending(is_withdrawn: bool, may_have_unread_dependents: bool) -> PendingInvalidation {
        let (uid, document_id) = ("api::c.c".to_owned(), "c".to_owned());
        let pending =
            PendingInvalidation::new(Invalidation { uid, document_id, is_withdrawn }, None);
        pending.for_long_read_queue(false, may_have_unread_dependents)
    }

    #[test]
    fn reads_after_a_change_are_short_for_up_to_a_page_and_find_what_may_be_unread() {
        let (written, withdrawn) = (false, true);
        let short = |with_unrelated| Reads::Short { with_unrelated };
        let long = |with_unrelated| Reads::Long { with_unrelated };
        for (is_withdrawn, is_unread, known, expected) in [
            (written, false, 0, short(false)),
            (written, false, PAGE, short(false)),
            (written, false, PAGE + 1, long(false)),
            (written, true, PAGE, short(true)),
            (written, true, PAGE + 1, long(true)),
            (withdrawn, false, PAGE, short(false)),
            // The lists have none of them any more.
            (withdrawn, false, PAGE + 1, long(true)),
            (withdrawn, true, 0, short(true)),
        ] {
            let reads = reads(&pending(is_withdrawn, is_unread), known, PAGE, false);
            assert_eq!(reads, expected, "{is_withdrawn} {is_unread} {known}");
        }
    }

    #[test]
    fn walk_follows_a_withdrawal_after_an_unread_change_through_several_relations() {
        let reads = |pending: &PendingInvalidation, known| reads(pending, known, PAGE, true);
        let mut both = pending(false, true);
        both.has_withdrawal = true;
        for known in [0, PAGE + 1] {
            assert_eq!(reads(&pending(true, true), known), Reads::Walk);
            assert_eq!(reads(&both, known), Reads::Walk);
        }
        // A page that is published in three locales, each with an event, causes no walk.
        let short = Reads::Short { with_unrelated: false };
        assert_eq!(reads(&pending(false, true), 0), short);
        let long = Reads::Long { with_unrelated: false };
        assert_eq!(reads(&pending(true, false), PAGE + 1), long);
    }
}
