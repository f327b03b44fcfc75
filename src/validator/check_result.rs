//! What came of one URL: an answer, or the reason why there is none.

use std::fmt;

use super::HEAD_TIMEOUT;

/// What came of one URL. A failed check is data, not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckResult {
    /// A response head arrived.
    Response {
        /// The HTTP status, 100 to 999.
        status: u16,
        /// The `Location` header of a 3xx that has one: as sent, but no control characters and at
        /// most 2,048 characters.
        location: Option<String>,
        /// The seconds after which a 429 or 5xx wants to be asked again, if it says so. In no
        /// report: it is for who tries again.
        retry_after: Option<u32>,
    },
    /// No response head arrived.
    Failed(Failure),
}

/// Why no response arrived. `Display` is the `reason` of specification 2.7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// No response head within [`HEAD_TIMEOUT`].
    Timeout,
    /// The host name has no address.
    Dns,
    /// No connection: refused or unreachable.
    Refused,
    /// The peer closed or reset the connection before its response head was complete.
    Reset,
    /// No TLS connection.
    Tls,
    /// What arrived is not an HTTP response head.
    InvalidResponse,
    /// All addresses of the host are such as no site is at: nothing was sent.
    AddressNotAllowed,
    /// The run came to its deadline before there was a result.
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
