//! The path table: finds the entry of a path.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The positions of the entries, by the hashes of their paths.
#[derive(Debug)]
pub(super) struct PathTable {
    positions: HashTable<u32>,
    hash: PathHash,
}

/// A hash function for paths. It is seeded: editors choose slugs, and must not be able to choose a
/// million that collide.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathHash {
    seed: u64,
    function: fn(&[u8], u64) -> u64,
}

impl PathHash {
    pub(super) fn seeded() -> Self {
        Self { seed: fastrand::u64(..), function: xxh3_64_with_seed }
    }

    fn of(self, path: &str) -> u64 {
        (self.function)(path.as_bytes(), self.seed)
    }
}

impl PathTable {
    /// The table of these paths by position. Paths on different hosts may be equal.
    pub(super) fn new<'p>(paths: impl ExactSizeIterator<Item = &'p str>, hash: PathHash) -> Self {
        let mut positions = HashTable::with_capacity(paths.len());
        for (at, path) in (0..).zip(paths) {
            let regrow = |_: &u32| unreachable!("there is room for all paths");
            positions.insert_unique(hash.of(path), at, regrow);
        }
        Self { positions, hash }
    }

    /// The position of this path, where `path_of` gives the path of a position.
    pub(super) fn find<'p>(&self, path: &str, path_of: impl Fn(usize) -> &'p str) -> Option<usize> {
        let is_it = |at: &u32| path_of(*at as usize) == path;
        self.positions.find(self.hash.of(path), is_it).map(|at| *at as usize)
    }

    /// All positions of this path.
    pub(super) fn find_all<'p>(
        &self,
        path: &str,
        path_of: impl Fn(usize) -> &'p str,
    ) -> impl Iterator<Item = usize> {
        let all = self.positions.iter_hash(self.hash.of(path)).map(|at| *at as usize);
        all.filter(move |at| path_of(*at) == path)
    }

    /// The memory that it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.positions.allocation_size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_distinguishes_paths_with_equal_hashes() {
        let paths = ["/en/x", "/en/y", "/de/x"];
        let poor: [fn(&[u8], u64) -> u64; 2] = [|_, _| 7, |_, _| u64::MAX];
        let poor = poor.map(|function| PathHash { seed: 0, function });
        for hash in poor.into_iter().chain([PathHash::seeded()]) {
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
    fn find_in_an_empty_table_finds_nothing() {
        let table = PathTable::new(std::iter::empty(), PathHash::seeded());
        assert_eq!(table.find("/", |_| ""), None);
    }
}
