//! Pages of a list of dependents that fail.
//!
//! While Strapi publishes a document that thousands of others read, it responds to nothing for
//! seconds. A list of a hundred pages that began again each time would never end while editors work,
//! so the page that failed is requested again. The proof does not depend on the time between pages.

use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};

use super::scope::WalkScope;
use crate::strapi::fetch::ListReply;
use crate::{ContentError, Selection};
use frontend_map_rules::Locale;

/// From a failure to the next request.
const PAUSE: Duration = Duration::from_millis(500);

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
    match error {
        ContentError::Unavailable { .. }
        | ContentError::CircuitOpen { .. }
        | ContentError::TimedOut => true,
        ContentError::TypeFails { .. }
        | ContentError::TlsFailed
        | ContentError::Unusable(_)
        | ContentError::Redirected(_)
        | ContentError::Setup(_) => false,
    }
}
