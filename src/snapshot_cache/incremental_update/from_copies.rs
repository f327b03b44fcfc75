//! Updates the versions that read a changed document from the copies, without a list of them.
//!
//! The copies know which versions read the document, and the path of each has its own values. So one
//! request for each locale is enough: for the number of versions that read the document now, and one
//! of them, which has the new values. If the number is the known one, the paths are written again.
//! Another version may have gained the relation while one lost it, which leaves the number as it was.
//! So all of them are read later, when the CMS has less to do (follow-up read).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::patching::Reading;
use super::plan::{is_referred_to, referring_through, relations};
use super::reading::selecting;
use super::type_updates::TypeUpdates;
use super::{NotUpdated, Updated};
use crate::content::SelectionCount;
use crate::rules::{Document, DocumentLocale, FieldPath, Locale};
use crate::snapshot::RelatedValues;
use crate::snapshot_cache::SnapshotCache;
use crate::snapshot_cache::invalidation::{Change, Hint, Invalidation};
use crate::snapshot_cache::refresh::TypeGroup;
use crate::snapshot_cache::site_cache::SiteCache;

/// A list is faster if more than this part of the versions have to be read.
const LIST_PART: usize = 4;

/// The counts of the locales, each with the locale of its versions; `None`: they are not localized.
type Counts<'l> = Vec<(Option<&'l Locale>, SelectionCount)>;

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
    if hint.is_follow_up || lacks_copy || count <= cache.content.page_size() {
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
    let mut counts = counts(cache, group, (relation, id)).await?;
    let expected = |locale: Option<&Locale>| match locale {
        Some(locale) => known.values().filter(|own| own.contains(locale.as_str())).count(),
        None => known.len(),
    };
    // In a locale without dependents before and now nothing changes.
    counts.retain(|(own, count_of)| count_of.total > 0 || expected(*own) > 0);
    let (same, others): (Counts<'_>, Counts<'_>) =
        counts.into_iter().partition(|(own, count_of)| {
            // Without a withdrawal, a list without documents needs more evidence.
            let is_withdrawn = count_of.total == 0 && *change == Change::Withdrawn;
            is_withdrawn || count_of.total == expected(*own) as u64
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
        let is_updated = |(locale, _): &&(Option<&Locale>, SelectionCount)| {
            locale.is_none_or(|locale| locales.contains(locale.as_str()))
        };
        let named = |locale: &Locale| DocumentLocale::Named(locale.as_str().to_owned().into());
        let locale =
            |(locale, _): &(Option<&Locale>, SelectionCount)| locale.map_or(DocumentLocale::None, named);
        own.entry(id.clone()).or_default().extend(same.iter().filter(is_updated).map(locale));
    }
    updates.dependents.schedule_follow_up([hint.clone()]);
    let uid = &group.query.uid;
    tracing::debug!(%uid, versions = count, left = others.len(), "documents were updated from the copy");
    Ok(others.into_iter().filter_map(|(locale, _)| locale.cloned()).collect())
}

/// Of a type that is not localized there is one, for all locales.
async fn counts<'g>(
    cache: &SnapshotCache,
    group: &'g TypeGroup,
    (relation, id): (&FieldPath, &str),
) -> Result<Counts<'g>, NotUpdated> {
    let query = selecting(group, Some(relation), vec![id.to_owned()]);
    let mut counts = Vec::with_capacity(group.locales.len());
    for locale in &group.locales {
        let count_of = cache.content.count(&query, locale).await?;
        let is_localized = count_of.is_localized;
        counts.push((is_localized.then_some(locale), count_of));
        if !is_localized {
            break;
        }
    }
    Ok(counts)
}

/// What the versions of a site read now.
fn related_values(
    site: &SiteCache,
    counts: &Counts<'_>,
    (relation, id): (&FieldPath, &str),
) -> Vec<RelatedValues> {
    let values = |(locale, count_of): &(Option<&Locale>, SelectionCount)| {
        let locale = match locale {
            Some(locale) => site.site.rules.locales().position(locale.as_str())?,
            None => 0,
        };
        let example = count_of.version.clone().unwrap_or_else(without_fields);
        Some(RelatedValues { relation: relation.clone(), target: id.to_owned(), locale, example })
    };
    counts.iter().filter_map(values).collect()
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
