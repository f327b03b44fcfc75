//! A snapshot: all public URLs of one content type of a site, as one complete walk found them.
//!
//! Sitemaps, resolved pathnames and URL checks read the same snapshot, so that they cannot disagree.
//! It is compact: texts are in an arena, and each URL is an entry of fixed size, not an allocation.
//!
//! # Design
//!
//! - **Compact.** Texts in blocks that never move, 24 bytes an entry, 4 bytes for the order of
//!   lists, 7 to 11 for the path table: 60 to 90 bytes a URL with its `documentId`, and the title
//!   where a rule has a field for it.
//! - **Paths as they are built.** A path has its slash at the end where `trailing_slash` wants
//!   one (D38), so that lists and files copy it. The path table has the normalized form, without
//!   the slash.
//! - **Problems.** A version without a URL has a row of 16 bytes with its reason and rule, and its id
//!   and title among the texts. A version whose path another version owns keeps its entry.
//! - **References.** A snapshot knows which versions read which documents through relations: 16
//!   bytes for each, without the ids. A collision of hashes only causes one document more to be
//!   read.
//! - **Each path once.** If several versions have the same path, one owns it and the others are
//!   duplicates, one of which owns it after an update that removes the owner. `build::ownership`
//!   has the order (D22) as one comparison. A new snapshot gets the owners of the one before as
//!   `Claims`; `SiteCache::with_owners` asks for dates of creation where these decide. In the
//!   serialized form and in deltas, a flag of each entry says whether it owns its path, so that a
//!   restart and other instances have the same owners.
//! - **Files by hash.** A file holds the documents whose hash begins with certain bits; a file
//!   with more than 50,000 URLs or 50 MiB is split by the next bit. The split needs no stored
//!   state, so every instance splits alike. The hash of a file is computed from its entries, so
//!   an `ETag` or a 304 does not need the XML. Texts are written on demand, once, and cached by
//!   hash in 128 MiB.
//! - **`Last-Modified` of a file** is the time at which this process saw the file change, not the
//!   date of its newest entry, which would not change when an entry is removed.

mod affected;
mod arena;
mod build;
mod documents;
mod entry;
mod hash;
mod no_url;
mod patch;
mod path_table;
mod public_url;
mod references;
pub(crate) mod serialized;
mod skipped;
mod timestamp;

pub use affected::{PathsOnHosts, Rebuilt, Replacement};
pub use build::{
    Builder, Claims, CreationDates, Criterion, Listing, NoSnapshot, PageVersion, Part,
    PreviousOwners, Undecided,
};
pub use documents::Version;
pub use no_url::NoUrlRow;
use patch::Change;
pub use patch::{Delta, OtherSnapshot, Patch, Patched};
pub use public_url::{PublicUrl, Versions};
pub use serialized::{Serialized, Titles, Unreadable};
pub use skipped::Skipped;
pub use timestamp::{read_rfc3339, read_w3c, text as timestamp_text, write as write_timestamp};

use std::ops::Range;
use std::sync::OnceLock;

use arena::Arena;
use documents::DocumentIndex;
use entry::{Entry, Flags};
use frontend_map_rules::{FieldPath, without_trailing_slash};
use no_url::NoUrlRows;
use path_table::PathTable;
use references::References;

/// The public URLs of one content type of a site.
#[derive(Debug, Default)]
pub struct Snapshot {
    arena: Arena,
    /// First the versions that own their paths, then the duplicates: those whose path another one
    /// owns. Both are ordered by the hash of the `documentId`, by `documentId`, by locale, so that
    /// the versions of a document are neighbours.
    entries: Box<[Entry]>,
    /// How many of the entries own their paths.
    owners: usize,
    /// Finds the owners of a document.
    owner_index: DocumentIndex,
    /// Finds the duplicates of a document.
    duplicate_index: DocumentIndex,
    /// The positions of the listed owners, in the order of sitemaps (D22).
    in_order: Box<[u32]>,
    /// The positions of the other owners, in the same order.
    unlisted: Box<[u32]>,
    no_url: NoUrlRows,
    /// The host of each locale; empty if all locales share one. A path belongs to a host.
    hosts: Box<[u16]>,
    /// Finds the owner of a path, for sites with a path index.
    path_table: Option<PathTable>,
    references: References,
    listed: Listed,
    /// A hash of everything about each URL, in the order of sitemaps.
    urls_hash: u128,
    /// The versions that have no URL.
    pub skipped: Skipped,
    /// The skipped versions that have no row, as the walk found them.
    without_row: Skipped,
    /// Whether one of the owners is a redirect that comes before a live page.
    has_forced: bool,
    /// See [`Snapshot::deepest_wildcard`].
    deepest_wildcard: Option<usize>,
    /// See [`Snapshot::undecided`]. It says how the snapshot was made and is no part of its content.
    undecided: Box<[Undecided]>,
    content_hash: OnceLock<u128>,
}

