//! Counts requests for many paths in a fixed memory, by Space-Saving (Metwally, Agrawal and El Abbadi,
//! 2005): a new path takes the row of the path with the fewest requests, and its count, which is its
//! possible error from then on. So a path that is requested often has a row, whatever else is requested.

use std::cmp::Reverse;

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::scanners::is_of_scanner;

/// The most paths of a summary.
pub const MAX_ROWS: usize = 1_000;
/// The longest host and path together, in bytes: so that [`MAX_ROWS`] of them fit into a mebibyte with all
/// that a row has.
pub const MAX_KEY_BYTES: usize = 768;

/// The requests that found nothing, by path. It has at most [`MAX_ROWS`] rows and takes less than a
/// mebibyte.
#[derive(Clone, Debug)]
pub struct Summary {
    rows: Vec<Row>,
    /// The positions of all rows: none has fewer requests than that at half its place.
    heap: Vec<u16>,
    /// The positions of rows by their keys.
    places: HashTable<u16>,
    /// Of the hashes: requests must not choose rows that collide.
    seed: u64,
    scanners: Option<Tally>,
    uncounted: u64,
}

#[derive(Clone, Debug)]
struct Row {
    key: Box<str>,
    tally: Tally,
    /// Its place in the heap.
    place: u16,
}

/// The requests for one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// How many there were; it may be too high by up to `error`.
    pub count: u64,
    /// How many of these may have been for a path that had the row before.
    pub error: u64,
    /// The first one, in milliseconds since 1970.
    pub first: i64,
    /// The last one, in milliseconds since 1970.
    pub last: i64,
}

/// What a request that found nothing counts as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissKey {
    /// A path of the site's frontend.
    Path(String),
    /// A path that only scanners for weak points of other software request.
    Scanner,
    /// A path that is too long for a row.
    TooLong,
}

/// A path of the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissedPath<'a> {
    /// `host[:port]`; empty where the site has one host, or the request named none.
    pub host: &'a str,
    /// The normalized path (D7).
    pub path: &'a str,
    /// Its requests.
    pub tally: Tally,
}

impl MissKey {
    /// Of a normalized path, on a host where the site has several.
    #[must_use]
    pub fn of(host: &str, path: String) -> Self {
        if is_of_scanner(&path) {
            Self::Scanner
        } else if host.len() + path.len() > MAX_KEY_BYTES {
            Self::TooLong
        } else if host.is_empty() {
            Self::Path(path)
        } else {
            // A host has no slash, and a path begins with one.
            Self::Path(format!("{host}{path}"))
        }
    }
}

impl Tally {
    fn one(now: i64) -> Self {
        Self { count: 1, error: 0, first: now, last: now }
    }

    /// How many requests there were at least.
    #[must_use]
    pub fn certain(&self) -> u64 {
        self.count - self.error
    }

    fn add(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.error = self.error.saturating_add(other.error);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }

    /// The row with the lowest order is replaced first.
    fn order(&self) -> (u64, i64) {
        (self.count, self.last)
    }
}

impl Default for Summary {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            heap: Vec::new(),
            places: HashTable::new(),
            seed: fastrand::u64(..),
            scanners: None,
            uncounted: 0,
        }
    }
}

impl Summary {
    /// Counts a request at this time, in milliseconds since 1970.
    pub fn record(&mut self, key: &MissKey, now: i64) {
        match key {
            MissKey::Path(key) => self.count(key, now),
            MissKey::Scanner => {
                let one = Tally::one(now);
                self.scanners.get_or_insert(Tally { count: 0, ..one }).add(one);
            }
            MissKey::TooLong => self.add_uncounted(1),
        }
    }

    /// Adds requests of which no path is counted.
    pub fn add_uncounted(&mut self, count: u64) {
        self.uncounted = self.uncounted.saturating_add(count);
    }

