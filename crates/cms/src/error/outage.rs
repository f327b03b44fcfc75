//! What has failed where the CMS is not available.

use std::fmt;

/// What has failed where the CMS is not available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outage {
    /// The name of the CMS's host has no address.
    NameNotFound,
    /// No connection: refused, or the network is unreachable.
    ConnectionRefused,
    /// No connection in time.
    ConnectTimeout,
    /// The connection broke before the response was complete.
    ConnectionBroken,
    /// The response was not complete in time.
    NoResponse,
    /// 429 or 5xx.
    Status(u16),
    /// Documents changed during each attempt at a walk.
    KeepsChanging,
    /// Another instance reads the CMS for this one, and says that it is not available.
    Elsewhere,
    /// The service itself ended the request: it stops, or has a bug.
    Aborted,
}

impl fmt::Display for Outage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NameNotFound => "its host name has no address",
            Self::ConnectionRefused => "connection refused",
            Self::ConnectTimeout => "no connection in time",
            Self::ConnectionBroken => "the connection broke",
            Self::NoResponse => "it did not respond in time",
            Self::Status(status) => return write!(f, "it returned {status}"),
            Self::KeepsChanging => "its documents changed during each attempt to read all of them",
            Self::Elsewhere => "another instance could not read it; its log says why",
            Self::Aborted => "the request was aborted",
        })
    }
}
