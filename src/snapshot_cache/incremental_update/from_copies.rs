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

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::StreamExt;
use futures::stream;

use super::patching::Reading;
use super::plan::{is_referred_to, referring, relations};
use super::reading::{max_versions, selecting};
use super::type_updates::TypeUpdates;
use super::{Left, Listed, NotUpdated, Updated, named};
use crate::content::{ContentError, SelectionCount};
use crate::rules::{Document, DocumentLocale, FieldPath, Locale};
use crate::snapshot::RelatedValues;
use crate::snapshot_cache::SnapshotCache;
use crate::snapshot_cache::invalidation::{Change, Hint};
use crate::snapshot_cache::refresh::TypeGroup;
use crate::snapshot_cache::site_cache::SiteCache;

/// A list is faster if more than one in so many versions have to be read by their ids.
const LIST_PART: usize = 16;
/// The requests in flight at the same time: the locales of one document, or of two.
const MAX_IN_FLIGHT: usize = 6;

/// The dependents of a changed document as the copies know them.
struct Known<'h> {
    hint: &'h Hint,
    /// A relation through which versions read the document.
    relation: FieldPath,
    /// Whether the copies can be updated: all are there, and versions read it through this one alone.
    is_usable: bool,
    /// Their locales by `documentId`.
    versions: BTreeMap<String, BTreeSet<String>>,
}

/// What the responses about the dependents of a document have led to so far.
#[derive(Default)]
struct Outcome {
    /// The locales of updated versions; `None`: they are not localized.
    updated: Vec<Option<Locale>>,
    /// The locales whose number of versions is not the known one.
    different: Vec<Locale>,
    /// The number of versions in all locales.
    total: u64,
    /// The documents that have to be read, because their paths do not have all that decides.
    to_read: BTreeSet<String>,
    /// Whether the copies cannot be updated.
    is_unusable: bool,
    failure: Option<ContentError>,
}

/// The dependents of a document in a locale as the CMS has them, if the copies can be updated.
struct New<'k> {
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
) -> Vec<Left> {
    let page = cache.content.page_size();
    let known = || -> Vec<Option<Known<'_>>> {
        hints.iter().map(|hint| Known::new(group, hint, page)).collect()
    };
    if known().iter().all(Option::is_none) {
        return hints.iter().map(|_| Left::Lists).collect();
    }
    // What is known of other changes must be in the copies first: what a read in flight has found, and
    // the documents that are named by now.
    let _named_round = updates.named_round.lock().await;
    named::update_pending(cache, group, &updates.named).await;
    let known = known();
    let reading = Reading::begin(group);
    let is_usable = |known: &Known<'_>| known.is_usable && !group.is_refreshing();
    let usable: Vec<&Known<'_>> = known.iter().flatten().filter(|known| is_usable(known)).collect();
    let outcomes = read_all(cache, group, &reading, &usable).await;
    let mut outcomes: BTreeMap<&str, Outcome> =
        usable.iter().map(|known| known.id()).zip(outcomes).collect();
    let left = |known: &Option<Known<'_>>| match known {
        Some(known) => {
            let outcome = outcomes.remove(known.id()).unwrap_or_default();
            known.left(group, updates, outcome, page, progress)
        }
        None => Left::Lists,
    };
    known.iter().map(left).collect()
}

