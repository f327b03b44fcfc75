//! The log of one site: its last changes in order.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::cursor::{Cursor, Since};
use super::entry::{Change, Entry, Filter};

/// Changes that are to be appended together. If there are more than the log keeps, the first ones are
/// only counted.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// How many changes come before those that are kept.
    skipped: u64,
    kept: VecDeque<Entry>,
}

/// What identifies a log, and its last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct LogHead {
    /// Its identity.
    pub log: u64,
    /// What distinguishes the CMS of its documents from others.
    pub source: u128,
    /// The sequence number of its last change.
    pub last: u64,
}

/// What a reader gets beside the changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// The place after the last change that was read.
    pub cursor: Cursor,
    /// Whether there are more changes after it.
    pub more: bool,
    /// Whether the changes since the reader's cursor are not all known: it has to read all pages again.
    pub reset: bool,
}

#[derive(Debug)]
pub(super) struct SiteLog {
    id: u64,
    /// The log that this one continues, up to the last change that both have.
    parent: Option<Cursor>,
    /// `None`: no snapshot has been recorded yet.
    source: Option<u128>,
    /// The sequence number before the first entry.
    base: u64,
    entries: VecDeque<Entry>,
    /// Whether a file or Redis has all of it.
    is_stored: bool,
}

impl Batch {
    /// Adds a change. Of more than `keep`, the last ones are kept.
    pub fn push(&mut self, entry: Entry, keep: usize) {
        self.kept.push_back(entry);
        if self.kept.len() > keep {
            self.kept.pop_front();
            self.skipped += 1;
        }
    }

    /// Whether it has no changes.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.skipped == 0
    }

    /// The entries that are kept, each with its sequence number if the batch follows this one.
    pub fn numbered(&self, last: u64) -> impl Iterator<Item = (u64, &Entry)> {
        (last + self.skipped + 1..).zip(&self.kept)
    }

    /// How many changes it has, kept or not.
    pub fn len(&self) -> u64 {
        self.skipped + self.kept.len() as u64
    }
}

impl SiteLog {
    /// A new log without changes.
    pub(super) fn begin() -> Self {
        Self {
            id: fastrand::u64(..),
            parent: None,
            source: None,
            base: 0,
            entries: VecDeque::new(),
            is_stored: false,
        }
    }

    /// The log that a file or Redis has.
    pub(super) fn stored(head: LogHead, entries: VecDeque<Entry>) -> Self {
        Self {
            id: head.log,
            source: Some(head.source),
            base: head.last.saturating_sub(entries.len() as u64),
            entries,
            is_stored: true,
            ..Self::begin()
        }
    }

    /// The file has all of it from now on.
    pub(super) fn set_stored(&mut self) {
        self.is_stored = true;
    }

    /// Continues in memory alone, with a new identity: what follows may differ from what the file gets
    /// later.
    pub(super) fn branch(&mut self) {
        if std::mem::take(&mut self.is_stored) {
            self.parent = Some(self.cursor(self.last()));
            self.id = fastrand::u64(..);
        }
    }

    /// Branches if a file has another log or other changes.
    pub(super) fn resume(&mut self, stored: Option<&LogHead>) {
        let is_same = |head: &LogHead| head.log == self.id && head.last == self.last();
        if !stored.is_some_and(is_same) {
            self.branch();
        }
    }

    /// Whether a file or Redis has all of it.
    pub(super) fn is_stored(&self) -> bool {
        self.is_stored
    }

    /// Continues the log with this identity, from which it may have branched: the changes since are
    /// dropped. False: it is another log, or not all changes before the branch are known.
    pub(super) fn rejoin(&mut self, log: u64) -> bool {
        if self.is_stored && self.id == log {
            return true;
        }
        let Some(parent) = self.parent.filter(|parent| parent.log == log) else { return false };
        let Some(count) = parent.sequence.checked_sub(self.base) else { return false };
        self.entries.truncate(usize::try_from(count).unwrap_or(usize::MAX));
        (self.id, self.parent, self.is_stored) = (log, None, true);
        true
    }

    /// Appends changes after this sequence number. If it is not the last one, those before are no longer
    /// known.
    pub(super) fn append_after(&mut self, before: u64, entries: Vec<Entry>, keep: usize) {
        if before != self.last() {
            self.base = before;
            self.entries.clear();
        }
        self.entries.extend(entries);
        self.shrink(keep);
    }

    /// `None`: its documents are from another source.
    pub(super) fn head(&self, source: u128) -> Option<LogHead> {
        let is_own = self.source.is_none_or(|known| known == source);
        is_own.then(|| LogHead { log: self.id, source, last: self.last() })
    }

    pub(super) fn set_source(&mut self, source: u128) {
        self.source = Some(source);
    }

    pub(super) fn append(&mut self, batch: Batch, keep: usize) {
        if batch.skipped > 0 {
            self.base = self.last() + batch.skipped;
            self.entries.clear();
        }
        self.entries.extend(batch.kept);
        self.shrink(keep);
    }

    pub(super) fn shrink(&mut self, keep: usize) {
        let excess = self.entries.len().saturating_sub(keep);
        self.entries.drain(..excess);
        self.base += excess as u64;
        if self.entries.capacity() > 4 * self.entries.len().max(1_024) {
            self.entries.shrink_to_fit();
        }
    }

    pub(super) fn read(
        &self,
        since: Option<Since>,
        end: Option<u64>,
        max: usize,
        filter: Filter<'_>,
        mut take: impl FnMut(Change<'_>),
    ) -> Read {
        let place = match since {
            None => Some(self.last()),
            Some(Since::Oldest) => Some(self.base),
            Some(Since::Cursor(cursor)) => self.place_of(cursor),
        };
        let Some(mut place) = place else {
            return Read { cursor: self.cursor(self.last()), more: false, reset: true };
        };
        let start = usize::try_from(place - self.base).expect("it is among the entries");
        let (mut taken, mut more) = (0, false);
        for entry in self.entries.range(start..) {
            if end.is_some_and(|end| place >= end) {
                more = true;
                break;
            }
            if let Some(change) = filter.select(entry.change()) {
                if taken == max {
                    more = true;
                    break;
                }
                take(change);
                taken += 1;
            }
            place += 1;
        }
        Read { cursor: self.cursor(place), more, reset: false }
    }

    pub(super) fn waiting(&self, since: Cursor) -> Option<u64> {
        self.place_of(since).map(|place| self.last() - place)
    }

    pub(super) fn last(&self) -> u64 {
        self.base + self.entries.len() as u64
    }

    /// The sequence number of a cursor, if all changes after it are known.
    fn place_of(&self, cursor: Cursor) -> Option<u64> {
        let of_parent = self
            .parent
            .is_some_and(|parent| cursor.log == parent.log && cursor.sequence <= parent.sequence);
        let is_known = cursor.log == self.id || of_parent;
        (is_known && (self.base..=self.last()).contains(&cursor.sequence))
            .then_some(cursor.sequence)
    }

    pub(super) fn present(&self) -> Cursor {
        self.cursor(self.last())
    }

    fn cursor(&self, sequence: u64) -> Cursor {
        Cursor { log: self.id, sequence }
    }
}
