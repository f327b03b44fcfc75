//! Pages of a list of dependents that fail.
//!
//! While Strapi publishes a document that thousands of others read, it responds to nothing for
//! seconds. A list of a hundred pages that began again each time would never end while editors work,
//! so the page that failed is requested again. The proof does not depend on the time between pages.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::time::{sleep, timeout};

use super::WalkScope;
use crate::strapi::fetch::ListReply;
use crate::{ContentError, Selection};
use frontend_map_rules::Locale;

/// From a failure to the next request.
const PAUSE: Duration = Duration::from_millis(500);
/// How long the pages of a walk may fail, all of them together.
const LIMIT: Duration = Duration::from_mins(1);

/// A page or a total of a walk. Those of a list of dependents are requested again after an outage:
/// no client waits for it, unlike for documents that are selected by their ids.
pub(super) async fn list(
    scope: WalkScope<'_>,
    locale: Option<&Locale>,
    query_string: impl Fn(Option<&Locale>) -> String,
) -> Result<ListReply, ContentError> {
    let WalkScope { strapi, query, resolved, failures, .. } = scope;
    let is_of_dependents =
        matches!(query.selection, Some(Selection::Dependents { .. } | Selection::Unrelated(_)));
    let mut failing: Option<Instant> = None;
    loop {
        let _permit = scope.permit().await;
        let error = match strapi.list(resolved, locale, &query_string).await {
            Ok(reply) => {
                failures.add(failing.map_or(Duration::ZERO, |since| since.elapsed()));
                return Ok(reply);
            }
            Err(error) => error,
        };
        let since = failing.get_or_insert_with(Instant::now);
        if !is_of_dependents || !is_outage(&error) || !failures.may_retry(since.elapsed()) {
            return Err(error);
        }
        if strapi.client.circuit_open().is_some() {
            let _ = timeout(PAUSE, strapi.client.watch_breaker().changed()).await;
        } else {
            sleep(PAUSE).await;
        }
    }
}

fn is_outage(error: &ContentError) -> bool {
    // A handshake that fails does so again.
    error.is_without_response() && *error != ContentError::TlsFailed
}

/// The sum of the times for which pages of a walk had failed when they were read at last.
#[derive(Debug, Default)]
pub(super) struct Failures(Mutex<Duration>);

impl Failures {
    /// Whether a page that has failed for this long may be requested again.
    pub(super) fn may_retry(&self, failing: Duration) -> bool {
        *self.0.lock() + failing < LIMIT
    }

    /// Records that a page was read which had failed for this long.
    pub(super) fn add(&self, failing: Duration) {
        *self.0.lock() += failing;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_walk_fail_for_a_minute_together() {
        let failures = Failures::default();
        let seconds = Duration::from_secs;
        assert!(failures.may_retry(seconds(59)) && !failures.may_retry(seconds(60)));
        failures.add(seconds(40));
        assert!(failures.may_retry(seconds(19)) && !failures.may_retry(seconds(20)));
        failures.add(seconds(0));
        failures.add(seconds(20));
        assert!(!failures.may_retry(seconds(0)));
    }
}
