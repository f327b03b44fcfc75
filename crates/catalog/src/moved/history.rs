//! The path history: which document had a path before, so that the path can be redirected to where the
//! document is now.
//!
//! It keeps path → document, never path → path. The target is computed when a path is requested, so
//! that there are no chains and no loops, and a document that is renamed back needs no correction.
//!
//! - **The path history.** `HistoryWriter` (in `site_cache`) enters what a refresh or an update
//!   takes from documents, before the path index is replaced: so no request finds a path in
//!   neither. After a reload the last snapshot by the old settings is kept until the first
//!   complete one by the new settings, and compared with it; until then, `/api/resolve` is a 503
//!   for the paths in it that no document has now. A row has 48 bytes and its texts; tables of
//!   places in 256 parts find it by path and by document, so that growing never blocks a reader
//!   for long. Rows are written 64 at a time under the lock. `redirects` computes a target from
//!   the row and the path index of the same request; the table of `/api/redirects` is read while
//!   it is sent, 256 places for rows under one lock.

mod names;
mod pending_changes;
mod rows;
mod storing;

use parking_lot::RwLock;
use serde::{Deserialize, Serialize};

use crate::changes::difference::{Change, Difference};
use crate::hex;
use names::Names;
use pending_changes::{PendingChange, PendingChanges};
use rows::{LostPath, Rows};
use storing::RowClock;

pub use names::SiteId;

/// How many rows are written under one lock: a request that reads meanwhile waits some microseconds.
const BATCH: usize = 64;

/// How many places for rows are looked at under one lock.
const MAX_PLACES: usize = 256;

/// The most former paths of a document that are looked at.
const MAX_OF_DOCUMENT: usize = 200;

/// The bounds of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most paths; those that were seen longest ago are dropped first.
    pub max_paths: usize,
    /// How long a path is kept after it was last seen, in milliseconds.
    pub keep: i64,
}

/// The history of a process. It survives a reload of the settings.
#[derive(Debug)]
pub struct PathHistory {
    state: RwLock<State>,
    clock: RowClock,
}

#[derive(Debug)]
struct State {
    names: Names,
    rows: Rows,
    limits: Limits,
    /// The changes that are pending for each mirror; `None`: it takes none.
    pending: [Option<PendingChanges>; 2],
}

/// A mirror of the history, which takes its changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mirror {
    /// The store of this process.
    Store,
    /// Redis, which several instances share.
    Fleet,
}

/// A path with the document that had it last. Instances send rows to each other as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// What distinguishes the CMS of the document from others.
    #[serde(with = "hex")]
    pub source: u128,
    /// The key of the site.
    pub site: String,
    /// `host[:port]`; empty where the site had one host.
    pub host: String,
    /// The normalized path (D7).
    pub path: String,
    /// The content type of the document.
    pub uid: String,
    /// Its `documentId`.
    pub document_id: String,
    /// The code of its locale; the site's first one if it was not localized.
    pub locale: String,
    /// When a served snapshot had the path last, in milliseconds since 1970.
    pub last_seen: i64,
    /// Whether it is from a list of redirects, and no snapshot has had the path.
    pub is_imported: bool,
}

/// A change of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowChange {
    /// The row is new, or replaces the one with the same source, site, host and path.
    Put(Row),
    /// The row with the same source, site, host and path is dropped.
    Removed {
        /// As in [`Row::source`].
        source: u128,
        /// As in [`Row::site`].
        site: String,
        /// As in [`Row::host`].
        host: String,
        /// As in [`Row::path`].
        path: String,
        /// As in [`Row::last_seen`].
        last_seen: i64,
    },
}

impl Limits {
    /// Whether a path that was last seen then is too old.
    fn exclude(self, last_seen: i64, now: i64) -> bool {
        last_seen.saturating_add(self.keep) < now
    }
}

impl Default for PathHistory {
    /// An empty history without bounds, until they are set.
    fn default() -> Self {
        Self::new(Limits { max_paths: usize::MAX, keep: i64::MAX })
    }
}

impl PathHistory {
    /// An empty history.
    pub fn new(limits: Limits) -> Self {
        let (names, rows) = (Names::default(), Rows::default());
        let state = RwLock::new(State { names, rows, limits, pending: [None, None] });
        Self { state, clock: RowClock::default() }
    }

    /// Changes the limits. Paths beyond their number are dropped.
    pub fn set_limits(&self, limits: Limits) {
        self.state.write().limits = limits;
        // None is too old at the beginning of time: old ones are dropped with the next one that enters.
        while self.state.write().shrink(i64::MIN, BATCH) {}
    }

    /// Whether paths enter at all: the settings may allow none.
    pub fn takes_paths(&self) -> bool {
        self.state.read().limits.max_paths > 0
    }

    /// How many paths it has.
    pub fn len(&self) -> usize {
        self.state.read().rows.len()
    }

    /// Whether it has no paths.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id of a site whose documents come from this source. `None`: there are more than 65,536
    /// sites, and this one gets no history.
    pub fn site(&self, source: u128, key: &str) -> Option<SiteId> {
        self.state.write().names.site(source, key)
    }

