//! Updates the versions that read a changed document from the copies, without a list of them.
//!
//! The copies know which versions read the document, and the path of each has its own values. So one
//! request for each locale is enough: for the number of versions that read the document now, and one
//! of them, which has the new values. If the number is the known one, the paths are written again.
//! Another version may have come in exchange for one that has lost the relation, so the reads that
//! find out follow later, when the CMS has less to do.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::patching::Reading;
use super::plan::{is_referred_to, referring_through, relations};
use super::reading::selecting;
use super::type_updates::TypeUpdates;
use super::{NotUpdated, Updated};
use crate::content::Counted;
use crate::rules::{Document, DocumentLocale, FieldPath, Locale};
use crate::snapshot::RelatedValues;
use crate::snapshot_cache::SnapshotCache;
use crate::snapshot_cache::invalidation::{Change, Hint, Invalidation};
use crate::snapshot_cache::refresh::TypeGroup;
use crate::snapshot_cache::site_cache::SiteCache;

/// A list is faster if more than this part of the versions have to be read.
const LIST_PART: usize = 4;

/// The samples of the locales, each with the locale of its versions; `None`: they are not localized.
type Samples<'l> = Vec<(Option<&'l Locale>, Counted)>;

/// Updates the versions that read the document of a hint through a relation, and adds them to
/// `progress`. Returns the locales whose versions have to be read.
pub(super) async fn update(
    cache: &SnapshotCache,
    group: &TypeGroup,
    updates: &TypeUpdates,
    relation: &FieldPath,
    hint: &Hint,
    progress: &mut Updated,
) -> Result<Vec<Locale>, NotUpdated> {
    let Invalidation { document_id, change, .. } = &*hint.invalidation;
    let id = document_id.as_str();
    let all = || Ok(group.locales.clone());
    let known = referring_through(group, relation, id);
    let is_only = |other: &FieldPath| other == relation || !is_referred_to(group, other, id);
    let count: usize = known.values().map(BTreeSet::len).sum();
    let lacks_copy = group.members.iter().any(|(_, entry)| entry.copy().is_none());
    // A list of fewer is one request.
    if hint.is_confirmation || lacks_copy || count <= cache.content.page_size() {
        return all();
    }
    if !relations(group).iter().all(is_only) {
        return all();
    }
    // What a read in flight has found must be in the copies first: it may be newer.
    let _named_round = updates.named_round.lock().await;
    let reading = Reading::begin(group);
    if group.is_refreshing() {
        return all();
    }
    let mut samples = samples(cache, group, (relation, id)).await?;
    let expected = |locale: Option<&Locale>| match locale {
        Some(locale) => known.values().filter(|own| own.contains(locale.as_str())).count(),
        None => known.len(),
    };
    // In a locale without dependents before and now nothing changes.
    samples.retain(|(own, sample)| sample.total > 0 || expected(*own) > 0);
    let (same, others): (Samples<'_>, Samples<'_>) =
        samples.into_iter().partition(|(own, sample)| {
            // Without a withdrawal, a list without documents needs more evidence.
            let is_withdrawn = sample.total == 0 && *change == Change::Withdrawn;
            is_withdrawn || sample.total == expected(*own) as u64
        });
    if same.is_empty() {
        return all();
    }
    let values = |site: &SiteCache| related_values(site, &same, (relation, id));
    let unknown = match reading.apply_related(values).await {
        // For so many, a list is faster.
        Some(unknown) if unknown.len() <= count / LIST_PART => unknown,
        _ => return all(),
    };
    let own = progress.from_copies.entry(id.to_owned()).or_default();
    for (id, locales) in known.iter().filter(|(id, _)| !unknown.contains(*id)) {
        let is_updated = |(locale, _): &&(Option<&Locale>, Counted)| {
            locale.is_none_or(|locale| locales.contains(locale.as_str()))
        };
        let named = |locale: &Locale| DocumentLocale::Named(locale.as_str().to_owned().into());
        let locale =
            |(locale, _): &(Option<&Locale>, Counted)| locale.map_or(DocumentLocale::None, named);
        own.entry(id.clone()).or_default().extend(same.iter().filter(is_updated).map(locale));
    }
    updates.dependents.confirm([hint.clone()]);
    let uid = &group.query.uid;
    tracing::debug!(%uid, versions = count, left = others.len(), "documents were updated from the copy");
    Ok(others.into_iter().filter_map(|(locale, _)| locale.cloned()).collect())
}

/// Of a type that is not localized there is one, for all locales.
async fn samples<'g>(
    cache: &SnapshotCache,
    group: &'g TypeGroup,
    (relation, id): (&FieldPath, &str),
) -> Result<Samples<'g>, NotUpdated> {
    let query = selecting(group, Some(relation), vec![id.to_owned()]);
    let mut samples = Vec::with_capacity(group.locales.len());
    for locale in &group.locales {
        let sample = cache.content.count(&query, locale).await?;
        let is_localized = sample.is_localized;
        samples.push((is_localized.then_some(locale), sample));
        if !is_localized {
            break;
        }
    }
    Ok(samples)
}

/// What the versions of a site read now.
fn related_values(
    site: &SiteCache,
    samples: &Samples<'_>,
    (relation, id): (&FieldPath, &str),
) -> Vec<RelatedValues> {
    let values = |(locale, sample): &(Option<&Locale>, Counted)| {
        let locale = match locale {
            Some(locale) => site.site.rules.locales().position(locale.as_str())?,
            None => 0,
        };
        let sample = sample.version.clone().unwrap_or_else(without_fields);
        Some(RelatedValues { relation: relation.clone(), target: id.to_owned(), locale, sample })
    };
    samples.iter().filter_map(values).collect()
}

fn without_fields() -> Document<'static> {
    Document {
        id: "".into(),
        locale: DocumentLocale::None,
        unpublished: false,
        fields: Arc::new([]),
        values: Vec::new(),
    }
}
