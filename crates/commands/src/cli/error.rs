//! Why a command fails, and the exit statuses.

use super::output::terminal;
use crate::config::Problems;

/// The exit status for invalid settings: `EX_CONFIG` of sysexits.h.
const INVALID_SETTINGS: u8 = 78;
/// The exit status for invalid arguments: that of clap.
const INVALID_ARGUMENTS: u8 = 2;
/// The exit status for any other failure.
pub(super) const FAILED: u8 = 1;
/// The exit status of `explain`, `validate`, `links`, `diff` and `types` if they
/// could not run: there 1 is a result.
pub(super) const NOT_RUN: u8 = 2;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandError {
    /// Invalid arguments, or arguments that exclude each other.
    #[error("{0}")]
    Arguments(String),
    #[error(transparent)]
    Settings(#[from] Problems),
    #[error(transparent)]
    NotRun(Box<dyn std::error::Error>),
    #[error(transparent)]
    Other(#[from] Box<dyn std::error::Error>),
}

impl CommandError {
    pub(super) fn status(&self) -> u8 {
        match self {
            Self::Settings(_) => INVALID_SETTINGS,
            Self::Arguments(_) => INVALID_ARGUMENTS,
            Self::NotRun(_) => NOT_RUN,
            Self::Other(_) => FAILED,
        }
    }

    pub(super) fn is_closed_pipe(&self) -> bool {
        match self {
            Self::Arguments(_) | Self::Settings(_) => false,
            Self::NotRun(error) | Self::Other(error) => terminal::is_closed_pipe(&**error),
        }
    }
}
