//! What is known about relations: which content type each one leads to.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use frontend_map_rules::{ContentTypeUid, FieldPath};

/// How long a result counts: a document may begin to read one of another type.
const REMEMBERED: Duration = Duration::from_hours(24);
/// How long it is remembered that the documents of a type could not be read: the token may be
/// permitted to read them later.
const UNREADABLE: Duration = Duration::from_mins(10);
/// Bounds the memory, because the names of types come from webhooks.
const MAX_TYPES: usize = 10_000;

/// A relation of a content type.
type Relation = (ContentTypeUid, FieldPath);

/// Why a content type is not the target of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Exclusion {
    /// No version read a document through the relation, and a walk has followed.
    NoReference,
    /// A version read the document with this id through the relation, and it is of another type.
    OtherType(String),
}

/// Where the relations of the content types lead, as the responses of the CMS have shown.
#[derive(Debug, Default)]
pub(crate) struct RelationTargets {
    /// The content type behind a relation.
    known: HashMap<Relation, (String, Instant)>,
    /// Relations, each with a content type that is not behind it.
    excluded: HashMap<(Relation, String), (Exclusion, Instant)>,
    /// When the documents of a type could not be read.
    unreadable_types: HashMap<String, Instant>,
}

impl RelationTargets {
    /// Why the content type `target` is not behind the relation, unless that was found out too long
    /// ago.
    pub(crate) fn exclusion(
        &self,
        uid: &ContentTypeUid,
        relation: &FieldPath,
        target: &str,
    ) -> Option<&Exclusion> {
        let key = ((uid.clone(), relation.clone()), target.to_owned());
        let (exclusion, since) = self.excluded.get(&key)?;
        (since.elapsed() < REMEMBERED).then_some(exclusion)
    }

    /// Whether documents of another type than `target` are known to be behind the relation.
    pub(crate) fn leads_elsewhere(
        &self,
        uid: &ContentTypeUid,
        relation: &FieldPath,
        target: &str,
    ) -> bool {
        self.target(uid, relation).is_some_and(|known| known != target)
    }

    /// Whether it is known, and recently enough, where the relation leads.
    pub(crate) fn is_known(&self, uid: &ContentTypeUid, relation: &FieldPath) -> bool {
        self.target(uid, relation).is_some()
    }

    /// The content type behind the relation, if it is known recently enough.
    pub(crate) fn target(&self, uid: &ContentTypeUid, relation: &FieldPath) -> Option<&str> {
        let (known, since) = self.known.get(&(uid.clone(), relation.clone()))?;
        (since.elapsed() < REMEMBERED).then_some(known)
    }

    /// Records that a document of this type is behind the relation.
    pub(crate) fn leads(&mut self, uid: &ContentTypeUid, relation: &FieldPath, target: &str) {
        let relation = (uid.clone(), relation.clone());
        self.known.insert(relation, (target.to_owned(), Instant::now()));
    }

    /// Records that no document of this type is behind the relation.
    pub(crate) fn exclude(
        &mut self,
        uid: &ContentTypeUid,
        relation: &FieldPath,
        target: &str,
        exclusion: Exclusion,
    ) {
        if self.excluded.len() >= MAX_TYPES {
            self.excluded.clear();
        }
        let key = ((uid.clone(), relation.clone()), target.to_owned());
        self.excluded.insert(key, (exclusion, Instant::now()));
    }

    /// Whether the documents of a type may be read to find out which relations lead to it.
    pub(crate) fn may_be_checked(&self, target: &str) -> bool {
        self.unreadable_types.get(target).is_none_or(|since| since.elapsed() >= UNREADABLE)
    }

    /// Records that the documents of a type could not be read.
    pub(crate) fn record_unreadable(&mut self, target: &str) {
        if self.unreadable_types.len() >= MAX_TYPES {
            self.unreadable_types.clear();
        }
        self.unreadable_types.insert(target.to_owned(), Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_and_exclusions_are_kept_by_relation_and_type() {
        let uid = ContentTypeUid::parse("api::a.a").unwrap();
        let [category, parent] = ["category", "parent"].map(|path| FieldPath::parse(path).unwrap());
        let (tag, author) = ("api::tag.tag", "api::author.author");
        let mut targets = RelationTargets::default();
        assert_eq!(targets.exclusion(&uid, &category, tag), None);
        targets.exclude(&uid, &category, tag, Exclusion::NoReference);
        assert_eq!(targets.exclusion(&uid, &category, tag), Some(&Exclusion::NoReference));
        assert_eq!(targets.exclusion(&uid, &parent, tag), None);
        assert_eq!(targets.exclusion(&uid, &category, author), None);
        assert!(!targets.leads_elsewhere(&uid, &category, tag));
        targets.leads(&uid, &category, author);
        assert_eq!(targets.target(&uid, &category), Some(author));
        assert!(targets.leads_elsewhere(&uid, &category, tag), "a relation has one type");
    }

    #[test]
    fn type_whose_documents_could_not_be_read_is_not_checked_again_soon() {
        let mut targets = RelationTargets::default();
        assert!(targets.may_be_checked("api::tag.tag"));
        targets.record_unreadable("api::tag.tag");
        assert!(!targets.may_be_checked("api::tag.tag"));
        assert!(targets.may_be_checked("api::author.author"));
    }
}
