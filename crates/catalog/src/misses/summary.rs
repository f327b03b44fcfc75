//! Counts requests for many paths in a fixed memory, by Space-Saving (Metwally, Agrawal and El Abbadi,
//! 2005): a new path takes the row of the path with the fewest requests, and its count, which is its
//! possible error from then on. So a path that is requested often has a row, whatever else is requested.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use itertools::Itertools;

use super::scanners::is_of_scanner;

/// The most paths of a summary.
pub const MAX_ROWS: usize = 1_000;
/// The longest host and path together, in bytes: so that [`MAX_ROWS`] of them fit into a mebibyte with all
/// that a row has.
pub const MAX_KEY_BYTES: usize = 768;

/// The requests that found nothing, by path. It has at most [`MAX_ROWS`] rows and takes less than a
/// mebibyte.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// By their keys, whose hashes are seeded: requests must not choose keys that collide.
    paths: HashMap<Arc<str>, Tally>,
    /// The key of each path behind the order that it had once. Orders only rise, so that the path with the
    /// lowest one is found by setting right those in front of it.
    by_order: BinaryHeap<Reverse<(Order, Arc<str>)>>,
    scanners: Option<Tally>,
    uncounted: u64,
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

/// The number of requests for a path, and when the last one was: the lowest one is replaced first, of
/// several equal ones the first by its key.
type Order = (u64, i64);

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
    pub fn certain(&self) -> u64 {
        self.count - self.error
    }

    fn add(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.error = self.error.saturating_add(other.error);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }

    fn order(&self) -> Order {
        (self.count, self.last)
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
    pub fn uncounted(&self) -> u64 {
        self.uncounted
    }

    /// The requests of scanners; `None` if there were none.
    pub fn scanners(&self) -> Option<Tally> {
        self.scanners
    }

    /// The number of paths.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.scanners.is_none() && self.uncounted == 0
    }

    /// The paths: first those of which the most requests are certain.
    pub fn paths(&self) -> Vec<MissedPath<'_>> {
        let mut paths: Vec<MissedPath<'_>> = self.keys().map(MissedPath::of).collect();
        paths.sort_by_key(|path| {
            let Tally { count, .. } = path.tally;
            (Reverse(path.tally.certain()), Reverse(count), path.path, path.host)
        });
        paths
    }

    /// Drops the paths that `keep` refuses.
    pub fn retain(&mut self, mut keep: impl FnMut(MissedPath<'_>) -> bool) {
        self.paths.retain(|key, tally| keep(MissedPath::of((key, *tally))));
        self.by_order.retain(|Reverse((_, key))| self.paths.contains_key(key));
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
                self.by_order.retain(|Reverse((_, own))| **own != **key);
                self.paths.remove(key.as_str()).is_some()
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
        let mut merged = std::mem::take(&mut self.paths);
        for (key, tally) in &mut merged {
            match other.paths.get(key) {
                Some(others) => tally.add(*others),
                None => tally.add_error(other_least),
            }
        }
        for (key, tally) in &other.paths {
            merged.entry(Arc::clone(key)).or_insert_with(|| {
                let mut tally = *tally;
                tally.add_error(own_least);
                tally
            });
        }
        self.replace(merged);
    }

    /// All keys with their requests.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&str, Tally)> {
        self.paths.iter().map(|(key, tally)| (&**key, *tally))
    }

    /// A summary of at most [`MAX_ROWS`] paths, none of them twice.
    pub(super) fn of_parts(
        paths: Vec<(Arc<str>, Tally)>,
        scanners: Option<Tally>,
        uncounted: u64,
    ) -> Self {
        let mut summary = Self { scanners, uncounted, ..Self::default() };
        summary.replace(paths);
        summary
    }

    /// The requests that a path without a row may have had: none while there is room.
    fn least(&self) -> u64 {
        let counts = self.paths.values().map(|tally| tally.count);
        counts.min().filter(|_| self.len() == MAX_ROWS).unwrap_or_default()
    }

    /// Replaces all rows, by those with the most requests of these. No two have one key.
    fn replace(&mut self, rows: impl IntoIterator<Item = (Arc<str>, Tally)>) {
        let order = |(key, tally): &(Arc<str>, Tally)| Reverse((tally.order(), Arc::clone(key)));
        self.paths = rows.into_iter().sorted_by_cached_key(order).take(MAX_ROWS).collect();
        self.by_order =
            self.paths.iter().map(|(key, tally)| order(&(Arc::clone(key), *tally))).collect();
    }

    fn count(&mut self, key: &str, now: i64) {
        let mut tally = Tally::one(now);
        if let Some(known) = self.paths.get_mut(key) {
            return known.add(tally);
        }
        if self.len() == MAX_ROWS {
            tally.add_error(self.remove_least().map_or(0, |least| least.count));
        }
        let key: Arc<str> = key.into();
        self.by_order.push(Reverse((tally.order(), Arc::clone(&key))));
        self.paths.insert(key, tally);
    }

    /// Removes the path with the lowest order.
    fn remove_least(&mut self) -> Option<Tally> {
        loop {
            let mut first = self.by_order.peek_mut()?;
            let Reverse((order, key)) = &mut *first;
            let present = self.paths.get(key)?.order();
            if *order == present {
                let Reverse((_, key)) = PeekMut::pop(first);
                return self.paths.remove(&key);
            }
            *order = present;
        }
    }
}

impl<'a> MissedPath<'a> {
    fn of((key, tally): (&'a str, Tally)) -> Self {
        // A host has no slash, and a path begins with one.
        let (host, path) = key.split_at(key.find('/').unwrap_or(0));
        Self { host, path, tally }
    }
}

impl Tally {
    /// So many requests may have been for another path.
    fn add_error(&mut self, error: u64) {
        self.count = self.count.saturating_add(error);
        self.error = self.error.saturating_add(error);
    }
}

#[cfg(test)]
mod tests;
