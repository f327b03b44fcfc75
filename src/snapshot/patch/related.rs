//! Incremental updates without a read of each document: all versions that read one related document
//! get its new values.

use rustc_hash::{FxHashMap, FxHashSet};

use super::related_update::{RelatedUpdate, UpdateBuilder, Version, VersionOutcome};
use crate::frontend_url::{LocaleVersion, NoUrlReason, is_page, is_too_long};
use crate::rules::{Document, FieldPath, RelatedSegments, SiteLocale};
use crate::snapshot::build::{Builder, Listing};
use crate::snapshot::hash::document_hash;
use crate::snapshot::no_url::NoUrlRow;
use crate::snapshot::references::ids;
use crate::snapshot::{PublicUrl, Snapshot};

/// What all versions in one locale that read a document through a relation read there now.
#[derive(Clone, Debug)]
pub struct RelatedValues {
    /// The relation.
    pub relation: FieldPath,
    /// The `documentId` of the related document.
    pub target: String,
    /// The position of the versions' locale in the site's locales; 0 where they are not localized.
    pub locale: usize,
    /// One of these versions. Only its fields behind the relation count; without such fields the
    /// relation leads nowhere.
    pub example: Document<'static>,
}

/// The changes of versions, and what they need of the rules.
struct Changes<'c> {
    listing: Listing<'c>,
    values: &'c [RelatedValues],
    /// The position among `values` by version.
    affected: FxHashMap<Version, usize>,
    /// The positions of values that cannot be used for any version.
    unusable: FxHashSet<usize>,
    /// By rule and position among `values`; `None`: the fields decide about more than segments.
    segments: FxHashMap<(usize, usize), Option<RelatedSegments<'c>>>,
}

impl Snapshot {
    /// The snapshot with other values behind relations, for the versions that are known to read the
    /// related documents. The references stay: a version that has lost a relation counts as one that
    /// reads the document until it is read again.
    #[must_use]
    pub fn with_related_values(
        &self,
        values: &[RelatedValues],
        listing: Listing<'_>,
        builder: Builder,
    ) -> RelatedUpdate {
        let mut changes = Changes::new(self, values, listing);
        let mut update = UpdateBuilder::new(listing);
        for url in self.urls() {
            match changes.take(url.document_id(), url.locale()) {
                Some(at) => update.add_url(url, changes.of_url(at, url)),
                None => update.all.keep(url),
            }
        }
        for url in self.former.iter().flat_map(|former| former.urls()) {
            let at = changes.affected.get(&(document_hash(url.document_id()), url.locale()));
            match at.copied().and_then(|at| changes.of_url(at, url)) {
                Some(VersionOutcome::Path(path)) => {
                    changes.take(url.document_id(), url.locale());
                    update.restore_url(url, &path);
                }
                _ => update.former.keep(url),
            }
        }
        let former = self.former.iter().flat_map(|former| former.no_url());
        let mut former: FxHashMap<Version, NoUrlRow<'_>> =
            former.filter_map(|row| Some((version(&row)?, row))).collect();
        for row in self.no_url() {
            let version = version(&row);
            if version.is_some_and(|version| update.is_restored(version)) {
                continue;
            }
            let Some(at) = version.and_then(|version| changes.affected.remove(&version)) else {
                update.all.keep_no_url(row);
                continue;
            };
            let before = version.and_then(|version| former.remove(&version));
            match (changes.of_row(at, &row), before) {
                (None, Some(before)) => {
                    let is_same = matches!(changes.of_row(at, &before), Some(VersionOutcome::Same));
                    update.restore_row(row, is_same.then_some(before));
                }
                (outcome, before) => update.add_row(row, outcome, before),
            }
        }
        for row in former.into_values() {
            update.former.keep_no_url(row);
        }
        // The others have no URL and no row, so that it is not known why.
        let others: Vec<(Version, usize)> = changes.affected.drain().collect();
        for ((hash, _), at) in others {
            if changes.prevents_urls(at) {
                continue;
            }
            update.to_read.extend(self.ids_by_hash(hash).map(str::to_owned));
        }
        update.finish(self, builder)
    }

    /// Whether each of these versions is known to read all documents that the example reads behind
    /// the relation.
    fn knows_nested(&self, values: &RelatedValues, own: &[Version], listing: Listing<'_>) -> bool {
        let nested = listing.rules.relations(listing.uid);
        let nested = nested.iter().filter(|nested| nested.is_behind(&values.relation));
        let mut targets = nested.flat_map(|nested| {
            let targets = ids(values.example.field(&nested.document_id()));
            targets.into_iter().map(move |target| (nested, target))
        });
        targets.all(|(nested, target)| {
            let known: FxHashSet<Version> = self.references.to(nested, target).collect();
            own.iter().all(|version| known.contains(version))
        })
    }
}

