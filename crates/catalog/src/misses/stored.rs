//! A summary as bytes, for the store and for other instances.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::summary::{MAX_KEY_BYTES, MAX_ROWS, Summary, Tally};

/// The format.
const VERSION: u32 = 1;
/// The most bytes of a summary: each byte of a key may be escaped as two, and a row has four numbers.
const MAX_BYTES: usize = MAX_ROWS * (2 * MAX_KEY_BYTES + 128) + 1_024;

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    uncounted: u64,
    scanners: Option<Numbers>,
    /// The key of each path, and its requests.
    paths: Vec<(String, Numbers)>,
}

/// Count, error, first and last.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Numbers(u64, u64, i64, i64);

impl Summary {
    /// The most bytes that [`Summary::to_bytes`] returns.
    pub const MAX_BYTES: usize = MAX_BYTES;

    /// For [`Summary::from_bytes`].
    ///
    /// # Panics
    /// Never: texts and numbers are JSON.
    pub fn to_bytes(&self) -> Vec<u8> {
        let path = |(key, tally): (&str, Tally)| (key.to_owned(), Numbers::of(tally));
        let stored = Stored {
            version: VERSION,
            uncounted: self.uncounted(),
            scanners: self.scanners().map(Numbers::of),
            paths: self.keys().map(path).collect(),
        };
        serde_json::to_vec(&stored).expect("texts and numbers are JSON")
    }

    /// The summary of these bytes. A time after `now` counts as `now`, because the clock was set back.
    /// `None`: no version of the service that this one knows has written them.
    pub fn from_bytes(bytes: &[u8], now: i64) -> Option<Self> {
        if bytes.len() > MAX_BYTES {
            return None;
        }
        let stored: Stored = serde_json::from_slice(bytes).ok()?;
        let keys: HashSet<&str> = stored.paths.iter().map(|(key, _)| &**key).collect();
        let is_valid = stored.version == VERSION
            && stored.paths.len() <= MAX_ROWS
            && keys.len() == stored.paths.len()
            && keys.iter().all(|key| is_key(key));
        if !is_valid {
            return None;
        }
        let scanners = stored.scanners.map(|numbers| numbers.tally(now).ok_or(())).transpose();
        let path = |(key, numbers): (String, Numbers)| Some((key.into(), numbers.tally(now)?));
        let paths: Option<Vec<_>> = stored.paths.into_iter().map(path).collect();
        Some(Self::of_parts(paths?, scanners.ok()?, stored.uncounted))
    }
}

impl Numbers {
    fn of(Tally { count, error, first, last }: Tally) -> Self {
        Self(count, error, first, last)
    }

    fn tally(self, now: i64) -> Option<Tally> {
        let Self(count, error, first, last) = self;
        let tally = Tally { count, error, first: first.min(now), last: last.min(now) };
        (error < count && first <= last).then_some(tally)
    }
}

fn is_key(key: &str) -> bool {
    key.len() <= MAX_KEY_BYTES && key.contains('/') && !key.contains(char::is_control)
}
