//! Finds the entry of a path: a hash table of positions.

use std::hash::{BuildHasher, RandomState};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A slot that holds no position.
const EMPTY: u32 = u32::MAX;

/// The positions of the entries by their paths.
#[derive(Debug)]
pub(super) struct PathTable {
    /// A power of two of slots, at most two thirds full.
    slots: Box<[u32]>,
    hash: PathHash,
}

/// How paths are hashed. Seeded, because editors choose slugs, and nobody should be able to choose
/// a million that collide.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathHash {
    seed: u64,
    function: fn(&[u8], u64) -> u64,
}

impl PathHash {
    pub(super) fn seeded() -> Self {
        Self { seed: RandomState::new().hash_one(()), function: xxh3_64_with_seed }
    }

    #[cfg(test)]
    pub(super) fn poor(function: fn(&[u8], u64) -> u64) -> Self {
        Self { seed: 0, function }
    }

    fn of(self, path: &str) -> u64 {
        (self.function)(path.as_bytes(), self.seed)
    }
}

impl PathTable {
    /// Takes the paths by position; no two are equal.
    pub(super) fn new<'p>(paths: impl ExactSizeIterator<Item = &'p str>, hash: PathHash) -> Self {
        let count = paths.len();
        let slots = vec![EMPTY; (count + count / 2 + 1).next_power_of_two()];
        let mut table = Self { slots: slots.into(), hash };
        for (at, path) in (0..).zip(paths) {
            let mut free = table.probe(path).filter(|slot| table.slots[*slot] == EMPTY);
            if let Some(slot) = free.next() {
                table.slots[slot] = at;
            }
        }
        table
    }

    /// The position of this path, if `path_of` says that it stands there.
    pub(super) fn find<'p>(&self, path: &str, path_of: impl Fn(usize) -> &'p str) -> Option<usize> {
        let positions = self.probe(path).map(|slot| self.slots[slot]);
        let mut taken = positions.take_while(|at| *at != EMPTY).map(|at| at as usize);
        taken.find(|at| path_of(*at) == path)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.slots)
    }

    /// The slots in which a path may be, until an empty one ends the search.
    fn probe(&self, path: &str) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len() - 1;
        #[expect(clippy::cast_possible_truncation, reason = "the mask takes the low bits")]
        let start = self.hash.of(path) as usize;
        (0..=mask).map(move |step| start.wrapping_add(step) & mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_collide_are_told_apart() {
        let paths = ["/en/x", "/en/y", "/de/x"];
        let poor: [fn(&[u8], u64) -> u64; 2] = [|_, _| 7, |_, _| u64::MAX];
        for hash in poor.map(PathHash::poor).into_iter().chain([PathHash::seeded()]) {
            let table = PathTable::new(paths.into_iter(), hash);
            for (at, path) in paths.iter().enumerate() {
                assert_eq!(table.find(path, |at| paths[at]), Some(at));
            }
            for miss in ["", "/", "/en", "/en/x/", "/en/X", "/en/xx"] {
                assert_eq!(table.find(miss, |at| paths[at]), None, "{miss}");
            }
        }
    }

    #[test]
    fn no_paths_have_no_owner() {
        let table = PathTable::new(std::iter::empty(), PathHash::seeded());
        assert_eq!(table.find("/", |_| ""), None);
    }
}
