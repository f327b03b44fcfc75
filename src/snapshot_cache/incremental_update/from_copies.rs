//! Updates the versions that read a changed document from the copies, without a list of them.
//!
//! The copies know which versions read the document, and the path of each has its own values. So one
//! request for each locale is enough: for the number of versions that read the document now, and one
//! of them, which has the new values. If the number is the known one, the paths are written again.
//! Another version may have gained the relation while one lost it, which leaves the number as it was.
//! So all of them are read later, when the CMS has less to do (follow-up read).
//!
//! This comes before all lists of a round, for all changed documents at once: the CMS may respond to
//! nothing for seconds after the next change, and a list takes much longer than these requests.

mod known_dependents;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream;

use known_dependents::{CountOutcome, KnownDependents};

use super::patching::Reading;
use super::reading::selecting;
use super::type_updates::TypeUpdates;
use super::{Remaining, Updated, named};
use crate::content::{ContentError, Selection, SelectionCount};
use crate::rules::{Document, DocumentLocale, Locale};
use crate::snapshot::RelatedValues;
use crate::snapshot_cache::SnapshotCache;
use crate::snapshot_cache::invalidation::Hint;
use crate::snapshot_cache::refresh::TypeGroup;
use crate::snapshot_cache::site_cache::SiteCache;

/// The requests in flight at the same time: the locales of one document, or of two.
const MAX_IN_FLIGHT: usize = 6;

/// The dependents of a document in a locale as the CMS has them, if the copies can be updated.
struct LocaleCount<'k> {
    /// The position of the document.
    at: usize,
    /// `None`: they are not localized.
    locale: Option<&'k Locale>,
    count: SelectionCount,
}

/// Updates the dependents of the documents of these hints, and adds them to `progress`. Returns what
/// is left for each hint.
pub(super) async fn update(
    cache: &SnapshotCache,
    group: &TypeGroup,
    updates: &TypeUpdates,
    hints: &[Hint],
    progress: &mut Updated,
) -> Vec<Remaining> {
    let page = cache.content.page_size();
    let known = || -> Vec<Option<KnownDependents<'_>>> {
        hints.iter().map(|hint| KnownDependents::new(group, hint, page)).collect()
    };
    if known().iter().all(Option::is_none) {
        return hints.iter().map(|_| Remaining::Lists).collect();
    }
    // What is known of other changes must be in the copies first: what a read in flight has found, and
    // the documents that are named by now.
    let _named_round = updates.named_round.lock().await;
    named::update_pending(cache, group, &updates.named).await;
    let known = known();
    let reading = Reading::begin(group);
    let is_usable = |known: &KnownDependents<'_>| known.is_usable && !group.is_refreshing();
    let usable: Vec<&KnownDependents<'_>> =
        known.iter().flatten().filter(|known| is_usable(known)).collect();
    let outcomes = request_counts(cache, group, &reading, &usable).await;
    let mut outcomes: BTreeMap<&str, CountOutcome> =
        usable.iter().map(|known| known.id()).zip(outcomes).collect();
    let left = |known: &Option<KnownDependents<'_>>| match known {
        Some(known) => {
            let outcome = outcomes.remove(known.id()).unwrap_or_default();
            known.remaining(group, updates, outcome, page, progress)
        }
        None => Remaining::Lists,
    };
    known.iter().map(left).collect()
}

/// Requests the numbers of versions, and updates the copies with each response as it arrives.
async fn request_counts(
    cache: &SnapshotCache,
    group: &TypeGroup,
    reading: &Reading<'_>,
    known: &[&KnownDependents<'_>],
) -> Vec<CountOutcome> {
    let mut outcomes: Vec<CountOutcome> = known.iter().map(|_| CountOutcome::default()).collect();
    let mut requests = Vec::with_capacity(known.len() * group.locales.len());
    for (at, known) in known.iter().enumerate() {
        requests
            .extend(group.locales.iter().map(|locale| count(cache, group, (at, known), locale)));
    }
    let responses = stream::iter(requests).buffer_unordered(MAX_IN_FLIGHT);
    let mut responses = responses.ready_chunks(MAX_IN_FLIGHT);
    while let Some(arrived) = responses.next().await {
        let mut new = Vec::with_capacity(arrived.len());
        for (at, locale, count) in arrived {
            match count {
                Ok(count) => {
                    let locale = count.is_localized.then_some(locale);
                    if known[at].record_count(&mut outcomes[at], locale, &count) {
                        new.push(LocaleCount { at, locale, count });
                    }
                }
                Err(error) => outcomes[at].failure = Some(error),
            }
        }
        if new.is_empty() {
            continue;
        }
        let to_read = reading.apply_related(|site| related_values(site, &new, known)).await;
        for LocaleCount { at, .. } in &new {
            match &to_read {
                Some(ids) => {
                    let own = ids.iter().filter(|id| known[*at].versions.contains_key(*id));
                    outcomes[*at].to_read.extend(own.cloned());
                }
                None => outcomes[*at].is_unusable = true,
            }
        }
    }
    outcomes
}

async fn count<'g>(
    cache: &SnapshotCache,
    group: &'g TypeGroup,
    (at, known): (usize, &KnownDependents<'_>),
    locale: &'g Locale,
) -> (usize, &'g Locale, Result<SelectionCount, ContentError>) {
    let (relation, of) = (known.relation.clone(), vec![known.id().to_owned()]);
    let query = selecting(group, Selection::Dependents { relation, of });
    (at, locale, cache.content.count(&query, locale).await)
}

/// What the versions of a site read now.
fn related_values(
    site: &SiteCache,
    new: &[LocaleCount<'_>],
    known: &[&KnownDependents<'_>],
) -> Vec<RelatedValues> {
    let values = |LocaleCount { at, locale, count }: &LocaleCount<'_>| {
        let locale = match locale {
            Some(locale) => site.site.rules.locales().position(locale.as_str())?,
            None => 0,
        };
        let example = count.example.clone().unwrap_or_else(without_fields);
        let (relation, target) = (known[*at].relation.clone(), known[*at].id().to_owned());
        Some(RelatedValues { relation, target, locale, example })
    };
    new.iter().filter_map(values).collect()
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
