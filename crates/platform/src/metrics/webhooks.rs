//! Webhooks: those that were sent, and those of the CMS that were refused.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use prometheus_client::metrics::counter::Counter;

use super::CounterFamily;

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

/// The time between two warnings about one cause.
const WARNING_PERIOD: Duration = Duration::from_hours(1);

/// Counts webhooks of the CMS that were refused.
#[derive(Debug, Default)]
pub struct HookRefusals {
    /// By cause.
    pub counts: CounterFamily<HookRefusal>,
    /// When the last warning about each cause was due.
    warned: Mutex<[Option<Instant>; 3]>,
}

impl HookRefusals {
    /// Counts one. Returns whether a warning is due: one for each cause and hour.
    #[must_use]
    pub fn count(&self, cause: HookRefusal, now: Instant) -> bool {
        self.counts.inc(cause);
        let last = &mut self.warned.lock()[cause as usize];
        let is_due = last.is_none_or(|last| now.duration_since(last) >= WARNING_PERIOD);
        if is_due {
            *last = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warning_is_due_once_for_each_cause_and_hour() {
        let (refusals, start) = (HookRefusals::default(), Instant::now());
        let due = |cause, seconds| refusals.count(cause, start + Duration::from_secs(seconds));
        assert!(due(HookRefusal::WrongToken, 0));
        assert!(!due(HookRefusal::WrongToken, 3_599));
        assert!(due(HookRefusal::NoToken, 3_599));
        assert!(due(HookRefusal::WrongToken, 3_600));
        assert!(!due(HookRefusal::WrongToken, 3_601));
        assert_eq!(refusals.counts.total(), 5);
    }
}
