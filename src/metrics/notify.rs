//! Webhooks that were sent.

use prometheus_client::metrics::counter::Counter;

/// Counts requests to the targets of webhooks.
#[derive(Debug, Default)]
pub struct NotifyCounters {
    /// Those that were accepted.
    pub delivered: Counter,
    /// Those that failed, and are sent again.
    pub failed: Counter,
}