/// Figures about the listed URLs.
#[derive(Clone, Copy, Debug, Default)]
struct Listed {
    /// The length of all their paths.
    bytes: usize,
    /// A hash of their paths in order.
    hash: u128,
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
    pub fn nth_listed(&self, position: usize) -> PublicUrl<'_> {
        self.url(self.in_order[position] as usize)
    }

    /// The number of listed URLs.
    pub fn listed_count(&self) -> usize {
        self.in_order.len()
    }

    /// The length of all listed paths together, in bytes.
    pub fn listed_bytes(&self) -> usize {
        self.listed.bytes
    }

    /// A hash of the listed paths in order: equal lists have equal hashes on every instance.
    pub fn listing_hash(&self) -> u128 {
        self.listed.hash
    }

    /// The URLs that sitemaps leave out, each once, in the order of the listed ones.
    pub fn unlisted(&self) -> impl ExactSizeIterator<Item = PublicUrl<'_>> + Clone {
        self.unlisted_from(0)
    }

    /// The URLs that sitemaps leave out, after the first `start` ones.
    pub fn unlisted_from(
        &self,
        start: usize,
    ) -> impl ExactSizeIterator<Item = PublicUrl<'_>> + Clone {
        self.unlisted[start..].iter().map(|at| self.url(*at as usize))
    }

    /// A hash of everything about all URLs but their titles: equal on every instance for equal URLs.
    pub fn urls_hash(&self) -> u128 {
        self.urls_hash
    }

    /// The number of URLs, listed or not.
    pub fn len(&self) -> usize {
        self.owners
    }

    /// Whether no document has a URL.
    pub fn is_empty(&self) -> bool {
        self.owners == 0
    }

    /// All URLs, each once, in the order of [`Snapshot::documents`].
    pub fn owners(&self) -> impl ExactSizeIterator<Item = PublicUrl<'_>> + Clone {
        (0..self.owners).map(|at| self.url(at))
    }

    /// All versions with a URL: the owners and the duplicates.
    pub fn urls(&self) -> impl ExactSizeIterator<Item = PublicUrl<'_>> + Clone {
        (0..self.entries.len()).map(|at| self.url(at))
    }

    /// The version at a [position](PublicUrl::position).
    pub fn nth(&self, position: usize) -> PublicUrl<'_> {
        self.url(position)
    }

    /// The versions whose path another version owns, ordered as the documents.
    pub fn duplicates(&self) -> impl ExactSizeIterator<Item = PublicUrl<'_>> + Clone {
        (self.owners..self.entries.len()).map(|at| self.url(at))
    }

    /// The versions without a URL, in the order of locales, then of `documentId`.
    pub fn no_url(&self) -> impl ExactSizeIterator<Item = NoUrlRow<'_>> + Clone {
        self.no_url.iter_from(0, &self.arena)
    }

    /// The versions without a URL, after the first `start` ones.
    pub fn no_url_from(&self, start: usize) -> impl ExactSizeIterator<Item = NoUrlRow<'_>> + Clone {
        self.no_url.iter_from(start, &self.arena)
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
    pub fn first_with_bit(&self, part: Range<usize>, bit: u32) -> usize {
        let is_set =
            |entry: &Entry| hash::document_hash(entry.id(&self.arena)) & (1 << (63 - bit)) != 0;
        part.start + self.entries[part].partition_point(|entry| !is_set(entry))
    }

    /// The URL with this path, with or without a slash at its end; `None` too if the snapshot has no
    /// path table. Of several hosts with the path, the first in the order of the site's locales.
    pub fn owner(&self, path: &str) -> Option<PublicUrl<'_>> {
        self.owner_on(path, None)
    }

    /// The owner of a path on the host at this position of the site's hosts, if there is one.
    pub fn owner_on(&self, path: &str, host: Option<usize>) -> Option<PublicUrl<'_>> {
        let (path, table) = (without_trailing_slash(path), self.path_table.as_ref()?);
        let path_of = |at| self.url(at).normalized_path();
        if self.hosts.is_empty() {
            return Some(self.url(table.find(path, path_of)?));
        }
        let all = table.find_all(path, path_of).map(|at| self.url(at));
        let own = all.filter(|url| host.is_none_or(|host| self.host_of(*url) == host));
        own.min_by_key(|url| self.host_of(*url))
    }

    /// The position of the host of the site's first locale, where documents that are not localized have
    /// their paths; `None` if there is one host.
    pub fn first_host(&self) -> Option<usize> {
        self.hosts.first().map(|host| usize::from(*host))
    }

    /// The position of a URL's host among the site's hosts; 0 if there is one host.
    pub fn host_of(&self, url: PublicUrl<'_>) -> usize {
        self.hosts.get(url.locale()).map_or(0, |host| usize::from(*host))
    }

    /// The versions that read the document with this id through a relation: the `documentId` of
    /// each, and the position of its locale. A few others may be among them.
    pub fn referring(&self, relation: &FieldPath, id: &str) -> impl Iterator<Item = (&str, usize)> {
        let to = self.references.to(relation, id);
        to.flat_map(|(hash, locale)| self.ids_by_hash(hash).map(move |id| (id, locale)))
    }

    /// The memory that it takes, in bytes.
    pub fn bytes(&self) -> usize {
        let path_table = self.path_table.as_ref().map_or(0, PathTable::bytes);
        let positions = size_of_val(&*self.in_order) + size_of_val(&*self.unlisted);
        let entries = size_of_val(&*self.entries) + positions;
        let indexes = path_table + self.owner_index.bytes() + self.duplicate_index.bytes();
        let indexes = indexes + self.references.bytes();
        self.arena.bytes() + entries + indexes + self.no_url.bytes()
    }

    /// The versions of the document whose first version is at this position.
    fn versions_from(&self, first: usize) -> Versions<'_> {
        let rest = &self.entries[first + 1..self.owners];
        let others = rest.iter().take_while(|entry| !entry.flags.contains(Flags::FIRST));
        Versions { snapshot: self, part: first..first + 1 + others.count() }
    }

    fn url(&self, at: usize) -> PublicUrl<'_> {
        PublicUrl { snapshot: self, at }
    }
}

#[cfg(test)]
mod tests;
