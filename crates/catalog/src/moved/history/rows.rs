//! The rows: found by path, by document, and by when they were last seen.

use std::collections::BTreeSet;

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::names::{RowNames, SiteId};
use crate::changes::difference::{Change, Difference};

/// No row.
const NONE: u32 = u32::MAX;
/// How many rows are allocated at once. Rows never move, so growing copies nothing.
const CHUNK: usize = 1 << 12;

/// A path and its document, in 48 bytes and the texts.
#[derive(Debug)]
pub(super) struct Row {
    /// The path, then the `documentId`.
    text: Box<str>,
    pub(super) last_seen: i64,
    /// The next row of the same document that has entered earlier.
    older: u32,
    /// The one that has entered later.
    newer: u32,
    path_len: u16,
    pub(super) names: RowNames,
    pub(super) is_imported: bool,
}

/// A path that enters.
#[derive(Clone, Copy, Debug)]
pub(super) struct LostPath<'s> {
    pub(super) host: &'s str,
    pub(super) path: &'s str,
    pub(super) document_id: &'s str,
    pub(super) locale: &'s str,
}

#[derive(Debug)]
pub(super) struct Rows {
    chunks: Vec<Vec<Option<Row>>>,
    /// The places of removed rows.
    free: Vec<u32>,
    by_path: Table,
    /// The newest row of each document.
    by_document: Table,
    by_age: BTreeSet<(i64, u32)>,
    /// Editors choose slugs, and must not be able to choose a million that collide.
    seed: u64,
}

impl Default for Rows {
    fn default() -> Self {
        Self {
            chunks: Vec::new(),
            free: Vec::new(),
            by_path: Table::default(),
            by_document: Table::default(),
            by_age: BTreeSet::new(),
            seed: fastrand::u64(..),
        }
    }
}

impl Row {
    pub(super) fn path(&self) -> &str {
        &self.text[..usize::from(self.path_len)]
    }

    pub(super) fn document_id(&self) -> &str {
        &self.text[usize::from(self.path_len)..]
    }

    fn has_path(&self, site: SiteId, host: u16, path: &str) -> bool {
        self.names.site == site && self.names.host == host && self.path() == path
    }

    fn is_of(&self, site: SiteId, uid: u16, id: &str) -> bool {
        self.names.site == site && self.names.uid == uid && self.document_id() == id
    }
}

