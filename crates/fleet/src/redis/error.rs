//! Why a command has no usable answer.

use redis::{ErrorKind, RedisError, ServerError};

use frontend_map_platform::metrics::RedisFailure;

/// Why a command has no usable answer. The texts have no keys, values or addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Redis is known to be unavailable; nothing was sent.
    #[error("Redis is unavailable")]
    Unavailable,
    /// No answer in time. The command may have been executed.
    #[error("no answer in time")]
    Timeout,
    /// No connection, or it broke. The command may have been executed.
    #[error("no connection: {0}")]
    Connection(String),
    /// Redis refuses the user or the password.
    #[error("Redis refuses the user or the password")]
    Authentication,
    /// Redis refused the command with this code, such as `OOM`, `READONLY` or `WRONGTYPE`.
    #[error("Redis refused the command: {0}")]
    Refused(String),
    /// The answer has another form than expected, or belongs to another command.
    #[error("an unexpected answer")]
    Answer,
}

impl Error {
    pub(super) fn failure(&self) -> RedisFailure {
        match self {
            Self::Unavailable => RedisFailure::Unavailable,
            Self::Timeout => RedisFailure::Timeout,
            Self::Connection(_) => RedisFailure::Connection,
            Self::Authentication | Self::Refused(_) => RedisFailure::Refused,
            Self::Answer => RedisFailure::Answer,
        }
    }

    pub(super) fn is_no_script(&self) -> bool {
        matches!(self, Self::Refused(code) if code == "NOSCRIPT")
    }

    /// The code of a refusal. Errors of scripts may have it at the beginning of their text.
    fn refused(error: &ServerError) -> Self {
        let inner = error.details().unwrap_or_default().split([' ', ':']).next();
        let is_code = |word: &&str| {
            word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        };
        match (error.code(), inner.filter(is_code)) {
            ("WRONGPASS" | "NOAUTH", _) => Self::Authentication,
            ("ERR", Some(code)) | (code, _) => Self::Refused(code.to_owned()),
        }
    }
}

impl From<RedisError> for Error {
    fn from(error: RedisError) -> Self {
        // A pipeline may have several refusals: the first one counts.
        let refusals = error.clone().into_server_errors();
        if let Some((_, refusal)) = refusals.as_deref().and_then(<[_]>::first) {
            return Self::refused(refusal);
        }
        match error.kind() {
            ErrorKind::AuthenticationFailed => Self::Authentication,
            ErrorKind::Io if error.is_timeout() => Self::Timeout,
            ErrorKind::Io | ErrorKind::Client | ErrorKind::InvalidClientConfig => {
                Self::Connection(error.to_string())
            }
            ErrorKind::RESP3NotSupported => {
                Self::Connection("Redis does not speak RESP3".to_owned())
            }
            _ => Self::Answer,
        }
    }
}
