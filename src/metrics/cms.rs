//! Requests to the CMS.

use std::fmt;
use std::time::Duration;

use super::{Count, Counts, Latency, Page};

closed! {
    /// How a request to the CMS ended.
    pub enum Call {
        /// 200 with a text, which may still have any shape.
        Ok => "ok",
        /// A 404 or 400 of its own.
        Refused => "refused",
        /// 401 or 403.
        Denied => "denied",
        /// Something that cannot be used.
        Unusable => "unusable",
        /// No whole answer, 429 or 5xx.
        Unavailable => "unavailable",
        /// None in time.
        Timeout => "timeout",
        /// It was not sent, because the CMS has been failing.
        Shed => "shed",
    }
}

/// Requests to the CMS.
#[derive(Debug, Default)]
pub struct CmsCalls {
    /// Those that have ended.
    pub ended: Counts<Call>,
    /// How long those took that were sent.
    pub latency: Latency,
    /// Those of them that were second tries.
    pub retries: Count,
    /// Second tries that were not made because the budget for them was spent.
    pub retries_refused: Count,
    /// How often the breaker has opened.
    pub openings: Count,
}

impl CmsCalls {
    /// A request that was sent has ended.
    pub fn end(&self, call: Call, taken: Duration) {
        self.ended.of(call).one();
        self.latency.observe(taken);
    }

    /// A request was not sent.
    pub fn shed(&self) {
        self.ended.of(Call::Shed).one();
    }

    /// A second try was wanted, and there was budget for it or not.
    pub fn retry(&self, granted: bool) {
        let count = if granted { &self.retries } else { &self.retries_refused };
        count.one();
    }

    pub(super) fn write(&self, page: &mut Page<'_>) -> fmt::Result {
        page.counts("cms_requests", "Requests to the CMS", "outcome", &self.ended)?;
        let latency = [([], self.latency.histogram())];
        page.histogram("cms_request_seconds", "Duration of requests to the CMS", latency)?;
        page.one_count("cms_retries", "Requests to the CMS that were second tries", &self.retries)?;
        page.one_count(
            "cms_retries_refused",
            "Second tries not made because the budget for them was spent",
            &self.retries_refused,
        )?;
        page.one_count(
            "cms_breaker_openings",
            "How often requests to the CMS were held back because it failed",
            &self.openings,
        )
    }
}