impl<'s> LostPath<'s> {
    /// The path that a version has lost. `None`: it has lost none.
    pub(super) fn of(change: Change<'s>, difference: &Difference<'s>) -> Option<Self> {
        let (before, after) = match change {
            Change::Moved { before, after } => (before, Some(after)),
            Change::Gone(before) => (before, None),
            Change::Added(_) | Change::Updated(_) => return None,
        };
        let (old, new) = (difference.before().locales, difference.after().locales);
        let host = new.host_among(old, before.locale());
        let path = before.normalized_path();
        let is_same = after.is_some_and(|after| {
            after.normalized_path() == path && new.host_among(new, after.locale()) == host
        });
        let locale = old.code(before.locale());
        (!is_same).then(|| Self { host, path, document_id: before.document_id(), locale })
    }
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.by_age.len()
    }

    pub(super) fn get(&self, at: u32) -> Option<&Row> {
        self.chunks.get(at as usize / CHUNK)?.get(at as usize % CHUNK)?.as_ref()
    }

    /// The place after the last one that has had a row.
    pub(super) fn places_end(&self) -> usize {
        let last = self.chunks.last().map_or(0, Vec::len);
        self.chunks.len().saturating_sub(1) * CHUNK + last
    }

    /// The row that was last seen longest ago.
    pub(super) fn oldest(&self) -> Option<(i64, u32)> {
        self.by_age.first().copied()
    }

    pub(super) fn find(&self, site: SiteId, host: u16, path: &str) -> Option<&Row> {
        Some(self.row(self.place_of(site, host, path)?))
    }

    /// The rows of a document, those that have entered last first.
    pub(super) fn of_document(
        &self,
        site: SiteId,
        uid: u16,
        id: &str,
    ) -> impl Iterator<Item = &Row> {
        let first = self.newest_of(site, uid, id);
        std::iter::successors(first.map(|at| self.row(at)), |row| self.get(row.older))
    }

    /// Puts a row in, in place of the one with the same path: when it was last seen, and whether it is
    /// imported. Returns its place.
    pub(super) fn put(
        &mut self,
        names: RowNames,
        path: &str,
        id: &str,
        last_seen: i64,
        is_imported: bool,
    ) -> u32 {
        if let Some(at) = self.place_of(names.site, names.host, path) {
            self.remove(at);
        }
        let path_len = u16::try_from(path.len()).expect("a path of a snapshot is below 64 KiB");
        let text = [path, id].concat().into();
        let newest = self.newest_of(names.site, names.uid, id);
        let older = newest.unwrap_or(NONE);
        let at =
            self.add(Row { text, last_seen, older, newer: NONE, path_len, names, is_imported });
        self.by_age.insert((last_seen, at));
        let seed = self.seed;
        let (paths, documents) =
            (path_hash(seed, names, path), document_hash(seed, names.site, names.uid, id));
        let row = |at: u32| row_in(&self.chunks, at);
        self.by_path.insert(paths, at, |at| path_hash(seed, row(at).names, row(at).path()));
        match newest {
            Some(newest) => {
                self.by_document.replace(documents, newest, at);
                self.row_mut(newest).newer = at;
            }
            None => self.by_document.insert(documents, at, |at| hash_of_document(seed, row(at))),
        }
        at
    }

    /// Removes the row in a place.
    pub(super) fn remove(&mut self, at: u32) -> Row {
        let place = self.chunks[at as usize / CHUNK][at as usize % CHUNK].take();
        let row = place.expect("callers have found a row there");
        self.by_age.remove(&(row.last_seen, at));
        self.by_path.remove(path_hash(self.seed, row.names, row.path()), at);
        let document = hash_of_document(self.seed, &row);
        match (row.newer, row.older) {
            (NONE, NONE) => self.by_document.remove(document, at),
            (NONE, older) => self.by_document.replace(document, at, older),
            (newer, _) => self.row_mut(newer).older = row.older,
        }
        if row.older != NONE {
            self.row_mut(row.older).newer = row.newer;
        }
        self.free.push(at);
        row
    }

    fn place_of(&self, site: SiteId, host: u16, path: &str) -> Option<u32> {
        let names = RowNames { site, host, uid: 0, locale: 0 };
        let is_it = |at| self.row(at).has_path(site, host, path);
        self.by_path.find(path_hash(self.seed, names, path), is_it)
    }

    fn newest_of(&self, site: SiteId, uid: u16, id: &str) -> Option<u32> {
        let is_it = |at| self.row(at).is_of(site, uid, id);
        self.by_document.find(document_hash(self.seed, site, uid, id), is_it)
    }

    fn add(&mut self, row: Row) -> u32 {
        if let Some(at) = self.free.pop() {
            self.chunks[at as usize / CHUNK][at as usize % CHUNK] = Some(row);
            return at;
        }
        if self.chunks.last().is_none_or(|chunk| chunk.len() == CHUNK) {
            // The first chunk grows, so that a small history stays small.
            let capacity = if self.chunks.is_empty() { 0 } else { CHUNK };
            self.chunks.push(Vec::with_capacity(capacity));
        }
        let at = (self.chunks.len() - 1) * CHUNK;
        let chunk = self.chunks.last_mut().expect("one was added if there was none");
        chunk.push(Some(row));
        u32::try_from(at + chunk.len() - 1).expect("the limit of paths is below 2^32")
    }

    fn row(&self, at: u32) -> &Row {
        row_in(&self.chunks, at)
    }

    fn row_mut(&mut self, at: u32) -> &mut Row {
        let row = &mut self.chunks[at as usize / CHUNK][at as usize % CHUNK];
        row.as_mut().expect("tables and lists lead to rows alone")
    }
}

fn row_in(chunks: &[Vec<Option<Row>>], at: u32) -> &Row {
    let row = &chunks[at as usize / CHUNK][at as usize % CHUNK];
    row.as_ref().expect("tables and lists lead to rows alone")
}

/// A path belongs to a site and a host, whichever document has it.
fn path_hash(seed: u64, names: RowNames, path: &str) -> u64 {
    let owner = u64::from(names.site.0) << 16 | u64::from(names.host);
    xxh3_64_with_seed(path.as_bytes(), seed ^ owner.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn hash_of_document(seed: u64, row: &Row) -> u64 {
    document_hash(seed, row.names.site, row.names.uid, row.document_id())
}

fn document_hash(seed: u64, site: SiteId, uid: u16, id: &str) -> u64 {
    let owner = u64::from(site.0) << 16 | u64::from(uid);
    xxh3_64_with_seed(id.as_bytes(), seed ^ owner.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// A million rows make parts of 4,000.
const PARTS: usize = 256;

/// A hash table of places in many small parts: when one grows, its rows alone are hashed again, so that no
/// reader waits for more than a millisecond.
#[derive(Debug)]
struct Table(Box<[HashTable<u32>]>);

impl Default for Table {
    fn default() -> Self {
        Self((0..PARTS).map(|_| HashTable::new()).collect())
    }
}

impl Table {
    fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        self.0[part(hash)].find(hash, |at| is_it(*at)).copied()
    }

    /// Adds a place for which [`Table::find`] finds none.
    fn insert(&mut self, hash: u64, at: u32, hash_of: impl Fn(u32) -> u64) {
        self.0[part(hash)].insert_unique(hash, at, |at| hash_of(*at));
    }

    fn replace(&mut self, hash: u64, at: u32, new: u32) {
        if let Some(place) = self.0[part(hash)].find_mut(hash, |own| *own == at) {
            *place = new;
        }
    }

    fn remove(&mut self, hash: u64, at: u32) {
        if let Ok(entry) = self.0[part(hash)].find_entry(hash, |own| *own == at) {
            entry.remove();
        }
    }
}

/// The part of a hash: by bits that the hash table within a part does not use first.
fn part(hash: u64) -> usize {
    usize::from(hash.to_le_bytes()[5])
}
