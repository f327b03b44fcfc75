//! What is known about relations: which content type each one leads to.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use frontend_map_rules::{ContentTypeUid, FieldPath};

/// How long a result counts: a document may begin to read one of another type.
const REMEMBERED: Duration = Duration::from_hours(24);
/// How long it is remembered that the documents of a type could not be read: the token may be
/// permitted to read them later.
const UNREADABLE: Duration = Duration::from_mins(10);
/// From one walk that looks for first references to documents of a content type to the next one: as often
/// as walks make up for lost events by default.
const SEARCH_PERIOD: Duration = Duration::from_mins(10);
/// Bounds the memory, because the names of types come from webhooks.
const MAX_TYPES: usize = 10_000;

/// A relation of a content type.
type Relation = (ContentTypeUid, FieldPath);

/// Where the relations of the content types lead, as the responses of the CMS have shown.
#[derive(Debug, Default)]
pub(crate) struct RelationTargets {
    /// The content type behind a relation.
    known: HashMap<Relation, (String, Instant)>,
    /// Relations, each with a content type that is not behind it, and the `documentId` that has shown it.
    excluded: HashMap<(Relation, String), (String, Instant)>,
    /// When a walk of a content type was last asked for that looks for first references to another one.
    searched: HashMap<(ContentTypeUid, String), Instant>,
    /// When the documents of a type could not be read.
    unreadable_types: HashMap<String, Instant>,
}

impl RelationTargets {
    /// The document that a version read through the relation, and that shows that the content type
    /// `target` is not behind it, unless that was found out too long ago.
    pub(crate) fn excluded_by(
        &self,
        uid: &ContentTypeUid,
        relation: &FieldPath,
        target: &str,
    ) -> Option<&str> {
        let key = ((uid.clone(), relation.clone()), target.to_owned());
        let (id, since) = self.excluded.get(&key)?;
        (since.elapsed() < REMEMBERED).then_some(id)
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
    pub(crate) fn record_target(
        &mut self,
        uid: &ContentTypeUid,
        relation: &FieldPath,
        target: &str,
    ) {
        let relation = (uid.clone(), relation.clone());
        self.known.insert(relation, (target.to_owned(), Instant::now()));
    }

    /// Records that no document of this type is behind the relation, which leads to the document with
    /// this id.
    pub(crate) fn exclude(
        &mut self,
        uid: &ContentTypeUid,
        relation: &FieldPath,
        target: &str,
        id: String,
    ) {
        if self.excluded.len() >= MAX_TYPES {
            self.excluded.clear();
        }
        let key = ((uid.clone(), relation.clone()), target.to_owned());
        self.excluded.insert(key, (id, Instant::now()));
    }

    /// Records a walk of a content type that looks for the first references to documents of the type
    /// `target`, unless the last one was a short time ago: then returns when the next one may follow.
    pub(crate) fn record_search(
        &mut self,
        uid: &ContentTypeUid,
        target: &str,
        now: Instant,
    ) -> Option<Instant> {
        self.searched.retain(|_, last| now < *last + SEARCH_PERIOD);
        let key = (uid.clone(), target.to_owned());
        if let Some(last) = self.searched.get(&key) {
            return Some(*last + SEARCH_PERIOD);
        }
        self.searched.insert(key, now);
        None
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
        assert_eq!(targets.excluded_by(&uid, &category, tag), None);
        targets.exclude(&uid, &category, tag, "x".to_owned());
        assert_eq!(targets.excluded_by(&uid, &category, tag), Some("x"));
        assert_eq!(targets.excluded_by(&uid, &parent, tag), None);
        assert_eq!(targets.excluded_by(&uid, &category, author), None);
        assert!(!targets.leads_elsewhere(&uid, &category, tag));
        targets.record_target(&uid, &category, author);
        assert_eq!(targets.target(&uid, &category), Some(author));
        assert!(targets.leads_elsewhere(&uid, &category, tag), "a relation has one type");
    }

    #[test]
    fn search_for_first_references_follows_each_event_but_not_more_often_than_its_period() {
        let uid = ContentTypeUid::parse("api::a.a").unwrap();
        let (mut targets, start) = (RelationTargets::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut search = |target, seconds| targets.record_search(&uid, target, at(seconds));
        assert_eq!(search("api::category.category", 0), None);
        // A category without articles has excluded nothing: it may have some by now.
        assert_eq!(search("api::category.category", 1), Some(at(600)));
        assert_eq!(search("api::tag.tag", 1), None);
        assert_eq!(search("api::category.category", 599), Some(at(600)));
        assert_eq!(search("api::category.category", 600), None);
        assert_eq!(search("api::category.category", 601), Some(at(1200)));
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
