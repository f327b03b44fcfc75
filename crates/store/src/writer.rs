//! The thread that writes the store, and opens its file again after a failure.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::changes;
use crate::file::{FileError, RowBytes, RowKey, RowKind, StoreFile};
use crate::file_slot::FileSlot;
use crate::persisted_instant::PersistedInstant;
use crate::queue::Queue;
use crate::snapshot_key::{StoredHeader, StoredKey};
use crate::{StoredSnapshot, Urgency};
use frontend_map_catalog::changes::log::{Prepared, Recorder};
use frontend_map_catalog::moved::history::{Mirror, PathHistory};
use frontend_map_catalog::snapshot::{Snapshot, Titles};
use frontend_map_platform::metrics::StoreCounters;

/// How many rows of the path history one transaction writes.
const MAX_ROWS: usize = 10_000;
/// How long a stop waits for the last writes.
const CLOSE_TIME: Duration = Duration::from_secs(3);

/// The handle of the thread.
pub(super) struct Writer {
    pub(super) slot: Arc<FileSlot>,
    shared: Arc<Shared>,
    /// Without a value: it is closed when the thread has ended.
    ended: Mutex<mpsc::Receiver<()>>,
}

struct Shared {
    slot: Arc<FileSlot>,
    queue: Mutex<Queue>,
    /// Signals a change of the queue, or the loss of the file.
    changed: Condvar,
    history: Arc<PathHistory>,
    recorder: Arc<Recorder>,
    counters: Arc<StoreCounters>,
}

impl Writer {
    /// Tries to open the file, and starts the thread.
    pub(super) fn start(
        path: PathBuf,
        history: Arc<PathHistory>,
        recorder: Arc<Recorder>,
        counters: Arc<StoreCounters>,
    ) -> Self {
        let slot = FileSlot::new(path, Arc::clone(&history), Arc::clone(&recorder));
        slot.open();
        let slot = Arc::new(slot);
        let (queue, changed) = (Mutex::default(), Condvar::new());
        let own_slot = Arc::clone(&slot);
        let shared =
            Arc::new(Shared { slot: own_slot, queue, changed, history, recorder, counters });
        let own = Arc::clone(&shared);
        let (running, ended) = mpsc::channel();
        std::thread::spawn(move || {
            own.run();
            drop(running);
        });
        Self { slot, shared, ended: Mutex::new(ended) }
    }

    pub(super) fn save(&self, snapshot: StoredSnapshot<Arc<Snapshot>>, urgency: Urgency) {
        self.shared.queue.lock().add(snapshot, urgency);
        self.shared.changed.notify_one();
    }

    pub(super) fn remove(&self, site: &str, uid: &str) {
        self.shared.queue.lock().remove(site, uid);
        self.shared.changed.notify_one();
    }

    pub(super) fn save_row(&self, key: RowKey, bytes: RowBytes) {
        self.shared.queue.lock().add_row(key, bytes);
        self.shared.changed.notify_one();
    }

    /// What `read` finds in the file; nothing while it cannot be read.
    pub(super) fn read<T: Default>(
        &self,
        read: impl FnOnce(&StoreFile) -> Result<T, FileError>,
    ) -> T {
        let Some(file) = self.slot.readable() else { return T::default() };
        read(&file).unwrap_or_else(|error| {
            self.shared.lose(&error);
            T::default()
        })
    }

    pub(super) fn close(&self) {
        self.shared.queue.lock().is_closed = true;
        self.shared.changed.notify_one();
        // A disk that hangs must not delay the stop. What is not committed then is not written.
        let _ = self.ended.lock().recv_timeout(CLOSE_TIME);
    }
}

impl Shared {
    fn run(&self) {
        while self.wait() {
            self.work();
        }
        self.work();
        self.slot.close();
    }

