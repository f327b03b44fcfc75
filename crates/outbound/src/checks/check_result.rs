//! The result of one URL: a response, or the reason why there is none.

use std::fmt;

use super::HEAD_TIMEOUT;

/// The result of one URL. A failed check is data, not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckResult {
    /// The head of a response was received.
    Response {
        /// The HTTP status, 100 to 999.
        status: u16,
        /// The `Location` header of a 3xx that has one: as sent, but visible characters alone and at
        /// most 2,048 of them.
        location: Option<String>,
        /// The seconds in the `Retry-After` of a 429 or 5xx, for retries. No report shows it.
        retry_after: Option<u32>,
    },
    /// No head of a response was received.
    Failed(Failure),
}

/// Why there is no response. `Display` is the `reason` in docs/http-api.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// No head of a response within [`HEAD_TIMEOUT`].
    Timeout,
    /// The host name has no address.
    Dns,
    /// No connection: refused or unreachable.
    Refused,
    /// The peer closed or reset the connection before the head of its response was complete.
    Reset,
    /// No TLS connection.
    Tls,
    /// The peer sent something other than the head of an HTTP response.
    InvalidResponse,
    /// No address of the host name is one that a public site may have: no request was sent.
    AddressNotAllowed,
    /// The deadline of the run expired first.
    NotChecked,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = match self {
            Self::Timeout => return write!(f, "timeout after {}ms", HEAD_TIMEOUT.as_millis()),
            Self::Dns => "dns",
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Tls => "tls",
            Self::InvalidResponse => "invalid response",
            Self::AddressNotAllowed => "address not allowed",
            Self::NotChecked => return f.write_str("not checked: deadline"),
        };
        write!(f, "fetch failed: {cause}")
    }
}
