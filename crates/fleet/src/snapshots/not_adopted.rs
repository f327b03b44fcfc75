//! Why a published snapshot is not adopted.

use crate::redis::{self, DownloadError};

/// Why a snapshot is not adopted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAdopted {
    /// Redis has no answer.
    #[error(transparent)]
    Redis(#[from] redis::Error),
    /// The published snapshot cannot be used, for this reason.
    #[error("{0}")]
    Refused(String),
}

impl NotAdopted {
    pub(super) fn refused(reason: impl std::fmt::Display) -> Self {
        Self::Refused(reason.to_string())
    }
}

impl From<DownloadError> for NotAdopted {
    fn from(error: DownloadError) -> Self {
        match error {
            DownloadError::Redis(error) => Self::Redis(error),
            error => Self::refused(error),
        }
    }
}
