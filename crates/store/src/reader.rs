//! A store that is read without a service.

use std::path::Path;

use crate::file::{FileError, StoreFile};
use crate::stored_snapshot::{StoredSnapshot, read};
use frontend_map_catalog::moved::history::{Limits, PathHistory};
use frontend_map_catalog::snapshot::{Builder, Snapshot};
use frontend_map_platform::clock::unix_ms;

/// The file of a store while no service has it open.
pub struct StoreReader(StoreFile);

/// Why a store cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum StoreReadError {
    /// There is no file.
    #[error("there is no such file")]
    Missing,
    /// A process has the file open, usually the service.
    #[error("a service has it open")]
    InUse,
    /// The file is damaged, or the system refuses it.
    #[error("{0}")]
    Failed(String),
}

impl StoreReader {
    /// Reads the file into memory. It is neither created, nor written, nor moved aside.
    ///
    /// # Errors
    /// [`StoreReadError`] if it is not there, in use or damaged.
    pub fn open(path: &Path) -> Result<Self, StoreReadError> {
        if !path.exists() {
            return Err(StoreReadError::Missing);
        }
        Ok(Self(StoreFile::read(path)?))
    }

    /// The path history within these limits.
    ///
    /// # Errors
    /// [`StoreReadError::Failed`] if the file cannot be read.
    pub fn history(&self, limits: Limits) -> Result<PathHistory, StoreReadError> {
        let (history, now) = (PathHistory::new(limits), unix_ms());
        self.0.read_history(|row| history.load([row], now))?;
        Ok(history)
    }

    /// The snapshots of a content type of a site, by any rules.
    ///
    /// # Errors
    /// [`StoreReadError::Failed`] if the file cannot be read.
    pub fn snapshots(
        &self,
        site: &str,
        uid: &str,
        builder: Builder,
    ) -> Result<Vec<StoredSnapshot<Snapshot>>, StoreReadError> {
        let found = self.0.snapshots(site, uid)?.into_iter();
        let read = found.filter_map(|one| read(&one.bytes, one.written, site, uid, builder));
        Ok(read.collect())
    }
}

impl From<FileError> for StoreReadError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::InUse => Self::InUse,
            FileError::Unreadable(reason) | FileError::Io(reason) | FileError::ReadOnly(reason) => {
                Self::Failed(reason)
            }
        }
    }
}
