//! Why the file cannot be used.

use std::io::{self, ErrorKind};

use redb::{DatabaseError, StorageError};

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("another process has it open")]
    InUse,
    /// It may be read and not written.
    #[error("it cannot be written: {0}")]
    ReadOnly(String),
    /// It is damaged, or not a store of this version.
    #[error("{0}")]
    Unreadable(String),
    /// The system refuses it, or the disk fails.
    #[error("{0}")]
    Io(String),
}

impl FileError {
    pub(super) fn of_system(error: &io::Error) -> Self {
        match error.kind() {
            // Errors of redb about a file that is no database, or is too short.
            ErrorKind::InvalidData | ErrorKind::UnexpectedEof => {
                Self::Unreadable(error.to_string())
            }
            _ => Self::Io(error.to_string()),
        }
    }

    /// Of an attempt to open the file so that it can be written.
    pub(super) fn of_opening(error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
                Self::ReadOnly(error.to_string())
            }
            _ => Self::of_system(error),
        }
    }
}

impl From<redb::Error> for FileError {
    fn from(error: redb::Error) -> Self {
        match error {
            redb::Error::DatabaseAlreadyOpen => Self::InUse,
            redb::Error::Io(error) => Self::of_system(&error),
            redb::Error::PreviousIo => Self::Io(error.to_string()),
            other => Self::Unreadable(other.to_string()),
        }
    }
}

macro_rules! from_errors {
    ($($error:ty),*) => {
        $(impl From<$error> for FileError {
            fn from(error: $error) -> Self {
                Self::from(redb::Error::from(error))
            }
        })*
    };
}

from_errors!(
    DatabaseError,
    StorageError,
    redb::TransactionError,
    redb::TableError,
    redb::CommitError
);
