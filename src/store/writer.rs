//! The thread that writes the store, and opens its file again after a failure.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tokio::sync::watch;

use super::clock::Moment;
use super::file::{FileError, Found, StoreFile, move_aside};
use super::head::{Times, Written};
use super::queue::{Key, Queue};
use super::state::StoreState;
use super::{StoredSnapshot, Urgency};
use crate::metrics::StoreCounters;
use crate::snapshot::Snapshot;

/// The time between two attempts to open a file that another process has open.
const IN_USE_PERIOD: Duration = Duration::from_millis(250);
/// How long a stop waits for the last writes.
const CLOSE_TIME: Duration = Duration::from_secs(3);
/// The time between two attempts to open a file that cannot be opened or written.
const FAILING_PERIOD: Duration = Duration::from_secs(5);

/// The handle of the thread.
pub(super) struct Writer {
    shared: Arc<Shared>,
    /// Without a value: it is closed when the thread has ended.
    ended: Mutex<mpsc::Receiver<()>>,
}

struct Shared {
    path: PathBuf,
    queue: Mutex<Queue>,
    /// Signals a change of the queue.
    changed: Condvar,
    file: Mutex<FileState>,
    /// Why an open file was lost, until it has been written again.
    lost: Mutex<Option<String>>,
    openings: watch::Sender<u64>,
    first_opening: watch::Receiver<u64>,
    counters: Arc<StoreCounters>,
}

enum FileState {
    Open(Arc<StoreFile>),
    InUse,
    Failing(String),
    Closed,
}

impl Writer {
    /// Tries to open the file, and starts the thread.
    pub(super) fn start(path: PathBuf, counters: Arc<StoreCounters>) -> Self {
        let (openings, first_opening) = watch::channel(0);
        let shared = Arc::new(Shared {
            path,
            queue: Mutex::default(),
            changed: Condvar::new(),
            file: Mutex::new(FileState::Failing(String::new())),
            lost: Mutex::default(),
            openings,
            first_opening,
            counters,
        });
        shared.open();
        let own = Arc::clone(&shared);
        let (running, ended) = mpsc::channel();
        std::thread::spawn(move || {
            own.run();
            drop(running);
        });
        Self { shared, ended: Mutex::new(ended) }
    }

    pub(super) fn state(&self) -> StoreState {
        match &*self.shared.file.lock() {
            FileState::Open(file) => StoreState::Open { bytes: file.bytes() },
            FileState::InUse => StoreState::InUse,
            FileState::Failing(reason) => StoreState::Failing(reason.clone()),
            FileState::Closed => StoreState::Closed,
        }
    }

    pub(super) fn watch_openings(&self) -> watch::Receiver<u64> {
        self.shared.first_opening.clone()
    }

    pub(super) fn save(&self, snapshot: StoredSnapshot<Arc<Snapshot>>, urgency: Urgency) {
        self.shared.queue.lock().add(snapshot, urgency);
        self.shared.changed.notify_one();
    }

