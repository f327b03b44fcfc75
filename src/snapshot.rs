//! A snapshot: all public URLs of one content type of a site, as one complete walk found them.
//!
//! Sitemaps, resolved pathnames and URL checks read the same snapshot, so that they cannot disagree.
//! It is compact: the texts are in an arena, each URL is an entry of fixed size, and no URL has an
//! allocation of its own.

mod arena;
mod build;
mod documents;
mod flags;
mod hash;
mod patch;
mod path_table;
mod references;
mod skipped;
mod sort;
mod timestamp;

pub use build::{Builder, Listing, NoSnapshot, Part};
pub use patch::{Patch, Patched};
pub use skipped::Skipped;
pub use timestamp::write as write_timestamp;

use std::ops::Range;

use crate::rules::FieldPath;
use arena::{Arena, Offset};
use flags::{FIRST, Flags, LISTED, LOCALIZED};
use hash::document_hash;
use path_table::PathTable;
use references::References;
use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::Xxh3Default;

/// No modification date.
const UNDATED: i64 = i64::MIN;

/// The public URLs of one content type of a site.
#[derive(Debug, Default)]
pub struct Snapshot {
    arena: Arena,
    /// Ordered by the hash of the `documentId`, by `documentId`, by locale, so that the versions of
    /// a document are neighbours. No two entries have the same path.
    entries: Box<[Entry]>,
    /// The versions whose path belongs to another entry, in the same order.
    others: Box<[Entry]>,
    /// The positions of the listed entries, in the order of sitemaps (D22).
    in_order: Box<[u32]>,
    /// Hashes of the paths that several documents have. A path that only versions of the same
    /// document share is not among them.
    shared: FxHashSet<u64>,
    /// Finds the entry of a path, for sites with a path index.
    path_table: Option<PathTable>,
    references: References,
    listed: Listed,
    /// The documents that have no URL.
    pub skipped: Skipped,
    /// How many versions have no entry because an entry of another one has their path.
    pub duplicates: u64,
}

/// Figures about the listed URLs.
#[derive(Clone, Copy, Debug, Default)]
struct Listed {
    /// The length of all their paths.
    bytes: usize,
    /// A hash of their paths in order.
    hash: u128,
}

/// One URL.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Where its path begins in the arena; the `documentId` follows right behind.
    text: Offset,
    /// The position of its rule in the settings.
    rule: u32,
    path_len: u16,
    id_len: u16,
    /// The position of its locale in the site's locales.
    locale: u16,
    flags: Flags,
    /// Milliseconds since 1970, or [`UNDATED`].
    modified: i64,
}

/// Whether a version is left out of sitemaps, its locale and its `documentId`. Of the versions with
/// one path, the first in this order gets the entry (D22).
type Rank<'s> = (bool, u16, &'s str);

/// One public URL of a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct PublicUrl<'s> {
    snapshot: &'s Snapshot,
    at: usize,
}

/// The versions of a document that have a URL, in the order of the site's locales; at least one.
#[derive(Clone, Debug)]
pub struct Versions<'s> {
    snapshot: &'s Snapshot,
    part: Range<usize>,
}

