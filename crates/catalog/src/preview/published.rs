//! A draft as it is when it has been published: it reads the published versions of related documents.

use super::values::Values;
use super::world::{Known, Subject};
use crate::snapshot::{PublicUrl, Version};
use frontend_map_rules::{Document, FieldPath, FieldValue, Rule, Source};

/// The most versions that are looked at for the values of one related document.
const MAX_READERS: usize = 20;

/// The field with the date at which a version was published.
const PUBLISHED_AT: &str = "publishedAt";

/// A draft that may be published.
#[derive(Clone, Copy, Debug)]
pub struct Draft<'d> {
    /// The draft, with the [`fields`](super::fields).
    pub document: &'d Document<'d>,
    /// The date that it would get as `publishedAt`.
    pub published_at: &'d str,
    /// Published documents behind its relations, those that
    /// [`unknown_related`](super::unknown_related) has named.
    pub related: &'d [Related<'d>],
}

/// A published document that was read because the snapshots say too little about it.
#[derive(Clone, Copy, Debug)]
pub struct Related<'r> {
    /// The relation of the draft that leads to it.
    pub relation: &'r FieldPath,
    /// The version in the locale of the draft; `None`: it is not published there.
    pub document: Option<&'r Document<'r>>,
}

/// A draft with the values that it will have.
pub(super) struct AsPublished {
    pub(super) document: Document<'static>,
    /// The relations to documents that are not published in the locale, each with the `documentId`.
    pub(super) unpublished: Vec<(FieldPath, String)>,
    /// The relations to documents whose published values are not known, so that those of their drafts
    /// stand for them.
    pub(super) assumed: Vec<(FieldPath, String)>,
}

/// What is known of a related document in the locale of a draft.
#[derive(Default)]
struct Target {
    /// Whether it is published there.
    is_published: Option<bool>,
    /// Its published values, as far as they are known.
    values: Values,
}

impl Target {
    fn value(&self, field: &FieldPath) -> Option<&FieldValue<'static>> {
        self.values.iter().find(|(own, _)| own == field).map(|(_, value)| value)
    }
}

/// The draft with the values of published documents behind its relations.
pub(super) fn as_published(
    known: &Known<'_>,
    subject: Subject<'_>,
    &Draft { document: draft, published_at, related }: &Draft<'_>,
) -> AsPublished {
    let mut document = Document { unpublished: false, ..draft.clone().into_owned() };
    // A type without Draft & Publish has its date already.
    let is_date = |field: &FieldPath| matches!(field.segments(), [name] if **name == *PUBLISHED_AT);
    let date = document.fields.iter().position(is_date).filter(|_| draft.unpublished);
    if let Some(value) = date.and_then(|at| document.values.get_mut(at)) {
        *value = FieldValue::Text(published_at.to_owned().into());
    }
    let mut result = AsPublished { document, unpublished: Vec::new(), assumed: Vec::new() };
    let decisive = known.world.site.rules.fields(subject.uid);
    let mut relations: Vec<FieldPath> =
        draft.fields.iter().flat_map(FieldPath::relations).collect();
    // Shorter ones come first.
    relations.sort_by_key(|relation| (relation.segments().len(), relation.clone()));
    relations.dedup();
    let mut done: Vec<FieldPath> = Vec::new();
    for relation in relations {
        if done.iter().any(|own| relation.is_behind(own)) {
            continue;
        }
        // A component has no id; documents behind a relation to several decide about conditions alone.
        let id = value_of(draft, &relation.document_id());
        let Some(FieldValue::Text(id)) = id else { continue };
        // It is published with itself.
        if **id == *subject.document_id {
            done.push(relation);
            continue;
        }
        let target = match related.iter().find(|one| *one.relation == relation) {
            Some(one) => Target::of(one.document, &relation, draft),
            None => known.target(subject, &relation, id),
        };
        let mut is_assumed = false;
        for (field, value) in draft.fields.iter().zip(&mut result.document.values) {
            let Some(rest) = field.behind(&relation) else { continue };
            match target.value(&rest) {
                _ if target.is_published == Some(false) => {
                    *value = FieldValue::NullAt(relation.segments().len() - 1);
                }
                // It is the same document.
                _ if *field == relation.document_id() => {}
                Some(own) => *value = own.clone(),
                None => is_assumed |= decisive.contains(field),
            }
        }
        if target.is_published == Some(false) {
            result.unpublished.push((relation.clone(), id.to_string()));
        } else if is_assumed {
            result.assumed.push((relation.clone(), id.to_string()));
        }
        done.push(relation);
    }
    result
}

/// The value of a field; `None` if it was not requested.
pub(super) fn value_of<'d>(
    document: &'d Document<'_>,
    field: &FieldPath,
) -> Option<&'d FieldValue<'d>> {
    let at = document.fields.iter().position(|own| own == field)?;
    document.values.get(at)
}

