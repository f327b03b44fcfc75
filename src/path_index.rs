//! Which document owns which path: all live paths of one site, held compactly.
//!
//! One text for all paths and ids, one fixed-size entry a path, and a hash table of positions:
//! no allocation of its own for any of them, so that a million paths fit beside a service.

mod build;
mod decide;

pub use build::{Added, PathIndexBuilder, TooLarge};
pub use decide::{Decision, decide, owner_of};

use std::hash::{BuildHasher, RandomState};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A slot of the table that holds no position.
const EMPTY: u32 = u32::MAX;

/// All live paths of a site.
#[derive(Debug)]
pub struct PathIndex {
    /// Ids and paths, one after the other.
    text: Box<str>,
    /// By content type, document and locale, so that the versions of a document are neighbours.
    entries: Box<[Entry]>,
    /// Positions in `entries` by the hash of the path; a power of two, at most two thirds full.
    table: Box<[u32]>,
    /// The content type of each rule, as a number.
    types: Box<[u32]>,
    hash: Hash,
    duplicates: usize,
}

/// One version of a document and its path.
#[derive(Clone, Copy, Debug)]
struct Entry {
    path_at: u32,
    id_at: u32,
    /// The position of its rule in the settings.
    rule: u32,
    path_len: u16,
    id_len: u16,
    /// The position of its locale in the site's locales.
    locale: u16,
}

/// One version of a document that owns a path; of use to the index that gave it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(usize);

/// How paths are hashed. Seeded, because editors choose slugs, and nobody should be able to choose
/// a million that collide.
#[derive(Clone, Copy, Debug)]
struct Hash {
    seed: u64,
    function: fn(&[u8], u64) -> u64,
}

impl Hash {
    fn seeded() -> Self {
        Self { seed: RandomState::new().hash_one(()), function: xxh3_64_with_seed }
    }

    fn of(self, path: &str) -> u64 {
        (self.function)(path.as_bytes(), self.seed)
    }
}

impl Entry {
    fn path(self, text: &str) -> &str {
        &text[self.path_at as usize..][..usize::from(self.path_len)]
    }

    fn id(self, text: &str) -> &str {
        &text[self.id_at as usize..][..usize::from(self.id_len)]
    }
}

impl PathIndex {
    /// The versions that have exactly this path, at most one for each rule: the first by
    /// `documentId`, then by locale. In the order of the rules.
    #[must_use]
    pub fn owners(&self, path: &str) -> Vec<Owner> {
        let mut owners = Vec::new();
        for at in self.probe(path) {
            let Some(entry) = self.entries.get(self.table[at] as usize) else {
                break;
            };
            if entry.path(&self.text) == path {
                owners.push(Owner(self.table[at] as usize));
            }
        }
        owners.sort_by_key(|owner| self.entries[owner.0].rule);
        owners
    }

    /// Its document.
    #[must_use]
    pub fn document_id(&self, owner: Owner) -> &str {
        self.entries[owner.0].id(&self.text)
    }

    /// The position of its rule in the settings.
    #[must_use]
    pub fn rule(&self, owner: Owner) -> usize {
        self.entries[owner.0].rule as usize
    }

    /// All versions of its document that have a path: the position of the locale among the site's,
    /// and the path. In the order of the locales, its own among them.
    pub fn versions(&self, owner: Owner) -> impl Iterator<Item = (usize, &str)> {
        let own = self.entries[owner.0];
        let same = move |entry: &&Entry| self.is_same_document(own, **entry);
        let before = self.entries[..owner.0].iter().rev().take_while(same).count();
        let versions = self.entries[owner.0 - before..].iter().take_while(same);
        versions.map(|entry| (usize::from(entry.locale), entry.path(&self.text)))
    }

    /// How many paths it holds, duplicates included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the site has no live path.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many documents have a path that another one owns.
    #[must_use]
    pub fn duplicates(&self) -> usize {
        self.duplicates
    }

    /// The memory that it takes, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.text.len()
            + size_of_val(&*self.entries)
            + size_of_val(&*self.table)
            + size_of_val(&*self.types)
    }

    fn is_same_document(&self, one: Entry, other: Entry) -> bool {
        self.types[one.rule as usize] == self.types[other.rule as usize]
            && one.id(&self.text) == other.id(&self.text)
    }

    /// The slots of the table in which a path may be, until an empty one ends the search.
    fn probe(&self, path: &str) -> impl Iterator<Item = usize> + use<> {
        let mask = self.table.len() - 1;
        #[expect(clippy::cast_possible_truncation, reason = "the mask takes the low bits")]
        let start = self.hash.of(path) as usize;
        (0..=mask).map(move |step| start.wrapping_add(step) & mask)
    }
}

#[cfg(test)]
mod tests;
