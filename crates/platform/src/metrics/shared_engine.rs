//! The engine that several instances share.

use std::fmt;

use prometheus_client::metrics::counter::Counter;

use super::{CounterFamily, Encoder};

label! {
    /// Why a command of the shared engine has no usable answer.
    pub enum EngineFailure as "kind" {
        /// The engine is known to be away; nothing was sent.
        Away => "away",
        /// No answer in time.
        Timeout => "timeout",
        /// No connection, or it broke.
        Connection => "connection",
        /// The engine refused the command.
        Refused => "refused",
        /// An answer of another form.
        Answer => "answer",
    }
}

/// Counts the use of the shared engine.
#[derive(Debug, Default)]
pub struct EngineCounters {
    /// Commands that were sent; a script and a pipeline count as one.
    pub commands: Counter,
    /// Commands without a usable answer.
    pub errors: CounterFamily<EngineFailure>,
    /// Bytes of commands that were sent, without those of the connection.
    pub bytes_sent: Counter,
    /// Bytes of values in answers, without those of the protocol.
    pub bytes_received: Counter,
    /// Heartbeats that were answered.
    pub heartbeats: Counter,
    /// How often it became usable, or turned out to be another one or empty.
    pub sessions: Counter,
    /// Values whose seal does not fit.
    pub refused_seals: Counter,
}

impl EngineCounters {
    pub(super) fn encode(&self, encoder: &mut Encoder<'_>) -> fmt::Result {
        let help = "Commands sent to the shared engine; a script counts as one";
        encoder.metric("shared_commands", help, &self.commands)?;
        let help = "Commands to the shared engine without a usable answer, by kind";
        encoder.metric("shared_errors", help, &self.errors)?;
        let help = "Bytes of commands sent to the shared engine";
        encoder.metric("shared_sent_bytes", help, &self.bytes_sent)?;
        let help = "Bytes of values received from the shared engine";
        encoder.metric("shared_received_bytes", help, &self.bytes_received)?;
        let help = "Heartbeats that the shared engine has answered";
        encoder.metric("shared_heartbeats", help, &self.heartbeats)?;
        let help =
            "How often the shared engine became usable, or turned out to be another one or empty";
        encoder.metric("shared_sessions", help, &self.sessions)?;
        let help = "Values from the shared engine that were refused because of their seal";
        encoder.metric("shared_refused_seals", help, &self.refused_seals)
    }
}
