//! Webhooks that were sent.

use prometheus_client::metrics::counter::Counter;

/// Counts requests to the targets of webhooks.
#[derive(Debug, Default)]
pub struct NotifyCounters {
    /// Those that were taken.
    pub delivered: Counter,
    /// Those that were not, and are repeated.
    pub failed: Counter,
}