    pub(super) fn load(&self, site: &str, uid: &str) -> Vec<Found> {
        let Some(file) = self.shared.open_file() else { return Vec::new() };
        file.snapshots(site, uid).unwrap_or_else(|error| {
            self.shared.lose(&error);
            Vec::new()
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
        *self.file.lock() = FileState::Closed;
    }

    /// Writes what is due, or tries to open the file.
    fn work(&self) {
        let work = || match self.open_file() {
            Some(file) => self.write_due(&file),
            None if self.queue.lock().is_closed => {}
            None => self.open(),
        };
        // The panic hook has logged it.
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            self.lose(&FileError::Io("writing it has failed unexpectedly".to_owned()));
        }
    }

    /// Waits until there is something to do. False: the store is being closed.
    fn wait(&self) -> bool {
        let retry = match &*self.file.lock() {
            FileState::Open(_) | FileState::Closed => None,
            FileState::InUse => Some(Instant::now() + IN_USE_PERIOD),
            FileState::Failing(_) => Some(Instant::now() + FAILING_PERIOD),
        };
        let mut queue = self.queue.lock();
        while !queue.is_closed {
            let deadline = retry.or_else(|| queue.next_due());
            let is_lost = retry.is_none() && self.open_file().is_none();
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

    fn open_file(&self) -> Option<Arc<StoreFile>> {
        match &*self.file.lock() {
            FileState::Open(file) => Some(Arc::clone(file)),
            _ => None,
        }
    }

    fn write_due(&self, file: &StoreFile) {
        let due = self.queue.lock().take_due(Instant::now());
        let mut failed = None;
        for (key, snapshot) in due {
            if failed.is_some() {
                self.queue.lock().put_back(key, snapshot);
                continue;
            }
            let begun = Instant::now();
            match write(file, &key, &snapshot) {
                Ok(()) => {
                    self.counters.written.inc();
                    self.queue.lock().has_written(key, begun.elapsed());
                    self.is_written_again();
                }
                Err(error) => {
                    self.counters.failed.inc();
                    self.queue.lock().put_back(key, snapshot);
                    failed = Some(error);
                }
            }
        }
        if let Some(error) = failed {
            self.lose(&error);
        }
    }

    /// Closes a file that cannot be used; the thread opens it again later.
    fn lose(&self, error: &FileError) {
        let (path, reason) = (self.path.display(), error.to_string());
        let mut state = self.file.lock();
        if !matches!(*state, FileState::Open(_)) {
            return;
        }
        *state = FileState::Failing(reason.clone());
        drop(state);
        self.changed.notify_one();
        let before = self.lost.lock().replace(reason.clone());
        // A disk that is full for an hour is one line, not hundreds.
        if before.as_ref() != Some(&reason) {
            tracing::error!(%path, reason, "the store has failed; the service goes on in memory");
        }
    }

    /// After a failure, a write has succeeded. The file may be a new one without the earlier snapshots.
    fn is_written_again(&self) {
        if self.lost.lock().take().is_some() {
            let path = self.path.display();
            tracing::info!(%path, "the store is written again");
            self.openings.send_modify(|openings| *openings += 1);
        }
    }

    /// Tries to open the file.
    fn open(&self) {
        let path = self.path.display();
        let opened = match StoreFile::open(&self.path) {
            Err(FileError::Unreadable(reason)) => match move_aside(&self.path) {
                Ok(aside) => {
                    let aside = aside.display();
                    tracing::error!(%path, reason, %aside, "the store is unreadable and was moved aside");
                    StoreFile::open(&self.path)
                }
                Err(error) => {
                    Err(FileError::Io(format!("{reason}; it cannot be moved aside: {error}")))
                }
            },
            opened => opened,
        };
        let mut state = self.file.lock();
        match opened {
            Ok(file) => {
                let bytes = file.bytes();
                *state = FileState::Open(Arc::new(file));
                drop(state);
                if self.lost.lock().is_none() {
                    tracing::info!(%path, bytes, "the store is open");
                    self.openings.send_modify(|openings| *openings += 1);
                }
            }
            Err(FileError::InUse) => {
                if !matches!(*state, FileState::InUse) {
                    tracing::warn!(%path, "another process has the store; until it is released, snapshots are in memory only");
                }
                *state = FileState::InUse;
            }
            Err(error) => {
                let reason = error.to_string();
                if !matches!(&*state, FileState::Failing(before) if *before == reason) {
                    tracing::error!(%path, reason, "the store cannot be opened; the service goes on in memory");
                }
                *state = FileState::Failing(reason);
            }
        }
    }
}

/// Serializes and writes a snapshot.
fn write(
    file: &StoreFile,
    key: &Key,
    stored: &StoredSnapshot<Arc<Snapshot>>,
) -> Result<(), FileError> {
    let started = Instant::now();
    let begun = Moment::now().before(stored.begun.elapsed());
    let took_ms = u64::try_from(stored.took.as_millis()).unwrap_or(u64::MAX);
    let head = Written { head: stored.head.clone(), times: Times { begun, took_ms } };
    let head = serde_json::to_string(&head).expect("texts and numbers are JSON");
    let bytes = stored.snapshot.serialize(&head);
    let (site, uid) = (&stored.head.site, &stored.head.content_type);
    file.write((site, uid), key, &bytes)?;
    let (bytes, milliseconds) = (bytes.len(), started.elapsed().as_millis());
    tracing::debug!(site, uid, bytes, milliseconds, "a snapshot is stored");
    Ok(())
}
