//! Hashes that stand for documents, and for the whole content of a snapshot.

use std::hint::black_box;

use smallvec::SmallVec;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::entry::Entry;
use super::{Listed, Snapshot};

/// How many entries are loaded at once.
const BATCH: usize = 64;

/// Scatters documents evenly, in the same way on every instance and in every version. It needs no
/// seed, because clients do not choose the ids of documents.
pub(super) fn document_hash(id: &str) -> u64 {
    xxh3_64(id.as_bytes())
}

impl Snapshot {
    /// A hash of everything that the snapshot has: equal on every instance for equal content and
    /// settings. It is computed once.
    pub fn content_hash(&self) -> u128 {
        *self.content_hash.get_or_init(|| {
            let mut hash = ContentHash::default();
            hash.number(self.owners as u64);
            hash.number(self.entries.len() as u64);
            for entry in &self.entries {
                entry.hash_with_title(&self.arena, &mut hash.0);
            }
            hash.number(self.hosts.len() as u64);
            self.hosts.iter().for_each(|host| hash.number(u64::from(*host)));
            self.hash_rows(&mut hash);
            self.hash_references(&mut hash);
            hash.0.digest128()
        })
    }

    /// Sets the figures and the hashes of the URLs.
    pub(super) fn digest(&mut self) {
        let (mut paths, mut urls) = (Xxh3Default::new(), Xxh3Default::new());
        let mut bytes = 0;
        for entry in self.loaded(&self.in_order) {
            let path = entry.path(&self.arena);
            bytes += path.len();
            paths.update(path.as_bytes());
            // No path has a line break, so different lists are different texts.
            paths.update(b"\n");
            entry.hash(&self.arena, &mut urls);
        }
        self.loaded(&self.unlisted).for_each(|entry| entry.hash(&self.arena, &mut urls));
        self.listed = Listed { bytes, hash: paths.digest128() };
        self.urls_hash = urls.digest128();
    }

    /// The entries at these positions. The texts of a batch are loaded at once: they are anywhere in
    /// memory, and to wait for each of them would take most of the time.
    fn loaded(&self, positions: &[u32]) -> impl Iterator<Item = Entry> {
        positions.chunks(BATCH).flat_map(|positions| {
            let entries = positions.iter().map(|at| self.entries[*at as usize]);
            let entries: SmallVec<[Entry; BATCH]> = entries.collect();
            let first = |entry: &Entry| entry.path(&self.arena).bytes().next().unwrap_or_default();
            black_box(entries.iter().map(first).fold(0, u8::wrapping_add));
            entries
        })
    }

    fn hash_rows(&self, hash: &mut ContentHash) {
        hash.number(self.no_url().len() as u64);
        for row in self.no_url() {
            hash.text(row.document_id);
            hash.number(row.locale.map_or(u64::MAX, |locale| locale as u64));
            hash.number(u64::from(row.is_localized));
            hash.text(row.reason);
            hash.number(row.rule as u64);
            hash.text(row.title.unwrap_or_default());
        }
        hash.number(self.without_row.by_reason().count() as u64);
        for (reason, count) in self.without_row.by_reason() {
            hash.text(reason);
            hash.number(count);
        }
    }

    fn hash_references(&self, hash: &mut ContentHash) {
        hash.number(self.references.all().len() as u64);
        for reference in self.references.all() {
            hash.number(reference.key());
            hash.number(reference.document());
        }
        let ids = self.references.ids_without_entry();
        hash.number(ids.len() as u64);
        for id in ids {
            hash.text(id);
        }
        for (relation, id) in self.references.examples() {
            hash.text(&relation.to_string());
            hash.text(id);
        }
    }
}

/// A hash in which lengths keep texts apart.
#[derive(Default)]
struct ContentHash(Xxh3Default);

impl ContentHash {
    fn number(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text.as_bytes());
    }
}
