//! Connections of clients.

use std::fmt;

use super::{Counter, CounterFamily, Encoder, gauge_value};

label! {
    /// Why a connection was closed.
    pub enum CloseReason as "reason" {
        /// The client closed it, or asked for the close.
        Client => "client",
        /// The connection broke, or the client sent something other than HTTP.
        Error => "error",
        /// The head of a request was not complete in time.
        HeadTimeout => "head_timeout",
        /// No further request came in time.
        IdleTimeout => "idle_timeout",
        /// The client did not read in time.
        WriteTimeout => "write_timeout",
        /// It was the longest idle one when the connection limit was reached.
        Evicted => "evicted",
        /// The service shut down.
        Shutdown => "shutdown",
    }
}

/// Connections of clients.
#[derive(Debug, Default)]
pub struct Connections {
    /// Accepted connections.
    pub accepted: Counter,
    /// Accepted connections that are closed again.
    pub closed: CounterFamily<CloseReason>,
    /// Failed attempts to accept a connection.
    pub accept_failures: Counter,
}

impl Connections {
    /// The number of open connections.
    pub fn open(&self) -> u64 {
        // Read first, so that a connection that closes in between does not make a negative number.
        let closed = self.closed.total();
        self.accepted.get().saturating_sub(closed)
    }

    pub(super) fn encode(&self, encoder: &mut Encoder<'_>) -> fmt::Result {
        encoder.metric("connections_accepted", "Accepted connections", &self.accepted)?;
        encoder.metric("connections_closed", "Closed connections by reason", &self.closed)?;
        encoder.metric(
            "accept_failures",
            "Failed attempts to accept a connection",
            &self.accept_failures,
        )?;
        let open = gauge_value(self.open());
        encoder.gauge("connections_open", "Open connections", [([], open)])
    }
}
