//! The change log of a site: which pages have been added, have moved, are gone or have been updated,
//! in the order in which the service noticed them.
//!
//! Each change has a sequence number. A cursor is a sequence number with the identity of the log: a
//! cursor of another log, or of a part that is no longer kept, is recognized (D44).
//!
//! `Recorder` compares each snapshot that is stored with the one that was stored before it, in the thread
//! that writes the store; without a store, at the refresh or update itself. The file gets the changes in
//! the transaction of the snapshot, and readers get them after it. So the log and the stored snapshots
//! never disagree, and a process that starts finds missing changes by comparing. Most changes take less
//! than 200 bytes in memory. Webhooks read the log like any other client, by a cursor for each target.

mod baseline;
mod cursor;
mod entry;
#[cfg(test)]
pub(crate) mod fixture;
mod parts;
mod recorder;
mod replica;
mod row;
mod site_log;

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;
use tokio::sync::watch;

pub use baseline::Baseline;
pub use cursor::{Cursor, Since};
pub use entry::{Change, Entry, Filter, Kind};
pub use parts::{EncodedPart, Origin, Part, encode};
pub use recorder::{Loaded, Prepared, Recorder};
pub use replica::Applied;
pub use row::ChangeRow;
pub use site_log::{Batch, LogHead, Read};

use site_log::SiteLog;

/// How many changes of a site are kept unless the settings say otherwise.
pub const DEFAULT_KEEP: usize = 100_000;

/// The change logs of all sites. They survive a reload of the settings.
#[derive(Debug)]
pub struct ChangeLog {
    state: Mutex<State>,
    /// A counter that grows with each batch of changes.
    changed: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    sites: HashMap<String, SiteLog>,
    keep: usize,
    /// How often all logs have been replaced.
    generation: u64,
}

impl Default for ChangeLog {
    fn default() -> Self {
        let state = State { sites: HashMap::new(), keep: DEFAULT_KEEP, generation: 0 };
        Self { state: Mutex::new(state), changed: watch::Sender::new(0) }
    }
}

impl ChangeLog {
    /// Sets how many changes of each site are kept.
    pub fn set_keep(&self, keep: usize) {
        let state = &mut *self.state.lock();
        state.keep = keep;
        state.sites.values_mut().for_each(|log| log.shrink(keep));
    }

    /// How many changes of each site are kept.
    pub fn keep(&self) -> usize {
        self.state.lock().keep
    }

    /// A value that changes whenever changes are added.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Changes when all logs have been replaced by those of a file.
    pub fn generation(&self) -> u64 {
        self.state.lock().generation
    }

    /// Reads at most `max` changes of a site since a cursor, and passes each to `take`. Without a cursor
    /// none are read.
    pub fn read(
        &self,
        site: &str,
        since: Option<Since>,
        max: usize,
        filter: Filter<'_>,
        take: impl FnMut(Change<'_>),
    ) -> Read {
        self.read_until(site, since, None, max, filter, take)
    }

    /// Reads as [`Self::read`] does, up to the sequence number `end` (inclusive).
    pub fn read_until(
        &self,
        site: &str,
        since: Option<Since>,
        end: Option<u64>,
        max: usize,
        filter: Filter<'_>,
        take: impl FnMut(Change<'_>),
    ) -> Read {
        let mut state = self.state.lock();
        state.site(site).read(since, end, max, filter, take)
    }

    /// The place after the last change of a site.
    pub fn present(&self, site: &str) -> Cursor {
        self.state.lock().site(site).present()
    }

    /// How many changes of a site come after a cursor; `None`: the log no longer has all of them.
    pub fn waiting(&self, site: &str, since: Cursor) -> Option<u64> {
        self.state.lock().site(site).waiting(since)
    }

    /// Whether the log of a site has begun.
    fn has(&self, site: &str) -> bool {
        self.state.lock().sites.contains_key(site)
    }

    /// Appends changes of pages whose documents are from this source. `is_stored`: the file has them too;
    /// otherwise they are in memory alone.
    fn append(&self, site: &str, source: u128, batch: Batch, is_stored: bool) {
        let state = &mut *self.state.lock();
        let (keep, is_empty) = (state.keep, batch.is_empty());
        let log = state.site(site);
        log.set_source(source);
        if is_stored {
            log.set_stored();
        } else if !is_empty {
            log.branch();
        }
        log.append(batch, keep);
        if !is_empty {
            self.changed.send_modify(|version| *version += 1);
        }
    }

    /// The head of a site's log; `None`: its documents are from another source.
    fn head(&self, site: &str, source: u128) -> Option<LogHead> {
        self.state.lock().site(site).head(source)
    }

    /// Begins a new log for a site, because changes are missing in the one that it has.
    fn restart(&self, site: &str) {
        self.state.lock().sites.remove(site);
    }

    /// Goes on with the logs in memory. Those that a file, whose heads these are, was to have and has not,
    /// get new identities.
    fn resume(&self, heads: &HashMap<String, LogHead>) {
        for (site, log) in &mut self.state.lock().sites {
            log.resume(heads.get(site));
        }
    }

    /// Replaces all logs by those that a file has.
    fn replace_all(&self, logs: impl IntoIterator<Item = (String, LogHead, VecDeque<Entry>)>) {
        let state = &mut *self.state.lock();
        let log = |(site, head, entries)| {
            let mut log = SiteLog::stored(head, entries);
            log.shrink(state.keep);
            (site, log)
        };
        state.sites = logs.into_iter().map(log).collect();
        state.generation += 1;
        self.changed.send_modify(|version| *version += 1);
    }
}

impl State {
    fn site(&mut self, site: &str) -> &mut SiteLog {
        if !self.sites.contains_key(site) {
            self.sites.insert(site.to_owned(), SiteLog::begin());
        }
        self.sites.get_mut(site).expect("it was inserted if it was missing")
    }
}

#[cfg(test)]
mod tests;
