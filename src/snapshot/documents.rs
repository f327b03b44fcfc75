//! Finds the versions of a document by its id.

use std::cmp::Ordering;
use std::ops::Range;

use super::entry::{Entry, Flags};
use super::hash::document_hash;
use super::no_url::NoUrlRow;
use super::{PublicUrl, Snapshot};

/// After so many probes a search goes on as a binary search: hashes may be distributed unevenly.
const MAX_INTERPOLATIONS: u32 = 8;

/// What a snapshot knows about a version of a document.
#[derive(Clone, Copy, Debug)]
pub enum Version<'s> {
    /// Its URL.
    Url(PublicUrl<'s>),
    /// Why it has no URL.
    NoUrl(NoUrlRow<'s>),
    /// It has no URL, and is not among those whose reason is kept.
    NoUrlBeyondRows,
    /// There is no such version, or it is not on this site.
    None,
}

impl Snapshot {
    /// The path of a document in the locale at this position of the site's locales, or its only path
    /// if it is not localized (D19), with the position of the version's locale. `None`: it has no URL
    /// there.
    #[must_use]
    pub fn path_of(&self, id: &str, locale: usize) -> Option<(&str, usize)> {
        let url = self.url_of(id, locale)?;
        Some((url.path(), url.locale()))
    }

    /// What is known about the version of a document in the locale at this position of the site's
    /// locales. A document that is not localized has one version for all locales.
    #[must_use]
    pub fn version(&self, id: &str, locale: usize) -> Version<'_> {
        if let Some(url) = self.url_of(id, locale) {
            return Version::Url(url);
        }
        match self.no_url.get(id, locale, &self.arena) {
            Some(row) => Version::NoUrl(row),
            None if self.no_url.is_beyond(id, locale) => Version::NoUrlBeyondRows,
            None => Version::None,
        }
    }

    fn url_of(&self, id: &str, locale: usize) -> Option<PublicUrl<'_>> {
        let duplicates = self.positions_of(id, self.owners..self.entries.len());
        let versions = self.owned_by(id).chain(duplicates).map(|at| self.url(at));
        let in_locale = versions.clone().find(|url| url.locale() == locale);
        in_locale.or_else(|| { versions }.find(|url| !url.is_localized()))
    }

    /// The positions of a document's own URLs among the listed ones, in the order of the site's
    /// locales.
    pub fn listed_positions(&self, id: &str) -> impl Iterator<Item = usize> {
        let own = self.owned_by(id).map(|at| self.url(at)).filter(|url| url.is_listed());
        own.map(|own| {
            let is_before = |at: &u32| {
                let url = self.url(*at as usize);
                (url.locale(), url.path()) < (own.locale(), own.path())
            };
            self.in_order.partition_point(is_before)
        })
    }

    /// The positions of the document's versions that own their paths.
    pub(super) fn owned_by(&self, id: &str) -> Range<usize> {
        self.positions_of(id, 0..self.owners)
    }

    /// The positions of the document's versions in one of the two parts of the entries.
    fn positions_of(&self, id: &str, part: Range<usize>) -> Range<usize> {
        let entries = &self.entries[part.clone()];
        let Some(at) = self.find(id, entries) else { return part.start..part.start };
        let is_first = |entry: &Entry| entry.flags.has(Flags::FIRST);
        let first = entries[..=at].iter().rposition(is_first).unwrap_or(at);
        let behind = entries[at + 1..].iter().take_while(|entry| !is_first(entry)).count();
        part.start + first..part.start + at + 1 + behind
    }

    /// The position of one version of the document among entries that are ordered by document.
    ///
    /// This is an interpolation search: the hashes are distributed evenly, so that a few probes are
    /// enough. A binary search needs a probe for each bit of the number of entries, and each probe
    /// reads an entry and its text, which are rarely in the processor's cache.
    fn find(&self, id: &str, entries: &[Entry]) -> Option<usize> {
        let hash = document_hash(id);
        // The entries that are still possible, and the bounds of their hashes.
        let (mut rest, mut least, mut most) = (0..entries.len(), 0, u64::MAX);
        let mut probes = 0;
        while !rest.is_empty() {
            let step = if probes < MAX_INTERPOLATIONS {
                interpolate(hash - least, most - least, rest.len())
            } else {
                rest.len() / 2
            };
            probes += 1;
            let at = rest.start + step;
            let own = entries[at].id(&self.arena);
            let own_hash = document_hash(own);
            // A comparison of hashes avoids most of the ids.
            match own_hash.cmp(&hash).then_with(|| own.cmp(id)) {
                Ordering::Less => (rest.start, least) = (at + 1, own_hash),
                Ordering::Equal => return Some(at),
                Ordering::Greater => (rest.end, most) = (at, own_hash),
            }
        }
        None
    }

    /// The ids of the documents with this hash: one, unless hashes collide.
    pub(super) fn ids_by_hash(&self, hash: u64) -> impl Iterator<Item = &str> {
        let parts = [0..self.owners, self.owners..self.entries.len()];
        let with_entry = parts.into_iter().find_map(|part| {
            let is_before = |entry: &Entry| document_hash(entry.id(&self.arena)) < hash;
            let entries = &self.entries[part];
            let entry = entries.get(entries.partition_point(is_before))?;
            Some(entry.id(&self.arena)).filter(|id| document_hash(id) == hash)
        });
        with_entry.into_iter().chain(self.references.without_entry(hash))
    }
}

/// The expected position of a hash among `count` hashes that are distributed evenly from 0 to `most`.
/// It is less than `count`, and computed with 32 bits of the hashes, because positions have 32 bits.
fn interpolate(hash: u64, most: u64, count: usize) -> usize {
    let position = (hash >> 32) * count as u64 / ((most >> 32) + 1);
    usize::try_from(position).expect("it is less than a usize")
}
