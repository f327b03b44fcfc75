//! What is to be written: for each content type of each site the last snapshot alone, so that the
//! queue is bounded by the settings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::file::{RowBytes, RowKey, RowKind};
use crate::snapshot_key::{StoredKey, prefix};
use crate::{StoredSnapshot, Urgency};
use frontend_map_catalog::snapshot::Snapshot;

/// How long the write after an incremental update waits for more updates.
const DEBOUNCE: Duration = Duration::from_secs(1);
/// Writes after incremental updates take at most one part in so many of the time: the write of a
/// large snapshot takes seconds.
const SHARE: u32 = 10;

/// What is to be written: snapshots by site, content type and fingerprint, and other rows.
#[derive(Default)]
pub(super) struct Queue {
    pending: BTreeMap<StoredKey, Pending>,
    rows: BTreeMap<RowKey, RowBytes>,
    /// The sites and content types whose snapshots and runs are to be dropped.
    removals: BTreeSet<(String, String)>,
    /// Before this time updates of a snapshot are not written again.
    next_writes: BTreeMap<StoredKey, Instant>,
    pub(super) is_closed: bool,
}

pub(super) struct Pending {
    pub(super) snapshot: StoredSnapshot<Arc<Snapshot>>,
    due: Instant,
}

impl Queue {
    pub(super) fn add(&mut self, snapshot: StoredSnapshot<Arc<Snapshot>>, urgency: Urgency) {
        let (key, now) = (StoredKey::of(&snapshot.key), Instant::now());
        let due = match urgency {
            Urgency::Now => now,
            Urgency::Debounced => {
                let next = self.next_writes.get(&key).copied().unwrap_or(now);
                next.max(now + DEBOUNCE)
            }
        };
        // Of snapshots by several settings, the last one counts.
        let same_type = prefix(&snapshot.key.site, &snapshot.key.content_type);
        self.pending.retain(|other, _| *other == key || !other.0.starts_with(&same_type));
        // Continuous updates must not delay the writing for ever.
        let due = self.pending.get(&key).map_or(due, |before| before.due.min(due));
        self.pending.insert(key, Pending { snapshot, due });
    }

    pub(super) fn remove(&mut self, site: &str, uid: &str) {
        let same_type = prefix(site, uid);
        self.pending.retain(|key, _| !key.0.starts_with(&same_type));
        self.removals.insert((site.to_owned(), uid.to_owned()));
    }

    pub(super) fn add_row(&mut self, key: RowKey, bytes: RowBytes) {
        self.rows.insert(key, bytes);
    }

    /// When something is to be written next.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let is_now = !(self.removals.is_empty() && self.rows.is_empty());
        let now = is_now.then(Instant::now);
        self.pending.values().map(|pending| pending.due).chain(now).min()
    }

    pub(super) fn take_rows(&mut self) -> BTreeMap<RowKey, RowBytes> {
        std::mem::take(&mut self.rows)
    }

    /// Puts back rows that could not be written, unless there are newer ones.
    pub(super) fn put_rows_back(&mut self, rows: BTreeMap<RowKey, RowBytes>) {
        for (key, bytes) in rows {
            self.rows.entry(key).or_insert(bytes);
        }
    }

    pub(super) fn drop_positions(&mut self) {
        self.rows.retain(|row, _| row.kind != RowKind::Position);
    }

    /// The sites and content types whose snapshots are to be dropped now.
    pub(super) fn take_removals(&mut self) -> BTreeSet<(String, String)> {
        std::mem::take(&mut self.removals)
    }

    /// Puts removals back that could not be written.
    pub(super) fn put_removals_back(&mut self, removals: BTreeSet<(String, String)>) {
        self.removals.extend(removals);
    }

    /// What is due then; all of it if the queue is closed.
    pub(super) fn take_due(
        &mut self,
        now: Instant,
    ) -> Vec<(StoredKey, StoredSnapshot<Arc<Snapshot>>)> {
        let is_due = |pending: &Pending| self.is_closed || pending.due <= now;
        let (due, later) =
            std::mem::take(&mut self.pending).into_iter().partition(|(_, one)| is_due(one));
        self.pending = later;
        let due: BTreeMap<StoredKey, Pending> = due;
        due.into_iter().map(|(key, pending)| (key, pending.snapshot)).collect()
    }

    /// All snapshots that are to be written.
    pub(super) fn pending(&self) -> impl Iterator<Item = &StoredSnapshot<Arc<Snapshot>>> {
        self.pending.values().map(|pending| &pending.snapshot)
    }

    /// Records that a snapshot has taken so long to write.
    pub(super) fn has_written(&mut self, key: StoredKey, took: Duration) {
        let now = Instant::now();
        self.next_writes.retain(|_, until| *until > now);
        self.next_writes.insert(key, now + took * SHARE);
    }

    /// Puts a snapshot back that could not be written, unless there is a newer one.
    pub(super) fn put_back(&mut self, key: StoredKey, snapshot: StoredSnapshot<Arc<Snapshot>>) {
        let due = Instant::now();
        let same_type = prefix(&snapshot.key.site, &snapshot.key.content_type);
        if self.pending.keys().any(|other| other.0.starts_with(&same_type)) {
            return;
        }
        self.pending.entry(key).or_insert(Pending { snapshot, due });
    }
}
