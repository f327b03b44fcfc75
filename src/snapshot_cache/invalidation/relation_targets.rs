//! What is known about relations: which content type each one leads to.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::rules::{ContentTypeUid, FieldPath};

/// How long a result counts: a document may begin to read one of another type.
const REMEMBERED: Duration = Duration::from_hours(24);
/// Bounds the memory, because the names of types come from webhooks.
const MAX_TYPES: usize = 10_000;

/// A relation of a content type.
type Relation = (ContentTypeUid, FieldPath);

/// Where the relations of the content types lead, as the responses of the CMS have shown.
#[derive(Debug, Default)]
pub(in crate::snapshot_cache) struct RelationTargets {
    /// The content type behind a relation.
    known: HashMap<Relation, (String, Instant)>,
    /// Relations, each with a content type of which no document was found behind it.
    excluded: HashMap<(Relation, String), Instant>,
}

impl RelationTargets {
    /// Whether a document of the type `target` may be behind the relation.
    pub(in crate::snapshot_cache) fn may_lead(
        &self,
        uid: &ContentTypeUid,
        relation: &FieldPath,
        target: &str,
    ) -> bool {
        if let Some(known) = self.target(uid, relation) {
            return known == target;
        }
        let excluded = self.excluded.get(&((uid.clone(), relation.clone()), target.to_owned()));
        excluded.is_none_or(|since| since.elapsed() >= REMEMBERED)
    }

    /// Whether documents of another type than `target` are known to be behind the relation.
    pub(in crate::snapshot_cache) fn leads_elsewhere(
        &self,
        uid: &ContentTypeUid,
        relation: &FieldPath,
        target: &str,
    ) -> bool {
        self.target(uid, relation).is_some_and(|known| known != target)
    }

    /// Whether it is known, and recently enough, where the relation leads.
    pub(in crate::snapshot_cache) fn is_known(
        &self,
        uid: &ContentTypeUid,
        relation: &FieldPath,
    ) -> bool {
        self.target(uid, relation).is_some()
    }

    fn target(&self, uid: &ContentTypeUid, relation: &FieldPath) -> Option<&str> {
        let (known, since) = self.known.get(&(uid.clone(), relation.clone()))?;
        (since.elapsed() < REMEMBERED).then_some(known)
    }

    /// Records that a document of this type is behind the relation.
    pub(in crate::snapshot_cache) fn leads(
        &mut self,
        uid: &ContentTypeUid,
        relation: &FieldPath,
        target: &str,
    ) {
        let relation = (uid.clone(), relation.clone());
        self.known.insert(relation, (target.to_owned(), Instant::now()));
    }

    /// Records that a document of some type is behind the relation.
    pub(in crate::snapshot_cache) fn leads_somewhere(
        &mut self,
        uid: &ContentTypeUid,
        relation: &FieldPath,
    ) {
        if !self.is_known(uid, relation) {
            self.excluded.retain(|((own, path), _), _| !(own == uid && path == relation));
        }
    }

    /// Records that no document of this type was found behind the relation.
    pub(in crate::snapshot_cache) fn exclude(
        &mut self,
        uid: &ContentTypeUid,
        relation: &FieldPath,
        target: &str,
    ) {
        if self.excluded.len() >= MAX_TYPES {
            self.excluded.clear();
        }
        let relation = (uid.clone(), relation.clone());
        self.excluded.insert((relation, target.to_owned()), Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_may_be_behind_a_relation_until_the_responses_show_otherwise() {
        let uid = ContentTypeUid::parse("api::a.a").unwrap();
        let [category, parent] = ["category", "parent"].map(|path| FieldPath::parse(path).unwrap());
        let mut targets = RelationTargets::default();
        assert!(targets.may_lead(&uid, &category, "api::tag.tag"));
        targets.exclude(&uid, &category, "api::tag.tag");
        assert!(!targets.may_lead(&uid, &category, "api::tag.tag"));
        assert!(targets.may_lead(&uid, &parent, "api::tag.tag"));
        assert!(targets.may_lead(&uid, &category, "api::author.author"));
        targets.exclude(&uid, &parent, "api::tag.tag");
        targets.leads_somewhere(&uid, &parent);
        assert!(targets.may_lead(&uid, &parent, "api::tag.tag"), "a document is behind it");
        assert!(!targets.may_lead(&uid, &category, "api::tag.tag"));
        targets.leads(&uid, &category, "api::tag.tag");
        assert!(targets.may_lead(&uid, &category, "api::tag.tag"), "it has been found since");
        assert!(
            !targets.may_lead(&uid, &category, "api::author.author"),
            "a relation has one type"
        );
    }
}
