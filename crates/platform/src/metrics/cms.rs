//! Requests to the CMS.

use std::fmt;
use std::time::Duration;

use super::{Counter, CounterFamily, Encoder, LatencyHistogram, LatencySnapshot};

label! {
    /// How a request to the CMS ended.
    pub enum CmsOutcome as "outcome" {
        /// 200 with a body, whose shape is not checked yet.
        Ok => "ok",
        /// A 404 or 400 in the CMS's own envelope.
        Refused => "refused",
        /// 401 or 403.
        Denied => "denied",
        /// A response that cannot be used.
        Unusable => "unusable",
        /// No complete response, 429 or 5xx.
        Unavailable => "unavailable",
        /// No response in time.
        Timeout => "timeout",
        /// Not sent, because the circuit breaker is open.
        Shed => "shed",
    }
}

/// Requests to the CMS.
#[derive(Debug, Default)]
pub struct CmsRequests {
    outcomes: CounterFamily<CmsOutcome>,
    /// Durations of the requests that were sent.
    durations: LatencyHistogram,
    retries: Counter,
    retries_refused: Counter,
    /// How often the circuit breaker has opened.
    pub breaker_openings: Counter,
}

impl CmsRequests {
    /// Counts a request that was sent and has ended.
    pub fn end(&self, outcome: CmsOutcome, taken: Duration) {
        self.outcomes.inc(outcome);
        self.durations.observe(taken);
    }

    /// Counts a request that was not sent.
    pub fn shed(&self) {
        self.outcomes.inc(CmsOutcome::Shed);
    }

    /// Counts a retry, or one that the retry budget did not allow.
    pub fn retry(&self, granted: bool) {
        let counter = if granted { &self.retries } else { &self.retries_refused };
        counter.inc();
    }

    pub(super) fn encode(&self, encoder: &mut Encoder<'_>) -> fmt::Result {
        encoder.metric("cms_requests", "Requests to the CMS by outcome", &self.outcomes)?;
        let mut durations = LatencySnapshot::default();
        self.durations.add_to(&mut durations);
        let help = "Duration of the requests that were sent to the CMS";
        encoder.histogram("cms_request_seconds", help, [([], durations)])?;
        encoder.metric("cms_retries", "Retried requests to the CMS", &self.retries)?;
        encoder.metric(
            "cms_retries_refused",
            "Retries not made because the retry budget was spent",
            &self.retries_refused,
        )?;
        encoder.metric(
            "cms_breaker_openings",
            "How often the circuit breaker of the CMS has opened",
            &self.breaker_openings,
        )
    }
}