    /// How many requests are in no row.
    #[must_use]
    pub fn uncounted(&self) -> u64 {
        self.uncounted
    }

    /// The requests of scanners; `None` if there were none.
    #[must_use]
    pub fn scanners(&self) -> Option<Tally> {
        self.scanners
    }

    /// The number of paths.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.scanners.is_none() && self.uncounted == 0
    }

    /// The paths: first those of which the most requests are certain.
    #[must_use]
    pub fn paths(&self) -> Vec<MissedPath<'_>> {
        let mut paths: Vec<MissedPath<'_>> = self.rows.iter().map(Row::path).collect();
        paths.sort_by_key(|path| {
            let Tally { count, .. } = path.tally;
            (Reverse(path.tally.certain()), Reverse(count), path.path, path.host)
        });
        paths
    }

    /// Drops the paths that `keep` refuses.
    pub fn retain(&mut self, mut keep: impl FnMut(MissedPath<'_>) -> bool) {
        let before = std::mem::take(&mut self.rows);
        let length = before.len();
        let kept: Vec<_> = before.into_iter().filter(|row| keep(row.path())).collect();
        if kept.len() == length {
            self.rows = kept;
        } else {
            self.replace(kept.into_iter().map(|row| (row.key, row.tally)).collect());
        }
    }

    /// Drops what was requested last before this time, in milliseconds since 1970.
    pub fn expire(&mut self, before: i64) {
        self.retain(|path| path.tally.last >= before);
        self.scanners = self.scanners.filter(|tally| tally.last >= before);
    }

    /// Drops the row in which a request counts. Returns whether there was one.
    pub fn remove(&mut self, key: &MissKey) -> bool {
        match key {
            MissKey::Path(key) => {
                let length = self.len();
                self.retain(|path| key.strip_prefix(path.host) != Some(path.path));
                self.len() < length
            }
            MissKey::Scanner => self.scanners.take().is_some(),
            MissKey::TooLong => false,
        }
    }

    /// Adds what another summary has counted. A path that only one of them has may have been requested as
    /// often in the other one as the path with the fewest requests there (Agarwal et al., 2012).
    pub fn merge(&mut self, other: &Self) {
        self.add_uncounted(other.uncounted);
        if let Some(scanners) = other.scanners {
            self.scanners.get_or_insert(Tally { count: 0, ..scanners }).add(scanners);
        }
        let (own_least, other_least) = (self.least(), other.least());
        let mut merged: Vec<(Box<str>, Tally)> = Vec::with_capacity(self.len() + other.len());
        for row in &self.rows {
            let mut tally = row.tally;
            match other.find(&row.key) {
                Some(at) => tally.add(other.rows[at].tally),
                None => tally.add_error(other_least),
            }
            merged.push((row.key.clone(), tally));
        }
        for row in other.rows.iter().filter(|row| self.find(&row.key).is_none()) {
            let mut tally = row.tally;
            tally.add_error(own_least);
            merged.push((row.key.clone(), tally));
        }
        self.replace(merged);
    }

    /// All keys with their requests.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&str, Tally)> {
        self.rows.iter().map(|row| (&*row.key, row.tally))
    }

    /// A summary of at most [`MAX_ROWS`] paths, none of them twice.
    pub(super) fn of_parts(
        paths: Vec<(Box<str>, Tally)>,
        scanners: Option<Tally>,
        uncounted: u64,
    ) -> Self {
        let mut summary = Self { scanners, uncounted, ..Self::default() };
        summary.replace(paths);
        summary
    }

    /// The requests that a path without a row may have had: none while there is room.
    fn least(&self) -> u64 {
        let full = self.heap.first().filter(|_| self.rows.len() == MAX_ROWS);
        full.map_or(0, |first| self.rows[usize::from(*first)].tally.count)
    }

    /// Replaces all rows, by those with the most requests of these. No two have one key.
    fn replace(&mut self, mut rows: Vec<(Box<str>, Tally)>) {
        rows.sort_by_key(|(_, tally)| Reverse(tally.order()));
        rows.truncate(MAX_ROWS);
        // In rising order they are a heap.
        let rows = rows.into_iter().rev().zip(0..);
        self.rows = rows.map(|((key, tally), place)| Row { key, tally, place }).collect();
        self.heap = self.rows.iter().map(|row| row.place).collect();
        self.places.clear();
        for row in &self.rows {
            let hash = self.hash(&row.key);
            let rows = &self.rows;
            self.places.insert_unique(hash, row.place, |at| {
                xxh3_64_with_seed(rows[usize::from(*at)].key.as_bytes(), self.seed)
            });
        }
    }

    fn count(&mut self, key: &str, now: i64) {
        let one = Tally::one(now);
        if let Some(at) = self.find(key) {
            self.rows[at].tally.add(one);
            self.sift_down(self.rows[at].place.into());
        } else if self.rows.len() < MAX_ROWS {
            let at = u16::try_from(self.rows.len()).expect("rows are less than 65,536");
            self.rows.push(Row { key: key.into(), tally: one, place: at });
            self.heap.push(at);
            self.insert(key, at);
            self.sift_up(self.heap.len() - 1);
        } else {
            let at = self.heap[0];
            self.forget(at);
            let row = &mut self.rows[usize::from(at)];
            row.key = key.into();
            row.tally = Tally { error: row.tally.count, count: row.tally.count, ..one };
            row.tally.count = row.tally.count.saturating_add(1);
            self.insert(key, at);
            self.sift_down(0);
        }
    }

    fn hash(&self, key: &str) -> u64 {
        xxh3_64_with_seed(key.as_bytes(), self.seed)
    }

    fn find(&self, key: &str) -> Option<usize> {
        let is_key = |at: &u16| &*self.rows[usize::from(*at)].key == key;
        self.places.find(self.hash(key), is_key).map(|at| usize::from(*at))
    }

    fn insert(&mut self, key: &str, at: u16) {
        let (hash, Self { rows, places, seed, .. }) = (self.hash(key), self);
        places.insert_unique(hash, at, |at| {
            xxh3_64_with_seed(rows[usize::from(*at)].key.as_bytes(), *seed)
        });
    }

    fn forget(&mut self, at: u16) {
        let hash = self.hash(&self.rows[usize::from(at)].key);
        if let Ok(found) = self.places.find_entry(hash, |other| *other == at) {
            found.remove();
        }
    }

    fn order(&self, place: usize) -> (u64, i64) {
        self.rows[usize::from(self.heap[place])].tally.order()
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.heap.swap(one, other);
        for place in [one, other] {
            let at = usize::from(self.heap[place]);
            self.rows[at].place = u16::try_from(place).expect("rows are less than 65,536");
        }
    }

    fn sift_up(&mut self, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.order(parent) <= self.order(place) {
                break;
            }
            self.swap(parent, place);
            place = parent;
        }
    }

    fn sift_down(&mut self, mut place: usize) {
        loop {
            let children = 2 * place + 1..(2 * place + 3).min(self.heap.len());
            let Some(least) = children.min_by_key(|child| self.order(*child)) else { break };
            if self.order(place) <= self.order(least) {
                break;
            }
            self.swap(place, least);
            place = least;
        }
    }
}

impl Row {
    fn path(&self) -> MissedPath<'_> {
        let (host, path) = split(&self.key);
        MissedPath { host, path, tally: self.tally }
    }
}

impl Tally {
    /// So many requests may have been for another path.
    fn add_error(&mut self, error: u64) {
        self.count = self.count.saturating_add(error);
        self.error = self.error.saturating_add(error);
    }
}

/// The host and the path of a key.
fn split(key: &str) -> (&str, &str) {
    key.split_at(key.find('/').unwrap_or(0))
}

#[cfg(test)]
mod tests;
