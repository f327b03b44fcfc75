//! The versions whose paths read a value of a document through a relation, and the paths that they would
//! have.

use std::collections::{BTreeMap, BTreeSet};

use super::published::value_of;
use super::values::path_fields;
use super::world::{DraftDependents, FirstDrafts, Known, Subject};
use crate::snapshot::{NoUrlRow, PublicUrl, Version};
use frontend_map_rules::frontend_url::{NoUrl, NoUrlReason, write_path};
use frontend_map_rules::{
    Document, FieldPath, FieldValue, Locale, Rule, Segment, Source, Template,
};

/// The most dependents that are computed: a quarter of a second for all three actions.
const MAX_DEPENDENTS: usize = 10_000;

/// The dependents of a document.
pub(super) struct Dependents<'w> {
    pub(super) all: Vec<Dependent<'w>>,
    /// Whether there may be others that get, change or lose a path.
    pub(super) are_more: bool,
}

/// A version that reads a document.
pub(super) struct Dependent<'w> {
    /// The position of its content type.
    pub(super) type_at: usize,
    pub(super) url: PublicUrl<'w>,
    pub(super) outcome: Outcome,
}

/// What becomes of the path of a dependent.
pub(super) enum Outcome {
    /// It stays.
    Same,
    /// It is built by the rule at a position in the settings, and may be the document's own path.
    Path { path: String, rule: usize, is_own: bool },
    /// There is none any more.
    Gone,
    /// It depends on a value that is not known.
    Unknown,
}

/// The dependents of a version, or of all versions of a document. `after` has the values that they read
/// from it then; `None`: there is nothing to read.
pub(super) fn dependents<'w>(
    known: &Known<'w>,
    subject: Subject<'_>,
    all_locales: bool,
    after: Option<&Document<'_>>,
) -> Dependents<'w> {
    let rules = &known.world.site.rules;
    let mut found: BTreeMap<(usize, usize, &str), Vec<FieldPath>> = BTreeMap::new();
    let mut are_more = false;
    let is_read_by =
        |locale: usize| all_locales || !subject.is_localized || locale == subject.locale;
    for (at, (uid, snapshot)) in known.world.types.iter().enumerate() {
        for relation in rules.relations(uid.as_str()) {
            let readers = snapshot.referring(&relation, subject.document_id);
            for (id, locale) in readers.filter(|(_, locale)| is_read_by(*locale)) {
                if uid.as_str() == subject.uid && id == subject.document_id {
                    continue;
                }
                if found.len() >= MAX_DEPENDENTS && !found.contains_key(&(at, locale, id)) {
                    are_more = true;
                    continue;
                }
                found.entry((at, locale, id)).or_default().push(relation.clone());
            }
        }
    }
    are_more |= after.is_some() && known.may_be_linked_anew(subject, is_read_by);
    let mut all = Vec::with_capacity(found.len());
    for ((type_at, locale, id), relations) in found {
        match known.snapshot(type_at).version(id, locale) {
            Version::Url(url) if url.locale() == locale => {
                let outcome = known.outcome(url, &relations, after);
                all.push(Dependent { type_at, url, outcome });
            }
            // It may get a URL, if what it reads is why it has none.
            Version::NoUrl(row) => are_more |= known.is_due_to(&row, &relations),
            Version::Url(_) | Version::None => {}
        }
    }
    Dependents { all, are_more }
}

