//! The file of the store as it is now: open, in the hands of another process, or failing.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::file::{ASIDE, FileError, StoreFile, move_aside, moved_aside};
use crate::history_copy::HistoryCopy;
use frontend_map_catalog::changes::log::Recorder;
use frontend_map_catalog::moved::history::{Mirror, PathHistory};
use frontend_map_platform::clock::unix_ms;

/// The time between two attempts to open a file that another process has open.
const IN_USE_PERIOD: Duration = Duration::from_millis(250);
/// The time between two attempts to open a file that cannot be opened or written.
const FAILING_PERIOD: Duration = Duration::from_secs(5);

/// Whether the file of the store can be used, as `/readyz` and the metrics show it.
#[derive(Clone, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum StoreState {
    /// This process has it open.
    Open {
        /// The size of the file, in bytes.
        bytes: u64,
    },
    /// Another process has it open; it is tried again several times a second.
    InUse,
    /// It cannot be opened or written, for this reason; it is tried again every few seconds.
    Failing(String),
    /// It has been released, because the service stops.
    Closed,
}

impl StoreState {
    /// A word for it.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

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
    copy: Arc<HistoryCopy>,
    restored: Mutex<Restored>,
}

/// Whether the history has the rows of its copy.
enum Restored {
    /// They were not needed yet.
    No,
    /// They could not be read, for this reason.
    Failed(String),
    Done,
}

/// The state of the file.
enum FileState {
    Open(Arc<StoreFile>),
    /// What is in it is used, and for this reason nothing is written.
    ReadOnly(Arc<StoreFile>, String),
    InUse,
    Failing(String),
    Closed,
}

