//! What a store of the history needs: rows of another process, and the changes since.

use std::fmt::{self, Debug, Formatter};
use std::sync::OnceLock;

use super::names::RowNames;
use super::pending_changes::{MAX_PENDING, PendingChange, PendingChanges};
use super::{BATCH, Mirror, PathHistory, Row, RowChange, State};

/// The present time of the rows in milliseconds since 1970; that of the system unless it is set.
/// Instances that share rows need one clock: else the one whose clock is ahead had each path last.
#[derive(Default)]
pub(super) struct RowClock(OnceLock<Box<dyn Fn() -> i64 + Send + Sync>>);

impl Debug for RowClock {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("RowClock").field(&self.0.get().is_some()).finish()
    }
}

impl RowClock {
    /// Sets the clock, unless one is set.
    pub(super) fn set(&self, clock: impl Fn() -> i64 + Send + Sync + 'static) {
        // The rows would not fit another one.
        let _ = self.0.set(Box::new(clock));
    }

    pub(super) fn now(&self, system: impl FnOnce() -> i64) -> i64 {
        self.0.get().map_or_else(system, |clock| clock())
    }
}

impl PathHistory {
    /// Sets the clock of the rows to one that returns milliseconds since 1970. The first one stays.
    pub fn set_clock(&self, clock: impl Fn() -> i64 + Send + Sync + 'static) {
        self.clock.set(clock);
    }

    /// The present time for the rows, in milliseconds since 1970: `system` is the time of this system,
    /// which counts unless another clock is set.
    pub fn now(&self, system: impl FnOnce() -> i64) -> i64 {
        self.clock.now(system)
    }

    /// Puts rows into the history that another process has kept. Of two rows with one path, the one that
    /// was last seen later stays.
    pub fn load(&self, rows: impl IntoIterator<Item = Row>, now: i64) {
        for row in rows {
            let state = &mut *self.state.write();
            let Some(names) = state.names_of(&row) else { continue };
            let known = state.rows.find(names.site, names.host, &row.path);
            if known.is_none_or(|known| known.last_seen < row.last_seen) {
                state.rows.put(names, &row.path, &row.document_id, row.last_seen, row.is_imported);
                state.shrink(now, BATCH);
            }
        }
    }

    /// Puts a row into the history that another instance has shared. A row that was seen stays in
    /// place of an imported one; otherwise that which was last seen later does. The store gets it,
    /// too. A row that is too old is dropped where it is from.
    pub fn merge(&self, row: &Row, now: i64) {
        let state = &mut *self.state.write();
        let Some(names) = state.names_of(row) else { return };
        let rank = |is_imported: bool, last_seen: i64| (!is_imported, last_seen);
        let known = state.rows.find(names.site, names.host, &row.path);
        let known = known.filter(|known| !state.limits.exclude(known.last_seen, now));
        let is_known = known.is_some_and(|known| {
            rank(known.is_imported, known.last_seen) >= rank(row.is_imported, row.last_seen)
        });
        if state.limits.exclude(row.last_seen, now) {
            if let Some(pending) = &mut state.pending[Mirror::Fleet as usize] {
                let path = row.path.as_str().into();
                pending.add(PendingChange::Removed(names.site, names.host, path, row.last_seen));
            }
            return;
        }
        if is_known {
            return;
        }
        let at = state.rows.put(names, &row.path, &row.document_id, row.last_seen, row.is_imported);
        if let Some(pending) = &mut state.pending[Mirror::Store as usize] {
            pending.add(PendingChange::Put(at));
        }
        state.shrink(now, BATCH);
    }

    /// Enters a row of a list of redirects, unless a snapshot has had its path: what the service has seen
    /// itself wins. Returns whether the history has changed.
    pub fn import(&self, row: &Row, now: i64) -> bool {
        let state = &mut *self.state.write();
        let Some(names) = state.names_of(row) else { return false };
        let known = state.rows.find(names.site, names.host, &row.path);
        let known = known.filter(|known| !state.limits.exclude(known.last_seen, now));
        let is_new = known.is_none_or(|known| {
            known.is_imported && (known.names != names || known.document_id() != row.document_id)
        });
        if is_new {
            let at = state.rows.put(names, &row.path, &row.document_id, now, true);
            state.has_changed(&PendingChange::Put(at));
            state.shrink(now, BATCH);
        }
        is_new
    }

    /// From now on changes are kept until they are taken.
    pub fn keep_changes(&self, mirror: Mirror) {
        self.state.write().pending_of(mirror);
    }

    /// Keeps changes for the mirror from now on, and counts each row as changed.
    pub fn keep_all(&self, mirror: Mirror) {
        self.state.write().pending_of(mirror).add_all();
    }

    /// Forgets the changes that have not been taken, and keeps no more.
    pub fn forget_changes(&self, mirror: Mirror) {
        self.state.write().pending[mirror as usize] = None;
    }

    /// Takes the oldest changes, at most so many, in order. Empty unless they are kept.
    pub fn take_changes(&self, mirror: Mirror, max: usize) -> Vec<RowChange> {
        let state = &mut *self.state.write();
        let Some(pending) = &mut state.pending[mirror as usize] else { return Vec::new() };
        let rows = &state.rows;
        let oldest = pending.take(max, rows.places_end(), |at| rows.get(at).is_some());
        oldest.into_iter().filter_map(|change| state.change(change)).collect()
    }
}

impl State {
    fn names_of(&mut self, row: &Row) -> Option<RowNames> {
        let site = self.names.site(row.source, &row.site)?;
        self.names.of_row(site, &row.host, &row.uid, &row.locale)
    }

    fn pending_of(&mut self, mirror: Mirror) -> &mut PendingChanges {
        // The store is written all the time, and drops rows by their changes alone.
        let max = (mirror == Mirror::Fleet).then_some(MAX_PENDING);
        self.pending[mirror as usize]
            .get_or_insert_with(|| PendingChanges { max, ..PendingChanges::default() })
    }

    /// A change with its texts. `None`: the row has been dropped since, which another change says.
    fn change(&self, change: PendingChange) -> Option<RowChange> {
        Some(match change {
            PendingChange::Put(at) => RowChange::Put(self.row(self.rows.get(at)?)),
            PendingChange::Removed(site, host, path, last_seen) => {
                let (source, site) = self.names.source_and_key(site);
                let (site, host) = (site.to_owned(), self.names.text(host).to_owned());
                RowChange::Removed { source, site, host, path: path.into(), last_seen }
            }
        })
    }
}
