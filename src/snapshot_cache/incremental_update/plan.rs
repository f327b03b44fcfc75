//! Which documents of a content type to read after invalidations.

use std::collections::{BTreeMap, BTreeSet};

use crate::rules::FieldPath;
use crate::snapshot_cache::invalidation::{Change, Hint, RelationTargets};
use crate::snapshot_cache::refresh::TypeGroup;

/// What to read.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The documents that are named themselves.
    pub(super) named: BTreeSet<String>,
    /// The lists to request, one for each relation and content type that it leads to. Shorter
    /// relations come first.
    pub(super) lists: Vec<RelationList>,
    /// The versions that read a changed document as the copies know them: their locales by
    /// `documentId`.
    pub(super) known: BTreeMap<String, BTreeSet<String>>,
}

/// A list of the documents that read changed documents through a relation.
#[derive(Debug)]
pub(super) struct RelationList {
    pub(super) relation: FieldPath,
    /// The content type of the changed documents.
    pub(super) target: String,
    pub(super) ids: Vec<String>,
}

impl Plan {
    pub(super) fn new(group: &TypeGroup, hints: &[&Hint], targets: &mut RelationTargets) -> Self {
        let uid = &group.query.uid;
        let mut plan = Self::default();
        let mut lists: BTreeMap<(usize, FieldPath, &str), Vec<String>> = BTreeMap::new();
        for hint in hints {
            let changed = &hint.invalidation;
            if changed.uid == uid.as_str() {
                plan.named.insert(changed.document_id.clone());
            }
            for relation in relations(group) {
                let is_known = plan.add_known(group, &relation, &changed.document_id);
                if is_known {
                    targets.leads(uid, &relation, &changed.uid);
                } else if !targets.may_lead(uid, &relation, &changed.uid) {
                    continue;
                }
                // After a withdrawal, the filter finds no document any more.
                if changed.change == Change::Written {
                    let key = (relation.segments().len(), relation, &*changed.uid);
                    lists.entry(key).or_default().push(changed.document_id.clone());
                }
            }
        }
        let list = |((_, relation, target), ids): ((_, _, &str), _)| RelationList {
            relation,
            target: target.to_owned(),
            ids,
        };
        plan.lists = lists.into_iter().map(list).collect();
        plan
    }

    pub(super) fn is_empty(&self) -> bool {
        self.named.is_empty() && self.lists.is_empty() && self.known.is_empty()
    }

    /// Adds the versions that read this document as the copies know them. Returns whether there are
    /// any.
    fn add_known(&mut self, group: &TypeGroup, relation: &FieldPath, id: &str) -> bool {
        let mut is_any = false;
        for (site, entry) in &group.members {
            let Some(copy) = entry.copy() else { continue };
            for (document, locale) in copy.snapshot.referring(relation, id) {
                let locale = site.locales()[locale].as_str().to_owned();
                self.known.entry(document.to_owned()).or_default().insert(locale);
                is_any = true;
            }
        }
        is_any
    }
}

/// The relations that the rules of all members follow, each once.
pub(super) fn relations(group: &TypeGroup) -> BTreeSet<FieldPath> {
    let uid = group.query.uid.as_str();
    group.members.iter().flat_map(|(site, _)| site.site.rules.relations(uid)).collect()
}