impl FileSlot {
    /// Without a file yet.
    pub(super) fn new(path: PathBuf, history: Arc<PathHistory>, recorder: Arc<Recorder>) -> Self {
        let (openings, first_opening) = watch::channel(0);
        let copy = Arc::new(HistoryCopy::of_store(&path));
        let state = Mutex::new(FileState::Failing(String::new()));
        Self {
            path,
            state,
            lost: Mutex::default(),
            history,
            recorder,
            openings,
            first_opening,
            copy,
            restored: Mutex::new(Restored::No),
        }
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
            FileState::ReadOnly(_, reason) | FileState::Failing(reason) => {
                StoreState::Failing(reason.clone())
            }
            FileState::Closed => StoreState::Closed,
        }
    }

    /// When the file is to be opened again; `None` while it is open, and after it was closed.
    pub(super) fn next_attempt(&self) -> Option<Instant> {
        let period = match &*self.state.lock() {
            FileState::Open(_) | FileState::Closed => return None,
            FileState::InUse => IN_USE_PERIOD,
            FileState::ReadOnly(..) | FileState::Failing(_) => FAILING_PERIOD,
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

    /// The file to be read from.
    pub(super) fn readable(&self) -> Option<Arc<StoreFile>> {
        match &*self.state.lock() {
            FileState::Open(file) | FileState::ReadOnly(file, _) => Some(Arc::clone(file)),
            _ => None,
        }
    }

    /// The copy of the history. `None`: this process must not write it, because another process has the
    /// file and writes both, or because the file is read-only.
    pub(super) fn history_copy(&self) -> Option<Arc<HistoryCopy>> {
        let is_other = matches!(*self.state.lock(), FileState::InUse | FileState::ReadOnly(..));
        (!is_other).then(|| Arc::clone(&self.copy))
    }

    /// How many files were moved aside and are still there.
    pub(super) fn moved_aside(&self) -> usize {
        moved_aside(&self.path)
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
        self.history.forget_changes(Mirror::Store);
        let before = self.lost.lock().replace(reason.clone());
        // A disk that is full for an hour is one line, not hundreds.
        if before.as_ref() != Some(&reason) {
            tracing::error!(%path, reason, "the store has failed; the service goes on in memory");
        }
        true
    }

    /// Whether an open file was lost, and has not been written again.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.lock().is_some()
    }

    /// A write has succeeded. After a failure, the file may be a new one without the earlier snapshots.
    pub(super) fn is_written(&self) {
        if self.lost.lock().take().is_some() {
            let path = self.path.display();
            tracing::info!(%path, "the store can be written again");
            self.openings.send_modify(|openings| *openings += 1);
        }
    }

    /// Tries to open the file.
    pub(super) fn open(&self) {
        match self.open_or_begin() {
            Ok(file) => {
                let (path, bytes) = (self.path.display(), file.bytes());
                *self.state.lock() = FileState::Open(Arc::new(file));
                if self.lost.lock().is_none() {
                    tracing::info!(%path, bytes, "the store is open");
                    self.openings.send_modify(|openings| *openings += 1);
                }
            }
            Err(FileError::ReadOnly(reason)) => self.read_only(reason),
            Err(error) => self.fail(&error),
        }
    }

    /// The file cannot be opened now.
    fn fail(&self, error: &FileError) {
        let path = self.path.display();
        let mut state = self.state.lock();
        if matches!(error, FileError::InUse) {
            if !matches!(*state, FileState::InUse) {
                tracing::warn!(%path, "another process has the store; until it is released, snapshots are in memory only");
            }
            *state = FileState::InUse;
            return;
        }
        let reason = error.to_string();
        if !matches!(&*state, FileState::Failing(before) if *before == reason) {
            tracing::error!(%path, reason, "the store cannot be opened; the service goes on in memory");
        }
        *state = FileState::Failing(reason);
        drop(state);
        self.restore_history();
    }

    /// Takes what is in a file that cannot be written. Not the change logs: a later process must not
    /// continue them without what follows.
    fn read_only(&self, reason: String) {
        if matches!(*self.state.lock(), FileState::ReadOnly(..)) {
            return;
        }
        let read = StoreFile::read(&self.path).and_then(|file| {
            let now = self.history.now(unix_ms);
            file.read_history(|row| self.history.load([row], now))?;
            Ok(file)
        });
        match read {
            Ok(file) => {
                let path = self.path.display();
                tracing::error!(%path, reason, "the store is read, and nothing is written");
                *self.state.lock() = FileState::ReadOnly(Arc::new(file), reason);
                self.openings.send_modify(|openings| *openings += 1);
            }
            Err(FileError::InUse) => self.fail(&FileError::InUse),
            Err(error) => self.fail(&FileError::Io(format!("{reason}; {error}"))),
        }
    }

    /// Opens the file, or a new one in place of an unreadable one.
    fn open_or_begin(&self) -> Result<StoreFile, FileError> {
        let reason = match self.open_with_history() {
            Err(FileError::Unreadable(reason)) => reason,
            opened => return opened,
        };
        let aside = move_aside(&self.path, ASIDE).map_err(|error| {
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
        let mut is_empty = true;
        file.read_history(|row| {
            is_empty = false;
            self.history.load([row], now);
        })?;
        // The recorder knows changes that could not be written.
        file.read_change_logs(&self.recorder, self.is_lost())?;
        if is_empty {
            self.restore_history();
        }
        if has_own || is_empty {
            self.history.keep_all(Mirror::Store);
        } else {
            self.history.keep_changes(Mirror::Store);
        }
        Ok(file)
    }

    /// Adds the rows of the copy to the history, once. The file has no rows: it is new, in place of an
    /// unreadable one too, or the process that began it was killed before it wrote them. Or the file
    /// cannot be opened.
    fn restore_history(&self) {
        let mut restored = self.restored.lock();
        if matches!(*restored, Restored::Done) {
            return;
        }
        let path = self.copy.path().display();
        match self.copy.read() {
            Ok(copied) => {
                let (rows, damaged) = (copied.rows.len(), copied.damaged);
                self.history.load(copied.rows, self.history.now(unix_ms));
                if rows > 0 || damaged > 0 {
                    tracing::warn!(%path, rows, damaged, "former paths are read from their copy");
                }
                *restored = Restored::Done;
            }
            Err(error) => {
                let reason = error.to_string();
                if !matches!(&*restored, Restored::Failed(before) if *before == reason) {
                    tracing::error!(%path, reason, "the copy of the former paths cannot be read");
                }
                *restored = Restored::Failed(reason);
            }
        }
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