/// Requests the numbers of versions, and updates the copies with each response as it arrives.
async fn read_all(
    cache: &SnapshotCache,
    group: &TypeGroup,
    reading: &Reading<'_>,
    known: &[&Known<'_>],
) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = known.iter().map(|_| Outcome::default()).collect();
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
                    if known[at].may_update(&mut outcomes[at], locale, &count) {
                        new.push(New { at, locale, count });
                    }
                }
                Err(error) => outcomes[at].failure = Some(error),
            }
        }
        if new.is_empty() {
            continue;
        }
        let to_read = reading.apply_related(|site| related_values(site, &new, known)).await;
        for New { at, .. } in &new {
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
    (at, known): (usize, &Known<'_>),
    locale: &'g Locale,
) -> (usize, &'g Locale, Result<SelectionCount, ContentError>) {
    let query = selecting(group, Some(&known.relation), vec![known.id().to_owned()]);
    (at, locale, cache.content.count(&query, locale).await)
}

impl<'h> Known<'h> {
    /// `None`: a list of the dependents is one request, or the copies do not know them.
    fn new(group: &TypeGroup, hint: &'h Hint, page: usize) -> Option<Self> {
        let lacks_copy = group.members.iter().any(|(_, entry)| entry.copy().is_none());
        let id = hint.invalidation.document_id.as_str();
        let mut relations = relations(group).into_iter();
        let relation = relations.find(|relation| is_referred_to(group, relation, id))?;
        let is_only = !relations.any(|other| is_referred_to(group, &other, id));
        let versions = referring(group, id);
        let known = Self { hint, relation, is_usable: is_only && !lacks_copy, versions };
        (known.count() > page).then_some(known)
    }

    fn id(&self) -> &str {
        &self.hint.invalidation.document_id
    }

    /// The number of versions in all locales.
    fn count(&self) -> usize {
        self.versions.values().map(BTreeSet::len).sum()
    }

    /// The number of versions in a locale; `None`: they are not localized.
    fn count_in(&self, locale: Option<&Locale>) -> usize {
        match locale {
            Some(locale) => {
                self.versions.values().filter(|own| own.contains(locale.as_str())).count()
            }
            None => self.versions.len(),
        }
    }

    /// Whether the versions in a locale can be updated from the copies.
    fn may_update(
        &self,
        outcome: &mut Outcome,
        locale: Option<&Locale>,
        count: &SelectionCount,
    ) -> bool {
        // The responses about the other locales say the same if the type is not localized.
        if outcome.updated.contains(&None) {
            return false;
        }
        let known = self.count_in(locale);
        outcome.total += count.total;
        if count.total == 0 && known == 0 {
            return false;
        }
        // Without a withdrawal, a list without documents needs more evidence.
        let is_withdrawn = count.total == 0 && self.hint.invalidation.change == Change::Withdrawn;
        let is_known = is_withdrawn || count.total == known as u64;
        match locale {
            _ if is_known => outcome.updated.push(locale.cloned()),
            Some(locale) => outcome.different.push(locale.clone()),
            None => outcome.is_unusable = true,
        }
        is_known
    }

    /// Adds the updated versions to `progress`, and returns what is left.
    fn left(
        &self,
        group: &TypeGroup,
        updates: &TypeUpdates,
        outcome: Outcome,
        page: usize,
        progress: &mut Updated,
    ) -> Left {
        if let Some(error) = outcome.failure {
            return Left::Failed(error.into());
        }
        let is_updated = !outcome.is_unusable
            && !outcome.updated.is_empty()
            && outcome.different.is_empty()
            && outcome.to_read.len() <= page.max(self.count() / LIST_PART);
        if !is_updated {
            let count = outcome.total.max(self.count() as u64);
            return if count > max_versions(group) as u64 {
                Left::Failed(NotUpdated::NeedsWalk)
            } else {
                let is_different = |locale: &Locale| outcome.different.contains(locale);
                let (mut locales, rest): (Vec<Locale>, Vec<Locale>) =
                    group.locales.iter().cloned().partition(is_different);
                locales.extend(rest);
                Left::Read(locales)
            };
        }
        progress.from_copies.insert(self.id().to_owned(), self.updated(&outcome));
        let is_withdrawn = self.hint.invalidation.change == Change::Withdrawn;
        // Versions that lose the relation by a withdrawal do not read another document instead.
        if !is_withdrawn || self.hint.is_incomplete() {
            updates.dependents.follow_up(self.hint.clone());
        }
        let (uid, versions) = (&group.query.uid, self.count());
        tracing::debug!(%uid, versions, "documents were updated from the copy");
        Left::OtherLists(self.relation.clone())
    }

    /// The versions that were updated.
    fn updated(&self, outcome: &Outcome) -> Listed {
        let is_updated = |id: &&String| !outcome.to_read.contains(*id);
        let locale = |locale: &Locale| DocumentLocale::Named(locale.as_str().to_owned().into());
        let mut updated = Listed::new();
        for id in self.versions.keys().filter(is_updated) {
            let own = outcome.updated.iter().filter(|locale| {
                locale.as_ref().is_none_or(|own| self.versions[id].contains(own.as_str()))
            });
            let own = own.map(|own| own.as_ref().map_or(DocumentLocale::None, locale));
            updated.insert(id.clone(), own.collect());
        }
        updated
    }
}

/// What the versions of a site read now.
fn related_values(site: &SiteCache, new: &[New<'_>], known: &[&Known<'_>]) -> Vec<RelatedValues> {
    let values = |New { at, locale, count }: &New<'_>| {
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
