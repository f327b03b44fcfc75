//! A hash table of places in many small parts: when one grows, its rows alone are hashed again, so
//! that no reader waits for more than a millisecond.

use hashbrown::HashTable;

/// A million rows make parts of 4,000.
const PARTS: usize = 256;

/// Places by the hashes of what is there.
#[derive(Debug)]
pub(super) struct Table(Box<[HashTable<u32>]>);

impl Default for Table {
    fn default() -> Self {
        Self((0..PARTS).map(|_| HashTable::new()).collect())
    }
}

impl Table {
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        self.0[part(hash)].find(hash, |at| is_it(*at)).copied()
    }

    /// Adds a place for which [`Table::find`] finds none.
    pub(super) fn insert(&mut self, hash: u64, at: u32, hash_of: impl Fn(u32) -> u64) {
        self.0[part(hash)].insert_unique(hash, at, |at| hash_of(*at));
    }

    pub(super) fn replace(&mut self, hash: u64, at: u32, new: u32) {
        if let Some(place) = self.0[part(hash)].find_mut(hash, |own| *own == at) {
            *place = new;
        }
    }

    pub(super) fn remove(&mut self, hash: u64, at: u32) {
        if let Ok(entry) = self.0[part(hash)].find_entry(hash, |own| *own == at) {
            entry.remove();
        }
    }
}

/// Bits that the table within a part does not use for the first look.
fn part(hash: u64) -> usize {
    usize::from(hash.to_le_bytes()[5])
}
