//! What a store of the history needs: rows of another process, and the changes since.

use super::{BATCH, PathHistory, Row, RowChange, State, Taker, Untaken};

impl PathHistory {
    /// Puts rows into the history that another process has kept. Of two rows with one path, the one that
    /// was last seen later stays.
    pub fn load(&self, rows: impl IntoIterator<Item = Row>, now: i64) {
        for row in rows {
            let state = &mut *self.0.write();
            let Some(site) = state.names.site(row.source, &row.site) else { continue };
            let Some(names) = state.names.of_row(site, &row.host, &row.uid, &row.locale) else {
                continue;
            };
            let known = state.rows.find(site, names.host, &row.path);
            if known.is_none_or(|known| known.last_seen < row.last_seen) {
                let seen = (row.last_seen, row.is_imported);
                state.rows.put(names, &row.path, &row.document_id, seen);
                state.shrink(now, BATCH);
            }
        }
    }

    /// Puts a row into the history that another instance has shared. A row that was seen stays in place of
    /// an imported one; otherwise that which was last seen later does. The store gets it, too.
    pub fn merge(&self, row: &Row, now: i64) {
        let state = &mut *self.0.write();
        let Some(site) = state.names.site(row.source, &row.site) else { return };
        let names = state.names.of_row(site, &row.host, &row.uid, &row.locale);
        let Some(names) = names else { return };
        let rank = |is_imported: bool, last_seen: i64| (!is_imported, last_seen);
        let known = state.rows.find(site, names.host, &row.path);
        let known = known.filter(|known| !state.limits.exclude(known.last_seen, now));
        let is_known = known.is_some_and(|known| {
            rank(known.is_imported, known.last_seen) >= rank(row.is_imported, row.last_seen)
        });
        if is_known || state.limits.exclude(row.last_seen, now) {
            return;
        }
        let seen = (row.last_seen, row.is_imported);
        let at = state.rows.put(names, &row.path, &row.document_id, seen);
        if let Some(untaken) = &mut state.untaken[Taker::Store as usize] {
            untaken.push(Untaken::Put(at));
        }
        state.shrink(now, BATCH);
    }

    /// Enters a row of a list of redirects, unless a snapshot has had its path: what the service has seen
    /// itself wins. Returns whether the history has changed.
    pub fn import(&self, row: &Row, now: i64) -> bool {
        let state = &mut *self.0.write();
        let Some(site) = state.names.site(row.source, &row.site) else { return false };
        let names = state.names.of_row(site, &row.host, &row.uid, &row.locale);
        let Some(names) = names else { return false };
        let known = state.rows.find(site, names.host, &row.path);
        let known = known.filter(|known| !state.limits.exclude(known.last_seen, now));
        let is_new = known.is_none_or(|known| {
            known.is_imported && (known.names != names || known.document_id() != row.document_id)
        });
        if is_new {
            let at = state.rows.put(names, &row.path, &row.document_id, (now, true));
            state.has_changed(&Untaken::Put(at));
            state.shrink(now, BATCH);
        }
        is_new
    }

    /// From now on changes are kept until they are taken.
    pub fn keep_changes(&self, taker: Taker) {
        self.0.write().untaken[taker as usize].get_or_insert_default();
    }

    /// The same, and each row counts as changed.
    pub fn keep_all(&self, taker: Taker) {
        let state = &mut *self.0.write();
        let untaken = state.untaken[taker as usize].get_or_insert_default();
        untaken.extend(state.rows.places().map(Untaken::Put));
    }

    /// Forgets the changes that have not been taken, and keeps no more.
    pub fn forget_changes(&self, taker: Taker) {
        self.0.write().untaken[taker as usize] = None;
    }

    /// Takes the oldest changes, at most so many, in order. Empty unless they are kept.
    #[must_use]
    pub fn take_changes(&self, taker: Taker, max: usize) -> Vec<RowChange> {
        let state = &mut *self.0.write();
        let untaken = state.untaken[taker as usize].as_mut();
        let oldest: Vec<Untaken> = untaken
            .map(|untaken| untaken.drain(..max.min(untaken.len())).collect())
            .unwrap_or_default();
        oldest.into_iter().filter_map(|change| state.change(change)).collect()
    }
}

impl State {
    /// A change with its texts. `None`: the row has been dropped since, which another change says.
    fn change(&self, change: Untaken) -> Option<RowChange> {
        Some(match change {
            Untaken::Put(at) => RowChange::Put(self.row(self.rows.get(at)?)),
            Untaken::Removed(site, host, path, last_seen) => {
                let (source, site) = self.names.source_and_key(site);
                let (site, host) = (site.to_owned(), self.names.text(host).to_owned());
                RowChange::Removed { source, site, host, path: path.into(), last_seen }
            }
        })
    }
}