impl Target {
    /// From the published document, with the fields that the draft has behind the relation.
    fn of(document: Option<&Document<'_>>, relation: &FieldPath, draft: &Document<'_>) -> Self {
        let Some(document) = document else {
            return Self { is_published: Some(false), values: Values::new() };
        };
        let rest = draft.fields.iter().filter_map(|field| field.behind(relation));
        let values = rest.filter_map(|field| {
            let value = value_of(document, &field)?.clone().into_owned();
            Some((field, value))
        });
        Self { is_published: Some(true), values: values.collect() }
    }
}

impl<'w> Known<'w> {
    /// What the snapshots know of the document behind a relation of a draft.
    fn target(&self, subject: Subject<'_>, relation: &FieldPath, id: &str) -> Target {
        let mut target = Target::default();
        let mut own_type = self.leads_to_own_type(subject.uid, relation).then_some(subject.uid);
        for (at, (uid, snapshot)) in self.world.types.iter().enumerate() {
            match snapshot.version(id, subject.locale) {
                Version::Url(url) => {
                    target.is_published = Some(true);
                    self.add_values(&mut target, url, None);
                    self.name_known_ancestors(&mut target, subject, at, id);
                }
                Version::NoUrl(_) => target.is_published = Some(true),
                Version::None => {}
            }
            let locales = 0..self.world.site.rules.locales().as_slice().len();
            if locales
                .into_iter()
                .any(|locale| !matches!(snapshot.version(id, locale), Version::None))
            {
                own_type = Some(uid.as_str());
            }
            for relation in self.world.site.rules.relations(uid.as_str()) {
                let readers = snapshot.referring(&relation, id);
                let readers = readers.filter(|(_, locale)| *locale == subject.locale);
                for (reader, locale) in readers.take(MAX_READERS) {
                    target.is_published = Some(true);
                    if let Version::Url(url) = snapshot.version(reader, locale) {
                        self.add_values(&mut target, url, Some(&relation));
                    }
                }
            }
        }
        let is_complete = |uid: &str| self.world.site.rules.alternatives(uid).is_empty();
        if target.is_published.is_none() && own_type.is_some_and(is_complete) {
            // A type whose rules are for all of its documents has each published version.
            target.is_published = Some(false);
        }
        target
    }

    /// Adds the values that a path has of the document itself, or of the one behind a relation.
    fn add_values(&self, target: &mut Target, url: PublicUrl<'w>, relation: Option<&FieldPath>) {
        // Conditions say of a relation to several documents that one of them has the value.
        let rule = &self.world.site.rules.rules()[url.rule()];
        let is_of_one = |field: &FieldPath| {
            relation.is_none() || super::values::path_fields(rule).any(|own| own == field)
        };
        for (field, value) in self.values(url).into_iter().flatten().filter(|(f, _)| is_of_one(f)) {
            let field = match relation {
                Some(relation) => field.behind(relation),
                None => Some(field),
            };
            let is_part = self.is_date(url, field.as_ref(), relation);
            if let Some(field) = field.filter(|field| !is_part && target.value(field).is_none()) {
                target.values.push((field, value));
            }
        }
    }

    /// Whether a path has parts of a field alone.
    fn is_date(
        &self,
        url: PublicUrl<'_>,
        field: Option<&FieldPath>,
        relation: Option<&FieldPath>,
    ) -> bool {
        let rule = &self.world.site.rules.rules()[url.rule()];
        let mut placeholders = rule.templates().flat_map(|(_, template)| template.placeholders());
        placeholders.any(|placeholder| match &placeholder.source {
            Source::Date(own, _) => match relation {
                Some(relation) => own.behind(relation).as_ref() == field,
                None => Some(own) == field,
            },
            _ => false,
        })
    }

    /// Among the ancestors of a parent, the subject itself has its id: a cycle is found by it.
    fn name_known_ancestors(
        &self,
        target: &mut Target,
        subject: Subject<'_>,
        type_at: usize,
        parent: &str,
    ) {
        let (uid, snapshot) = &self.world.types[type_at];
        for relation in self.world.site.rules.relations(uid.as_str()) {
            let mut readers = snapshot.referring(&relation, subject.document_id);
            if readers.any(|reader| reader == (parent, subject.locale)) {
                let id = relation.document_id();
                target.values.retain(|(own, _)| *own != id);
                target.values.push((id, FieldValue::Text(subject.document_id.to_owned().into())));
            }
        }
    }

    /// Whether a relation leads to documents of the same type: it is that of ancestors.
    fn leads_to_own_type(&self, uid: &str, relation: &FieldPath) -> bool {
        let rules = self.world.site.rules.of_type(uid);
        let mut placeholders =
            rules.flat_map(Rule::templates).flat_map(|(_, template)| template.placeholders());
        placeholders.any(|placeholder| match &placeholder.source {
            Source::Ancestors(steps) => {
                steps.iter().skip(1).any(|step| step.id == relation.document_id())
            }
            _ => false,
        })
    }
}