impl<'c> Changes<'c> {
    /// Which of the values a version reads. Each version is taken once.
    fn take(&mut self, id: &str, locale: usize) -> Option<usize> {
        self.affected.remove(&(document_hash(id), locale))
    }

    fn new(snapshot: &Snapshot, values: &'c [RelatedValues], listing: Listing<'c>) -> Self {
        let (mut affected, mut unusable) = (FxHashMap::default(), FxHashSet::default());
        for (at, values) in values.iter().enumerate() {
            let to = snapshot.references.to(&values.relation, &values.target);
            let own: Vec<Version> = to.filter(|(_, locale)| *locale == values.locale).collect();
            if has_absent(values) || !snapshot.knows_nested(values, &own, listing) {
                unusable.insert(at);
            }
            affected.extend(own.into_iter().map(|version| (version, at)));
        }
        Self { listing, values, affected, unusable, segments: FxHashMap::default() }
    }

    fn of_url(&mut self, at: usize, url: PublicUrl<'_>) -> Option<VersionOutcome> {
        let (listing, values) = (self.listing, self.version(at));
        let segments = self.segments(at, url.rule())?;
        if url.has_own_path() {
            return Some(VersionOutcome::Same);
        }
        match segments.rewrite(url.path(), &values)? {
            Ok(path) if is_too_long(listing.rules, listing.hosts, self.locale(at), &path) => None,
            Ok(path) if is_page(listing.rules, self.locale(at), &path) => None,
            Ok(path) => Some(VersionOutcome::Path(path)),
            // Another rule may build a URL then.
            Err(_) if listing.rules.positions_of_type(listing.uid).count() > 1 => None,
            Err(fault) => Some(VersionOutcome::NoUrl { reason: fault.to_string() }),
        }
    }

    fn of_row(&mut self, at: usize, row: &NoUrlRow<'_>) -> Option<VersionOutcome> {
        if self.listing.rules.positions_of_type(self.listing.uid).count() > 1 {
            return None;
        }
        let rule = &self.listing.rules.rules()[row.rule];
        let is_of = |field: &FieldPath| row.reason.starts_with(&format!("{field}_"));
        // The value of the field is not known, and the template may have a placeholder of this name.
        if rule.path_field.as_ref().is_some_and(is_of) {
            return None;
        }
        if row.reason == NoUrlReason::PathTakenByPage.to_string() {
            return None;
        }
        let values = self.version(at);
        match self.segments(at, row.rule)?.reason(row.reason, &values)? {
            Some(reason) => Some(VersionOutcome::NoUrl { reason }),
            None => Some(VersionOutcome::Same),
        }
    }

    /// Whether no version can have a URL with these values.
    fn prevents_urls(&mut self, at: usize) -> bool {
        let mut rules = self.listing.rules.positions_of_type(self.listing.uid);
        let (Some(rule), None) = (rules.next(), rules.next()) else { return false };
        let values = self.version(at);
        self.segments(at, rule).is_some_and(|segments| segments.lacks_value(&values))
    }

    fn version(&self, at: usize) -> LocaleVersion<'c> {
        LocaleVersion { document: &self.values[at].example, locale: self.locale(at) }
    }

    fn locale(&self, at: usize) -> &'c SiteLocale {
        &self.listing.rules.locales().as_slice()[self.values[at].locale]
    }

    /// The segments that the values change in the paths of a rule.
    fn segments(&mut self, at: usize, rule: usize) -> Option<&RelatedSegments<'c>> {
        let (rules, locale) = (self.listing.rules, self.locale(at).code());
        let relation = &self.values[at].relation;
        let uid = self.listing.uid;
        if self.unusable.contains(&at) {
            return None;
        }
        let found = self.segments.entry((rule, at)).or_insert_with(|| {
            let of = |rule: usize| rules.related_segments(&rules.rules()[rule], locale, relation);
            // A rule that is tried before must not depend on the values.
            let mut before = rules.positions_of_type(uid).take_while(|before| *before != rule);
            let is_first = before.all(|before| of(before).is_some_and(|own| own.is_empty()));
            of(rule).filter(|_| is_first)
        });
        found.as_ref()
    }
}

/// The version of a row; `None`: its locale is not text.
fn version(row: &NoUrlRow<'_>) -> Option<Version> {
    Some((document_hash(row.document_id), row.locale?))
}

/// Whether a value behind the relation is unknown (D32).
fn has_absent(RelatedValues { relation, example, .. }: &RelatedValues) -> bool {
    let mut values = example.fields.iter().zip(&example.values);
    values.any(|(field, value)| field.is_behind(relation) && value.absent_at().is_some())
}
