//! Why a command has no usable answer.

use redis::{ErrorKind, RedisError, ServerErrorKind};

use crate::metrics::EngineFailure;

/// Why a command has no usable answer. The texts have no keys, values or addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The engine is known to be away; nothing was sent.
    #[error("the engine is away")]
    Away,
    /// No answer in time. The command may have been executed.
    #[error("no answer in time")]
    Timeout,
    /// No connection, or it broke. The command may have been executed.
    #[error("no connection: {0}")]
    Connection(String),
    /// The engine refuses the user or the password.
    #[error("the engine refuses the user or the password")]
    Authentication,
    /// The engine refused the command with this code, such as `OOM`, `READONLY` or `WRONGTYPE`.
    #[error("the engine refused the command: {0}")]
    Refused(String),
    /// An answer of another form than expected, or that of another command.
    #[error("an unexpected answer")]
    Answer,
}

impl EngineError {
    pub(super) fn failure(&self) -> EngineFailure {
        match self {
            Self::Away => EngineFailure::Away,
            Self::Timeout => EngineFailure::Timeout,
            Self::Connection(_) => EngineFailure::Connection,
            Self::Authentication | Self::Refused(_) => EngineFailure::Refused,
            Self::Answer => EngineFailure::Answer,
        }
    }

    pub(super) fn is_no_script(&self) -> bool {
        matches!(self, Self::Refused(code) if code == "NOSCRIPT")
    }

    /// Codes that a script has passed on are the first word of their text.
    fn refused(error: &RedisError) -> Self {
        let code = error.code().unwrap_or("ERR");
        let detail = error.detail().unwrap_or_default();
        let inner = detail.split([' ', ':']).next().unwrap_or_default();
        let is_code = |word: &str| {
            word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        };
        match code {
            "WRONGPASS" | "NOAUTH" => Self::Authentication,
            "ERR" if is_code(inner) => Self::Refused(inner.to_owned()),
            _ => Self::Refused(code.to_owned()),
        }
    }
}

impl From<RedisError> for EngineError {
    fn from(error: RedisError) -> Self {
        match error.kind() {
            ErrorKind::AuthenticationFailed => Self::Authentication,
            ErrorKind::Server(ServerErrorKind::ResponseError) | ErrorKind::Extension => {
                Self::refused(&error)
            }
            ErrorKind::Server(_) => Self::Refused(error.code().unwrap_or("ERR").to_owned()),
            ErrorKind::Io if error.is_timeout() => Self::Timeout,
            ErrorKind::Io => Self::Connection(error.to_string()),
            ErrorKind::Client | ErrorKind::InvalidClientConfig => {
                Self::Connection(error.to_string())
            }
            ErrorKind::RESP3NotSupported => {
                Self::Connection("the engine does not speak RESP3".to_owned())
            }
            _ => Self::Answer,
        }
    }
}
