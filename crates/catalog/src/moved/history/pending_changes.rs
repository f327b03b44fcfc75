//! The changes of the history that are pending: a mirror has not taken them yet.

use super::names::SiteId;

/// Without Redis, changes wait for its return: there are at most so many, in 4 MB and the paths of
/// dropped rows. Beyond them, each row counts as changed instead.
pub(super) const MAX_PENDING: usize = 100_000;

/// The pending changes of one mirror in order; those of rows that are not taken yet come first.
#[derive(Debug, Default)]
pub(super) struct PendingChanges {
    /// Each row from this place on counts as changed.
    pub(super) next_place: Option<usize>,
    pub(super) changes: Vec<PendingChange>,
    /// The most changes, if they are bounded.
    pub(super) max: Option<usize>,
}

/// A change that has not been taken yet.
#[derive(Clone, Debug)]
pub(super) enum PendingChange {
    /// Of the row in this place.
    Put(u32),
    /// Of the row with this site, host and path, which was last seen then.
    Removed(SiteId, u16, Box<str>, i64),
}

impl PendingChanges {
    /// Each row counts as changed.
    pub(super) fn add_all(&mut self) {
        self.next_place = Some(0);
    }

    /// Adds a change. If there are too many, they are forgotten, and each row counts as changed.
    pub(super) fn add(&mut self, change: PendingChange) {
        if self.max.is_some_and(|max| self.changes.len() >= max) {
            self.changes = Vec::new();
            self.add_all();
        }
        self.changes.push(change);
    }

    /// Takes the oldest changes, at most so many. `end` is the end of all places, and `is_row` whether
    /// there is a row in a place.
    pub(super) fn take(
        &mut self,
        max: usize,
        end: usize,
        is_row: impl Fn(u32) -> bool,
    ) -> Vec<PendingChange> {
        let mut taken = Vec::new();
        while let Some(place) = self.next_place.filter(|_| taken.len() < max) {
            self.next_place = (place + 1 < end).then_some(place + 1);
            taken
                .extend(u32::try_from(place).ok().filter(|at| is_row(*at)).map(PendingChange::Put));
        }
        let rest = (max - taken.len()).min(self.changes.len());
        taken.extend(self.changes.drain(..rest));
        taken
    }
}
