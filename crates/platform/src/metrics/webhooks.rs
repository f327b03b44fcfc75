//! Webhooks: those that were sent, and those of the CMS that were refused.

use std::time::Instant;

use super::{Counter, CounterFamily};
use crate::HourlyWarnings;

/// Counts requests to the targets of webhooks.
#[derive(Debug, Default)]
pub struct NotifyCounters {
    /// Requests that were accepted.
    pub delivered: Counter,
    /// Requests that failed, and are sent again.
    pub failed: Counter,
}

label! {
    /// Why a webhook of the CMS is refused.
    pub enum HookRefusal as "cause" {
        /// The settings have no secret.
        NoSecret => "no_secret",
        /// The request has no bearer token.
        NoToken => "no_token",
        /// Its token is not the secret.
        WrongToken => "wrong_token",
    }
}

/// Counts webhooks of the CMS that were refused.
#[derive(Debug, Default)]
pub struct HookRefusals {
    /// By cause.
    pub counts: CounterFamily<HookRefusal>,
    warnings: HourlyWarnings<HookRefusal>,
}

impl HookRefusals {
    /// Counts one. Returns whether a warning is due: one for each cause and hour.
    pub fn count(&self, cause: HookRefusal, now: Instant) -> bool {
        self.counts.inc(cause);
        self.warnings.is_due(cause, now)
    }
}