    /// Enters the paths that documents of a type have lost by these changes. `now` is in milliseconds
    /// since 1970.
    pub fn enter<'s>(
        &self,
        site: SiteId,
        uid: &str,
        difference: &Difference<'s>,
        changes: impl IntoIterator<Item = Change<'s>>,
        now: i64,
    ) {
        let mut batch = Vec::with_capacity(BATCH);
        for change in changes {
            let Some(lost) = LostPath::of(change, difference) else { continue };
            batch.push(lost);
            if batch.len() == BATCH {
                self.write(site, uid, &batch, now);
                batch.clear();
            }
        }
        self.write(site, uid, &batch, now);
    }

    fn write(&self, site: SiteId, uid: &str, batch: &[LostPath<'_>], now: i64) {
        if batch.is_empty() {
            return;
        }
        let state = &mut *self.state.write();
        for lost in batch {
            let Some(names) = state.names.of_row(site, lost.host, uid, lost.locale) else {
                continue;
            };
            let at = state.rows.put(names, lost.path, lost.document_id, now, false);
            state.has_changed(&PendingChange::Put(at));
        }
        state.shrink(now, BATCH * 2);
    }

    /// The document that had a path last, on the first of these hosts that has a row.
    pub fn find<'h>(
        &self,
        site: SiteId,
        hosts: impl IntoIterator<Item = &'h str>,
        path: &str,
        now: i64,
    ) -> Option<Row> {
        let state = self.state.read();
        if state.rows.len() == 0 {
            return None;
        }
        let of_host = |host| {
            let row = state.rows.find(site, state.names.get(host)?, path)?;
            (!state.limits.exclude(row.last_seen, now)).then(|| state.row(row))
        };
        hosts.into_iter().find_map(of_host)
    }

    /// Some rows of a site, of the places from this one on, and the next place; `None`: there are no
    /// more places. Between two calls rows may enter and be dropped, but none moves.
    pub fn rows_from(&self, site: SiteId, place: usize, now: i64) -> Option<(Vec<Row>, usize)> {
        self.kept_rows_from(place, now, |row| row.names.site == site)
    }

    /// Some rows of all sites, as [`Self::rows_from`]; also of sites that the settings do not have.
    pub fn all_rows_from(&self, place: usize, now: i64) -> Option<(Vec<Row>, usize)> {
        self.kept_rows_from(place, now, |_| true)
    }

    fn kept_rows_from(
        &self,
        place: usize,
        now: i64,
        is_wanted: impl Fn(&rows::Row) -> bool,
    ) -> Option<(Vec<Row>, usize)> {
        let state = self.state.read();
        let next = state.rows.places_end().min(place.saturating_add(MAX_PLACES));
        if place >= next {
            return None;
        }
        let rows = (place..next).filter_map(|at| state.rows.get(u32::try_from(at).ok()?));
        let kept = rows.filter(|row| is_wanted(row) && !state.limits.exclude(row.last_seen, now));
        Some((kept.map(|row| state.row(row)).collect(), next))
    }

    /// The paths that a document had, those that have entered last first; at most 200.
    pub fn of_document(&self, site: SiteId, uid: &str, id: &str, now: i64) -> Vec<Row> {
        let state = self.state.read();
        let Some(uid) = state.names.get(uid) else { return Vec::new() };
        let rows = state.rows.of_document(site, uid, id);
        let kept = rows.filter(|row| !state.limits.exclude(row.last_seen, now));
        kept.take(MAX_OF_DOCUMENT).map(|row| state.row(row)).collect()
    }
}

impl State {
    /// Drops rows that are too many or too old, at most so many. Returns whether there may be more.
    fn shrink(&mut self, now: i64, most: usize) -> bool {
        for _ in 0..most {
            let Some((last_seen, at)) = self.rows.oldest() else { return false };
            let is_kept = self.rows.len() <= self.limits.max_paths;
            if is_kept && !self.limits.exclude(last_seen, now) {
                return false;
            }
            let removed = self.rows.remove(at);
            let (names, path) = (removed.names, removed.path().into());
            let last_seen = removed.last_seen;
            self.has_changed(&PendingChange::Removed(names.site, names.host, path, last_seen));
        }
        true
    }

    /// All mirrors get this change.
    fn has_changed(&mut self, change: &PendingChange) {
        for pending in self.pending.iter_mut().flatten() {
            pending.add(change.clone());
        }
    }

    fn row(&self, row: &rows::Row) -> Row {
        let (source, site) = self.names.source_and_key(row.names.site);
        let text = |name| self.names.text(name).to_owned();
        Row {
            source,
            site: site.to_owned(),
            host: text(row.names.host),
            path: row.path().to_owned(),
            uid: text(row.names.uid),
            document_id: row.document_id().to_owned(),
            locale: text(row.names.locale),
            last_seen: row.last_seen,
            is_imported: row.is_imported,
        }
    }
}

#[cfg(test)]
mod tests;
