//! The counters of the process, which outlive a reload, and their text form. Gauges, such as the
//! age of a snapshot, are read at the time of a scrape.
//!
//! Label values come from closed sets and from the settings, never from a request: the number of
//! series does not depend on traffic. Those on the request path are in shards, because they must not
//! contend between worker threads.
//!
//! - **Counters** are atomics in a fixed array: a request costs three additions and two clock
//!   readings, and each thread adds to its own shard. Counters survive a reload. States (ages,
//!   sizes, the breaker) are read from the current app at the scrape.
//! - **Labels** have values from closed sets, or names from the settings. So a reason is counted
//!   without the placeholder's name.

#[macro_use]
mod label;

mod cms;
mod connections;
mod counter;
mod encoder;
mod latency;
mod process;
mod redis;
mod reloads;
mod requests;
mod walks;
mod webhooks;

pub use cms::{CmsOutcome, CmsRequests};
pub use connections::{CloseReason, Connections};
pub use counter::{Counter, CounterFamily, Metric};
pub use encoder::{CONTENT_TYPE, Encoder, encode, gauge_value};
pub use label::Label;
pub use redis::{RedisCounters, RedisFailure};
pub use reloads::{ReloadOutcome, Reloads};
pub use requests::{InFlight, Requests, StatusClass};
pub use walks::{WalkCounters, Walks};
pub use webhooks::{HookRefusal, HookRefusals, NotifyCounters};

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use latency::{LatencyHistogram, LatencySnapshot};
use process::Process;

label! {
    /// The class of a checked URL.
    pub enum CheckedClass as "class" {
        /// A status of 200 to 299.
        Success => "2xx",
        /// A status of 300 to 399.
        Redirect => "3xx",
        /// A status of 400 to 499.
        ClientError => "4xx",
        /// A status of 500 to 599.
        ServerError => "5xx",
        /// No response, or another status.
        Error => "error",
    }
}

/// Counts the snapshots and the runs of URL checks that were to be stored.
#[derive(Debug, Default)]
pub struct StoreCounters {
    /// Snapshots and runs that were written to the file.
    pub written: Counter,
    /// Attempts that have failed.
    pub failed: Counter,
}

/// All counters of the process.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Requests of clients.
    pub requests: Requests,
    /// Connections of clients.
    pub connections: Arc<Connections>,
    /// Requests to the CMS.
    pub cms: CmsRequests,
    /// Walks by site and content type.
    pub walks: Walks,
    /// Responses about a document from its last good version, because the CMS failed.
    pub last_good: Counter,
    /// Runs of URL checks that have ended.
    pub validations: Counter,
    /// Runs that were refused because the queue was full.
    pub validations_refused: Counter,
    /// Runs that were followed because another instance of the fleet owned them.
    pub validations_followed: Counter,
    /// Checked URLs.
    pub checked_urls: CounterFamily<CheckedClass>,
    /// Reloads of the settings.
    pub reloads: Reloads,
    /// What the store has written.
    pub store: Arc<StoreCounters>,
    /// Webhooks of the CMS that were refused.
    pub hook_refusals: HookRefusals,
    /// Webhooks that were sent.
    pub notify: Arc<NotifyCounters>,
    /// The use of Redis that several instances share.
    pub redis: Arc<RedisCounters>,
    /// Panics anywhere in the process.
    pub panics: Counter,
    /// Log lines that were dropped because stderr was not read in time.
    pub log_lines_dropped: Counter,
    /// Spans that did not reach the collector of traces.
    pub traces_dropped: Counter,
    process: Process,
}

impl Metrics {
    /// When the process started.
    pub fn started(&self) -> SystemTime {
        self.process.started
    }

    /// Writes all counters.
    ///
    /// # Errors
    /// The errors of the encoder.
    pub fn encode(&self, encoder: &mut Encoder<'_>) -> fmt::Result {
        self.requests.encode(encoder)?;
        self.connections.encode(encoder)?;
        self.cms.encode(encoder)?;
        encoder.metric(
            "last_good_answers",
            "Responses of /api/frontend-url and /api/resolve about the last good version of a document, because the CMS failed",
            &self.last_good,
        )?;
        encoder.metric(
            "validation_runs",
            "Runs of URL checks that have ended",
            &self.validations,
        )?;
        encoder.metric(
            "validation_runs_refused",
            "Runs of URL checks refused because the queue of runs was full",
            &self.validations_refused,
        )?;
        encoder.metric(
            "validation_runs_followed",
            "Runs of URL checks on other instances for which clients of this one waited",
            &self.validations_followed,
        )?;
        encoder.metric(
            "validation_urls",
            "Checked URLs by class of the result",
            &self.checked_urls,
        )?;
        encoder.metric(
            "hooks_refused",
            "Webhooks of the CMS that were refused by cause",
            &self.hook_refusals.counts,
        )?;
        self.reloads.encode(encoder)?;
        self.redis.encode(encoder)?;
        encoder.metric("panics", "Panics", &self.panics)?;
        encoder.metric(
            "log_lines_dropped",
            "Log lines dropped because stderr was not read in time",
            &self.log_lines_dropped,
        )?;
        encoder.metric(
            "traces_dropped",
            "Spans that did not reach the collector of traces",
            &self.traces_dropped,
        )?;
        self.process.encode(encoder)
    }
}
