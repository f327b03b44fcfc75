//! The file of the store as it is now: open, in the hands of another process, or failing.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;

use super::file::{FileError, StoreFile, move_aside};
use super::state::StoreState;
use crate::change_log::Recorder;
use crate::clock::unix_ms;
use crate::path_history::{PathHistory, Taker};

/// The time between two attempts to open a file that another process has open.
const IN_USE_PERIOD: Duration = Duration::from_millis(250);
/// The time between two attempts to open a file that cannot be opened or written.
const FAILING_PERIOD: Duration = Duration::from_secs(5);

/// The place of the file.
pub(super) struct FileSlot {
    path: PathBuf,
    state: Mutex<FileState>,
    /// Why an open file was lost, until it has been written again.
    lost: Mutex<Option<String>>,
    history: Arc<PathHistory>,
    recorder: Arc<Recorder>,
    openings: watch::Sender<u64>,
    /// Has not seen any opening.
    first_opening: watch::Receiver<u64>,
}

/// The state of the file.
enum FileState {
    Open(Arc<StoreFile>),
    InUse,
    Failing(String),
    Closed,
}

impl FileSlot {
    /// Without a file yet.
    pub(super) fn new(path: PathBuf, history: Arc<PathHistory>, recorder: Arc<Recorder>) -> Self {
        let (openings, first_opening) = watch::channel(0);
        let state = Mutex::new(FileState::Failing(String::new()));
        Self { path, state, lost: Mutex::default(), history, recorder, openings, first_opening }
    }

    /// A file that was lost counts as failing until it has been written: on a full disk, each attempt
    /// opens it.
    pub(super) fn state(&self) -> StoreState {
        match &*self.state.lock() {
            FileState::Open(file) => match &*self.lost.lock() {
                Some(reason) => StoreState::Failing(reason.clone()),
                None => StoreState::Open { bytes: file.bytes() },
            },
            FileState::InUse => StoreState::InUse,
            FileState::Failing(reason) => StoreState::Failing(reason.clone()),
            FileState::Closed => StoreState::Closed,
        }
    }

    /// When the file is to be opened again; `None` while it is open, and after it was closed.
    pub(super) fn next_attempt(&self) -> Option<Instant> {
        let period = match &*self.state.lock() {
            FileState::Open(_) | FileState::Closed => return None,
            FileState::InUse => IN_USE_PERIOD,
            FileState::Failing(_) => FAILING_PERIOD,
        };
        Some(Instant::now() + period)
    }

    pub(super) fn watch_openings(&self) -> watch::Receiver<u64> {
        self.first_opening.clone()
    }

    pub(super) fn file(&self) -> Option<Arc<StoreFile>> {
        match &*self.state.lock() {
            FileState::Open(file) => Some(Arc::clone(file)),
            _ => None,
        }
    }

    pub(super) fn close(&self) {
        *self.state.lock() = FileState::Closed;
    }

    /// Closes a file that cannot be used; the thread opens it again later. False: it was closed already.
    pub(super) fn lose(&self, error: &FileError) -> bool {
        let (path, reason) = (self.path.display(), error.to_string());
        let mut state = self.state.lock();
        if !matches!(*state, FileState::Open(_)) {
            return false;
        }
        *state = FileState::Failing(reason.clone());
        drop(state);
        // When it is opened again, all rows are written.
        self.history.forget_changes(Taker::Store);
        let before = self.lost.lock().replace(reason.clone());
        // A disk that is full for an hour is one line, not hundreds.
        if before.as_ref() != Some(&reason) {
            tracing::error!(%path, reason, "the store has failed; the service goes on in memory");
        }
        true
    }

    /// A write has succeeded. After a failure, the file may be a new one without the earlier snapshots.
    pub(super) fn is_written(&self) {
        if self.lost.lock().take().is_some() {
            let path = self.path.display();
            tracing::info!(%path, "the store is written again");
            self.openings.send_modify(|openings| *openings += 1);
        }
    }

    /// Tries to open the file.
    pub(super) fn open(&self) {
        let path = self.path.display();
        let opened = self.open_or_begin();
        let mut state = self.state.lock();
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

    /// Opens the file, or a new one in place of an unreadable one.
    fn open_or_begin(&self) -> Result<StoreFile, FileError> {
        let reason = match self.open_with_history() {
            Err(FileError::Unreadable(reason)) => reason,
            opened => return opened,
        };
        let aside = move_aside(&self.path).map_err(|error| {
            FileError::Io(format!("{reason}; it cannot be moved aside: {error}"))
        })?;
        let (path, aside) = (self.path.display(), aside.display());
        tracing::error!(%path, reason, %aside, "the store is unreadable and was moved aside");
        self.open_with_history()
    }

    /// Opens the file and takes the rows of the path history from it. From then on, changes of the
    /// history are kept until they are written.
    fn open_with_history(&self) -> Result<StoreFile, FileError> {
        let file = StoreFile::open(&self.path)?;
        // This process has made rows without this file, or with it before it was lost.
        let has_own = !self.history.is_empty();
        let now = self.history.now(unix_ms);
        file.read_history(|row| self.history.load([row], now))?;
        file.read_change_logs(&self.recorder)?;
        if has_own {
            self.history.keep_all(Taker::Store);
        } else {
            self.history.keep_changes(Taker::Store);
        }
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_file_is_failing_until_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let slot = FileSlot::new(folder.path().join("store.redb"), Arc::default(), Arc::default());
        slot.open();
        assert!(matches!(slot.state(), StoreState::Open { .. }));
        let full = StoreState::Failing("the disk is full".to_owned());
        assert!(slot.lose(&FileError::Io("the disk is full".to_owned())));
        assert_eq!(slot.state(), full);
        slot.open();
        assert_eq!((slot.state(), slot.next_attempt()), (full, None));
        slot.is_written();
        assert!(matches!(slot.state(), StoreState::Open { .. }));
    }
}
