//! The five classes of results, three of which are dead.

use crate::checks::CheckResult;

/// The class of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Status 400 to 499.
    ClientError,
    /// Status 500 to 599.
    ServerError,
    /// No response, or a status outside 200 to 599.
    Error,
    /// Status 300 to 399.
    Redirect,
    /// Status 200 to 299.
    Success,
}

impl Class {
    /// All classes in the order of reports, which is that of `Ord`: the dead ones first, and of these
    /// first the one that a change of a document can repair.
    pub const ALL: [Self; 5] =
        [Self::ClientError, Self::ServerError, Self::Error, Self::Redirect, Self::Success];

    /// The class of a status; `None` means no response.
    pub fn of(status: Option<u16>) -> Self {
        match status {
            Some(200..=299) => Self::Success,
            Some(300..=399) => Self::Redirect,
            Some(400..=499) => Self::ClientError,
            Some(500..=599) => Self::ServerError,
            _ => Self::Error,
        }
    }

    /// Its key in `byClass`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "2xx",
            Self::Redirect => "3xx",
            Self::ClientError => "4xx",
            Self::ServerError => "5xx",
            Self::Error => "error",
        }
    }

    /// Its meaning in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Success => "fine",
            Self::Redirect => "leads elsewhere",
            Self::ClientError => "not found or refused",
            Self::ServerError => "the server failed",
            Self::Error => "no response",
        }
    }

    /// Whether a visitor gets no page. A redirect may still lead to one.
    pub fn is_dead(self) -> bool {
        self <= Self::Error
    }
}

impl CheckResult {
    /// The class of the result.
    pub fn class(&self) -> Class {
        match self {
            Self::Response { status, .. } => Class::of(Some(*status)),
            Self::Failed(_) => Class::Error,
        }
    }
}