    /// Writes what is due, or tries to open the file.
    fn work(&self) {
        let work = || match self.slot.file() {
            Some(file) => {
                self.write_due(&file);
                if self.slot.file().is_none() {
                    self.record_pending();
                }
            }
            None if self.queue.lock().is_closed => {}
            None => {
                self.record_pending();
                if !self.slot.is_lost() {
                    // They belong to logs that those of the file replace.
                    self.queue.lock().drop_positions();
                }
                self.slot.open();
            }
        };
        // The panic hook has logged it.
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            self.lose(&FileError::Io("writing it has failed unexpectedly".to_owned()));
        }
    }

    /// Waits until there is something to do. False: the store is being closed.
    fn wait(&self) -> bool {
        let retry = self.slot.next_attempt();
        let mut queue = self.queue.lock();
        while !queue.is_closed {
            let deadline = retry.or_else(|| queue.next_due());
            let is_lost = retry.is_none() && self.slot.file().is_none();
            if is_lost || deadline.is_some_and(|at| at <= Instant::now()) {
                return true;
            }
            match deadline {
                Some(at) => _ = self.changed.wait_until(&mut queue, at),
                None => self.changed.wait(&mut queue),
            }
        }
        false
    }

    fn write_due(&self, file: &StoreFile) {
        // First, so that no snapshot is in the file without what it has moved.
        let failed = self.write_history(file).and_then(|()| self.remove(file)).err();
        let failed = self.write_snapshots(file, failed);
        if let Some(error) = self.write_rows(file, failed) {
            self.lose(&error);
        }
    }

    /// Writes the snapshots that are due, unless something has failed. Returns what has.
    fn write_snapshots(
        &self,
        file: &StoreFile,
        mut failed: Option<FileError>,
    ) -> Option<FileError> {
        let due = self.queue.lock().take_due(Instant::now());
        for (key, snapshot) in due {
            if failed.is_some() {
                self.queue.lock().put_back(key, snapshot);
                continue;
            }
            let begun = Instant::now();
            match self.write(file, &key, &snapshot) {
                Ok(()) => {
                    self.counters.written.inc();
                    self.queue.lock().has_written(key, begun.elapsed());
                    self.slot.is_written();
                }
                Err(error) => {
                    self.counters.failed.inc();
                    self.queue.lock().put_back(key, snapshot);
                    failed = Some(error);
                }
            }
        }
        failed
    }

    /// Writes a snapshot and the changes that it makes.
    fn write(
        &self,
        file: &StoreFile,
        key: &StoredKey,
        stored: &StoredSnapshot<Arc<Snapshot>>,
    ) -> Result<(), FileError> {
        let prepared = changes::prepare(&self.recorder, file, stored)?;
        write(file, key, stored, prepared.as_ref(), self.recorder.keep())?;
        if let Some(prepared) = prepared {
            self.recorder.commit(prepared);
        }
        Ok(())
    }

    /// Writes the other rows, unless something has failed. Returns what has.
    fn write_rows(&self, file: &StoreFile, failed: Option<FileError>) -> Option<FileError> {
        if failed.is_some() {
            return failed;
        }
        let rows = self.queue.lock().take_rows();
        if rows.is_empty() {
            return None;
        }
        let runs = rows.keys().filter(|row| row.kind == RowKind::Run).count() as u64;
        let written = file.write_rows(&rows);
        if written.is_ok() {
            self.counters.written.inc_by(runs);
            self.slot.is_written();
        } else {
            self.counters.failed.inc_by(runs);
            self.queue.lock().put_rows_back(rows);
        }
        written.err()
    }

    /// Records in memory what the snapshots change that cannot be written now.
    fn record_pending(&self) {
        let pending: Vec<_> = self.queue.lock().pending().cloned().collect();
        for stored in &pending {
            changes::record(&self.recorder, stored);
        }
    }

    fn write_history(&self, file: &StoreFile) -> Result<(), FileError> {
        loop {
            let changes = self.history.take_changes(Mirror::Store, MAX_ROWS);
            if changes.is_empty() {
                return Ok(());
            }
            file.write_history(&changes)?;
        }
    }

    fn remove(&self, file: &StoreFile) -> Result<(), FileError> {
        let removals = self.queue.lock().take_removals();
        let remove = |(site, uid): &(String, String)| {
            let prepared = changes::prepare_removal(&self.recorder, file, site, uid)?;
            file.remove(site, uid, prepared.as_ref(), self.recorder.keep())?;
            if let Some(prepared) = prepared {
                self.recorder.commit(prepared);
            }
            Ok(())
        };
        let removed = removals.iter().try_for_each(remove);
        if removed.is_err() {
            self.queue.lock().put_removals_back(removals);
        }
        removed
    }

    fn lose(&self, error: &FileError) {
        if self.slot.lose(error) {
            // Between the thread's look at the file and its wait, a signal would be lost.
            let _queue = self.queue.lock();
            self.changed.notify_one();
        }
    }
}

/// Serializes and writes a snapshot.
fn write(
    file: &StoreFile,
    key: &StoredKey,
    stored: &StoredSnapshot<Arc<Snapshot>>,
    changes: Option<&Prepared>,
    keep: usize,
) -> Result<(), FileError> {
    let started = Instant::now();
    let begun = PersistedInstant::now().before(stored.begun.elapsed());
    let took_ms = u64::try_from(stored.took.as_millis()).unwrap_or(u64::MAX);
    let header = StoredHeader { key: stored.key.clone(), begun, took_ms };
    let header = serde_json::to_string(&header).expect("texts and numbers are JSON");
    // Where a redirect leads is kept in place of a title.
    let titles = if stored.snapshot.has_redirects() { Titles::Kept } else { Titles::LeftOut };
    let bytes = stored.snapshot.serialize(&header, titles);
    let (site, uid) = (&stored.key.site, &stored.key.content_type);
    file.write(site, uid, key, &bytes, changes, keep)?;
    let (bytes, milliseconds) = (bytes.len(), started.elapsed().as_millis());
    tracing::debug!(site, uid, bytes, milliseconds, "a snapshot is stored");
    Ok(())
}
