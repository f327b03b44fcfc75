//! Why a published list is not adopted.

use crate::redis::{DownloadError, EngineError};

/// Why a list is not adopted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAdopted {
    /// The engine has no answer.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The published list cannot be used, for this reason.
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
            DownloadError::Engine(error) => Self::Engine(error),
            error => Self::refused(error),
        }
    }
}