impl Known<'_> {
    /// Whether other published versions may read the document once it is published: Strapi links them as
    /// their drafts are linked, and which of them depends on the schema (tests/strapi/FACTS.md).
    fn may_be_linked_anew(&self, subject: Subject<'_>, is_read_by: impl Fn(usize) -> bool) -> bool {
        self.world.draft_dependents.iter().any(|DraftDependents { type_at, relation, drafts }| {
            let Some(FirstDrafts { versions, are_all }) = drafts else { return true };
            let (uid, snapshot) = &self.world.types[*type_at];
            let is_other = |(id, locale): &(&str, usize)| {
                let is_own = uid.as_str() == subject.uid && *id == subject.document_id;
                is_read_by(*locale) && !is_own
            };
            let mut rules = self.world.site.rules.of_type(uid.as_str());
            let has_condition = rules.any(|rule| {
                rule.conditions.iter().any(|condition| condition.field.is_behind(relation))
            });
            let may_be_published = |(id, locale): (&str, usize)| match snapshot.version(id, locale)
            {
                Version::Url(url) => url.locale() == locale,
                Version::NoUrl(_) => true,
                // It is a draft alone, or no rule is for it as long as it does not read the document.
                Version::None => has_condition,
            };
            let readers = snapshot.referring(relation, subject.document_id);
            let readers: BTreeSet<(&str, usize)> = readers.filter(is_other).collect();
            let drafted = versions.iter().map(|(id, locale)| (id.as_str(), *locale));
            // They are in the order of their ids. Of the last document, some versions may be missing.
            let last = drafted.clone().next_back().filter(|_| !are_all);
            let was_read =
                |(id, _): &(&str, usize)| *are_all || last.is_some_and(|(last, _)| *id < last);
            let drafted: BTreeSet<(&str, usize)> = drafted.filter(is_other).collect();
            drafted.difference(&readers).any(|version| may_be_published(*version))
                || readers.difference(&drafted).any(was_read)
        })
    }

    /// Whether a version may have no URL because of a value behind one of these relations: its reason
    /// names one, or another rule reads one.
    fn is_due_to(&self, row: &NoUrlRow<'_>, relations: &[FieldPath]) -> bool {
        let rules = &self.world.site.rules;
        let rule = &rules.rules()[row.rule];
        let is_read = |field: &FieldPath| relations.iter().any(|own| field.is_behind(own));
        let others = rules.positions_of_type(rule.content_type.as_str());
        let mut others = others.filter(|at| *at != row.rule).map(|at| &rules.rules()[at]);
        let is_at_fault =
            |name: &str| row.reason.strip_prefix(name).is_some_and(|rest| rest.starts_with('_'));
        let is_relation =
            |field: &FieldPath| field.relations().any(|own| is_at_fault(&own.to_string()));
        let mut placeholders = rule.templates().flat_map(|(_, template)| template.placeholders());
        let is_named = placeholders.any(|placeholder| {
            let mut fields = placeholder.source.fields().filter(|field| is_read(field));
            fields.any(|field| is_at_fault(&placeholder.name) || is_relation(field))
        });
        is_named || others.any(|rule| rule.fields().any(is_read))
    }

    fn outcome(
        &self,
        url: PublicUrl<'_>,
        relations: &[FieldPath],
        after: Option<&Document<'_>>,
    ) -> Outcome {
        let site = self.world.site;
        let Some(mut document) = self.document(url) else { return Outcome::Unknown };
        let uid = site.rules.rules()[url.rule()].content_type.as_str();
        for relation in relations {
            let is_of_one = site
                .rules
                .of_type(uid)
                .any(|rule| path_fields(rule).any(|field| field.is_behind(relation)));
            read_through(&mut document, relation, after, is_of_one);
        }
        // The rules before that of the path have built none; another value behind the relation may
        // change that.
        let is_affected = |rule: &Rule| {
            let mut fields = rule.fields();
            fields.any(|field| relations.iter().any(|relation| field.is_behind(relation)))
        };
        let positions = site.rules.positions_of_type(uid);
        let code = &site.rules.locales().codes()[url.locale()];
        let may_build = |rule: &Rule| is_affected(rule) && !lacks_value(rule, code, &document);
        let positions =
            positions.filter(|at| *at >= url.rule() || may_build(&site.rules.rules()[*at]));
        let candidates = positions.map(|at| &site.rules.rules()[at]);
        let mut path = String::new();
        let found = write_path(&site.rules, &site.hosts, candidates, &document, false, &mut path);
        match found {
            Some(Ok(found)) => {
                let mut positions = site.rules.positions_of_type(uid);
                let rule = positions
                    .find(|at| std::ptr::eq(&raw const site.rules.rules()[*at], found.rule));
                let rule = rule.expect("it is one of the type's");
                if path == url.path() && rule == url.rule() {
                    return Outcome::Same;
                }
                Outcome::Path { path, rule, is_own: found.is_own }
            }
            Some(Err(NoUrl { reason: NoUrlReason::Absent(_), .. })) => Outcome::Unknown,
            Some(Err(_)) | None => Outcome::Gone,
        }
    }
}

/// Whether a rule builds no path for a document, whatever its unknown values are: a value that it needs
/// is missing.
fn lacks_value(rule: &Rule, locale: &Locale, document: &Document<'_>) -> bool {
    let is_missing = |field: &FieldPath| {
        matches!(document.field(field), FieldValue::Missing | FieldValue::NullAt(_))
    };
    let segments = rule.template(locale).map_or(&[][..], Template::segments);
    let mut needed = segments.iter().filter(|segment| !matches!(segment, Segment::Optional(_)));
    let has_no_own = rule.path_field.as_ref().is_none_or(is_missing);
    has_no_own
        && needed.any(|segment| match segment.placeholder().map(|own| &own.source) {
            Some(Source::Field(field) | Source::Date(field, _)) => is_missing(field),
            _ => false,
        })
}

/// Replaces the values that a version reads through a relation. Through one to several documents, the
/// others may have the values too.
fn read_through(
    document: &mut Document<'static>,
    relation: &FieldPath,
    after: Option<&Document<'_>>,
    is_of_one: bool,
) {
    let id = FieldPath::parse("documentId").expect("the name of a field");
    for (field, value) in document.fields.iter().zip(&mut document.values) {
        let Some(rest) = field.behind(relation) else { continue };
        let new = match after {
            Some(after) if rest == id => FieldValue::Text((*after.id).to_owned().into()),
            Some(after) => value_of(after, &rest)
                .cloned()
                .map_or(FieldValue::Absent(0), FieldValue::into_owned),
            None => FieldValue::NullAt(relation.segments().len() - 1),
        };
        *value = if is_of_one || *value == new { new } else { FieldValue::Absent(0) };
    }
}
