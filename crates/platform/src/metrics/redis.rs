//! Redis that several instances share.

use std::fmt;

use super::{Counter, CounterFamily, Encoder};

label! {
    /// Why a command of Redis has no usable answer.
    pub enum RedisFailure as "kind" {
        /// Redis is known to be unavailable; nothing was sent.
        Unavailable => "unavailable",
        /// No answer in time.
        Timeout => "timeout",
        /// No connection, or it broke.
        Connection => "connection",
        /// Redis refused the command.
        Refused => "refused",
        /// An answer of another form.
        Answer => "answer",
    }
}

/// Counts the use of Redis.
#[derive(Debug, Default)]
pub struct RedisCounters {
    /// Commands that were sent; a script and a pipeline count as one.
    pub commands: Counter,
    /// Commands without a usable answer.
    pub errors: CounterFamily<RedisFailure>,
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

impl RedisCounters {
    pub(super) fn encode(&self, encoder: &mut Encoder<'_>) -> fmt::Result {
        let help = "Commands sent to Redis; a script counts as one";
        encoder.metric("redis_commands", help, &self.commands)?;
        let help = "Commands to Redis without a usable answer, by kind";
        encoder.metric("redis_errors", help, &self.errors)?;
        let help = "Bytes of commands sent to Redis";
        encoder.metric("redis_sent_bytes", help, &self.bytes_sent)?;
        let help = "Bytes of values received from Redis";
        encoder.metric("redis_received_bytes", help, &self.bytes_received)?;
        let help = "Heartbeats that Redis has answered";
        encoder.metric("redis_heartbeats", help, &self.heartbeats)?;
        let help = "How often Redis became usable, or turned out to be another one or empty";
        encoder.metric("redis_sessions", help, &self.sessions)?;
        let help = "Values from Redis that were refused because of their seal";
        encoder.metric("redis_refused_seals", help, &self.refused_seals)
    }
}