impl Snapshot {
    /// The listed URLs, which are those in sitemaps, each once, in the order of D22: the site's
    /// locale order, then the path by code point.
    pub fn listed(&self) -> impl Iterator<Item = PublicUrl<'_>> + Clone {
        self.listed_from(0)
    }

    /// The listed URLs after the first `start` ones.
    pub fn listed_from(&self, start: usize) -> impl Iterator<Item = PublicUrl<'_>> + Clone {
        self.in_order[start..].iter().map(|at| self.url(*at as usize))
    }

    /// The listed URL at a position, which is less than [`Snapshot::listed_count`].
    #[must_use]
    pub fn nth_listed(&self, position: usize) -> PublicUrl<'_> {
        self.url(self.in_order[position] as usize)
    }

    /// The number of listed URLs.
    #[must_use]
    pub fn listed_count(&self) -> usize {
        self.in_order.len()
    }

    /// The length of all listed paths together, in bytes.
    #[must_use]
    pub fn listed_bytes(&self) -> usize {
        self.listed.bytes
    }

    /// A hash of the listed paths in order: equal lists have equal hashes on every instance.
    #[must_use]
    pub fn listing_hash(&self) -> u128 {
        self.listed.hash
    }

    /// The number of URLs, listed or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no document has a URL.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The documents in a part of all URLs, each with its versions, ordered by a hash of the
    /// `documentId`, which is the same on every machine and in every version of the service.
    pub fn documents(&self, mut part: Range<usize>) -> impl Iterator<Item = Versions<'_>> {
        std::iter::from_fn(move || {
            let versions = (!part.is_empty()).then(|| self.versions_from(part.start))?;
            part.start = versions.part.end;
            Some(versions)
        })
    }

    /// In a part of all URLs whose documents' hashes have the same first `bit` bits, the first
    /// position where the next bit is set.
    #[must_use]
    pub fn first_with_bit(&self, part: Range<usize>, bit: u32) -> usize {
        let is_set = |entry: &Entry| document_hash(entry.id(&self.arena)) & (1 << (63 - bit)) != 0;
        part.start + self.entries[part].partition_point(|entry| !is_set(entry))
    }

    /// The URL with this path; `None` too if the snapshot has no path table.
    #[must_use]
    pub fn owner(&self, path: &str) -> Option<PublicUrl<'_>> {
        let at = self.path_table.as_ref()?.find(path, |at| self.url(at).path())?;
        Some(self.url(at))
    }

    /// The versions that read the document with this id through a relation: the `documentId` of
    /// each, and the position of its locale. A few others may be among them.
    pub fn referring(&self, relation: &FieldPath, id: &str) -> impl Iterator<Item = (&str, usize)> {
        let to = self.references.to(relation, id);
        to.flat_map(|(hash, locale)| self.ids_by_hash(hash).map(move |id| (id, locale)))
    }

    fn ids_by_hash(&self, hash: u64) -> impl Iterator<Item = &str> {
        let hash_of = |entry: &Entry| document_hash(entry.id(&self.arena));
        let start = self.entries.partition_point(|entry| hash_of(entry) < hash);
        let entry = self.entries.get(start).filter(|entry| hash_of(entry) == hash);
        let with_entry = entry.map(|entry| entry.id(&self.arena));
        with_entry.into_iter().chain(self.references.without_entry(hash))
    }

    /// The memory that it takes, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let path_table = self.path_table.as_ref().map_or(0, PathTable::bytes);
        let entries = size_of_val(&*self.entries) + size_of_val(&*self.others);
        let entries = entries + size_of_val(&*self.in_order);
        self.arena.bytes() + entries + path_table + self.references.bytes()
    }

    fn count_listed(&self) -> Listed {
        let mut hash = Xxh3Default::new();
        let mut listed = Listed::default();
        for url in self.listed() {
            let path = url.path();
            listed.bytes += path.len();
            hash.update(path.as_bytes());
            // No path has a line break, so different lists are different texts.
            hash.update(b"\n");
        }
        Listed { hash: hash.digest128(), ..listed }
    }

    /// The versions of the document whose first version is at this position.
    fn versions_from(&self, first: usize) -> Versions<'_> {
        let others = self.entries[first + 1..].iter().take_while(|entry| !entry.flags.has(FIRST));
        Versions { snapshot: self, part: first..first + 1 + others.count() }
    }

    fn url(&self, at: usize) -> PublicUrl<'_> {
        PublicUrl { snapshot: self, at }
    }
}

impl<'s> PublicUrl<'s> {
    /// The path on the frontend: absolute, percent-encoded ASCII.
    #[must_use]
    pub fn path(self) -> &'s str {
        self.entry().path(&self.snapshot.arena)
    }

    /// The length of the path, in bytes, without a look into the arena.
    #[must_use]
    pub fn path_len(self) -> usize {
        self.entry().path_len.into()
    }

    /// The `documentId` of the document.
    #[must_use]
    pub fn document_id(self) -> &'s str {
        self.entry().id(&self.snapshot.arena)
    }

    /// The position of its locale in the site's locales.
    #[must_use]
    pub fn locale(self) -> usize {
        usize::from(self.entry().locale)
    }

    /// The position in the settings of the rule that built it.
    #[must_use]
    pub fn rule(self) -> usize {
        self.entry().rule as usize
    }

    /// When the version was last modified, in milliseconds since 1970, if it says so.
    #[must_use]
    pub fn modified(self) -> Option<i64> {
        let modified = self.entry().modified;
        (modified != UNDATED).then_some(modified)
    }

    /// Whether it is listed in sitemaps.
    #[must_use]
    pub fn is_listed(self) -> bool {
        self.entry().flags.has(LISTED)
    }

    /// Whether the document has versions by locale. One that is not localized counts as a version in
    /// the site's first locale (D19).
    #[must_use]
    pub fn is_localized(self) -> bool {
        self.entry().flags.has(LOCALIZED)
    }

    /// All versions of its document that have a URL, its own among them.
    #[must_use]
    pub fn versions(self) -> Versions<'s> {
        let entries = &self.snapshot.entries[..=self.at];
        let first = entries.iter().rposition(|entry| entry.flags.has(FIRST)).unwrap_or(self.at);
        self.snapshot.versions_from(first)
    }

    fn rank(self) -> Rank<'s> {
        self.entry().rank(&self.snapshot.arena)
    }

    fn entry(self) -> &'s Entry {
        &self.snapshot.entries[self.at]
    }
}

impl<'s> Iterator for Versions<'s> {
    type Item = PublicUrl<'s>;

    fn next(&mut self) -> Option<PublicUrl<'s>> {
        self.part.next().map(|at| self.snapshot.url(at))
    }
}

impl Entry {
    fn path(self, arena: &Arena) -> &str {
        arena.get(self.text, self.path_len.into())
    }

    fn id(self, arena: &Arena) -> &str {
        let path_len = usize::from(self.path_len);
        &arena.get(self.text, path_len + usize::from(self.id_len))[path_len..]
    }

    fn rank(self, arena: &Arena) -> Rank<'_> {
        (!self.flags.has(LISTED), self.locale, self.id(arena))
    }
}

#[cfg(test)]
mod tests;
