//! The dependents of a changed document as the copies know them, and what the numbers of the CMS say of
//! them.

use std::collections::{BTreeMap, BTreeSet};

use super::super::plan::{is_referred_to, referring, relations};
use super::super::reading::max_versions;
use super::super::type_updates::TypeUpdates;
use super::super::{Listed, NotUpdated, Remaining, Updated};
use crate::content::{ContentError, SelectionCount};
use crate::rules::{DocumentLocale, FieldPath, Locale};
use crate::snapshot_cache::invalidation::{Change, Hint};
use crate::snapshot_cache::refresh::TypeGroup;

/// A list is faster if more than one in so many versions have to be read by their ids.
const LIST_PART: usize = 16;

/// The dependents of a changed document as the copies know them.
pub(super) struct KnownDependents<'h> {
    hint: &'h Hint,
    /// A relation through which versions read the document.
    pub(super) relation: FieldPath,
    /// Whether the copies can be updated: all are there, and versions read it through this one alone.
    pub(super) is_usable: bool,
    /// Their locales by `documentId`.
    pub(super) versions: BTreeMap<String, BTreeSet<String>>,
}

/// What the responses about the dependents of a document have led to so far.
#[derive(Default)]
pub(super) struct CountOutcome {
    /// The locales of updated versions; `None`: they are not localized.
    updated: Vec<Option<Locale>>,
    /// The locales whose number of versions is not the known one.
    different: Vec<Locale>,
    /// The number of versions in all locales.
    total: u64,
    /// The documents that have to be read, because their paths do not have all that decides.
    pub(super) to_read: BTreeSet<String>,
    /// Whether the copies cannot be updated.
    pub(super) is_unusable: bool,
    pub(super) failure: Option<ContentError>,
}

impl<'h> KnownDependents<'h> {
    /// `None`: a list of the dependents is one request, or the copies do not know them.
    pub(super) fn new(group: &TypeGroup, hint: &'h Hint, page: usize) -> Option<Self> {
        let lacks_copy = group.members.iter().any(|(_, entry)| entry.copy().is_none());
        let id = hint.invalidation.document_id.as_str();
        let mut relations = relations(group).into_iter();
        let relation = relations.find(|relation| is_referred_to(group, relation, id))?;
        let is_only = !relations.any(|other| is_referred_to(group, &other, id));
        let versions = referring(group, id);
        let known = Self { hint, relation, is_usable: is_only && !lacks_copy, versions };
        (known.count() > page).then_some(known)
    }

    pub(super) fn id(&self) -> &str {
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
    pub(super) fn record_count(
        &self,
        outcome: &mut CountOutcome,
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
    pub(super) fn remaining(
        &self,
        group: &TypeGroup,
        updates: &TypeUpdates,
        outcome: CountOutcome,
        page: usize,
        progress: &mut Updated,
    ) -> Remaining {
        if let Some(error) = outcome.failure {
            return Remaining::Failed(error.into());
        }
        let is_updated = !outcome.is_unusable
            && !outcome.updated.is_empty()
            && outcome.different.is_empty()
            && outcome.to_read.len() <= page.max(self.count() / LIST_PART);
        if !is_updated {
            let count = outcome.total.max(self.count() as u64);
            return if count > max_versions(group) as u64 {
                Remaining::Failed(NotUpdated::NeedsWalk)
            } else {
                let is_different = |locale: &Locale| outcome.different.contains(locale);
                let (mut locales, rest): (Vec<Locale>, Vec<Locale>) =
                    group.locales.iter().cloned().partition(is_different);
                locales.extend(rest);
                Remaining::FullRead(locales)
            };
        }
        progress.from_copies.insert(self.id().to_owned(), self.updated(&outcome));
        let is_withdrawn = self.hint.invalidation.change == Change::Withdrawn;
        // Versions that lose the relation by a withdrawal do not read another document instead.
        if !is_withdrawn || self.hint.is_incomplete() || self.hint.may_have_unread_dependents {
            updates.dependents.follow_up(self.hint.clone());
        }
        let (uid, versions) = (&group.query.uid, self.count());
        tracing::debug!(%uid, versions, "documents were updated from the copy");
        Remaining::OtherLists(self.relation.clone())
    }

    /// The versions that were updated.
    fn updated(&self, outcome: &CountOutcome) -> Listed {
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
