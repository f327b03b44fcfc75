//! Warns of documents that a request needs and the CMS does not return: once for each cause and hour,
//! however many clients ask.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::App;
use frontend_map_cms::ContentError;

/// The time between two warnings about one cause.
const WARNING_PERIOD: Duration = Duration::from_hours(1);

/// When the last warning about each content type and cause was due.
#[derive(Debug, Default)]
pub struct UnreadDocuments(Mutex<HashMap<(String, String), Instant>>);

impl UnreadDocuments {
    fn is_due(&self, uid: &str, cause: &str, now: Instant) -> bool {
        let (mut warned, cause) = (self.0.lock(), (uid.to_owned(), cause.to_owned()));
        warned.retain(|_, last| now.duration_since(*last) < WARNING_PERIOD);
        let is_due = !warned.contains_key(&cause);
        if is_due {
            warned.insert(cause, now);
        }
        is_due
    }
}

/// Logs that documents could not be read: a warning, if one is due. The open circuit breaker, which
/// refuses requests, has logged that it is open.
pub fn log_unread_documents(app: &App, uid: &str, error: &ContentError) {
    let cause = app.snapshots.content().detail(error);
    if matches!(error, ContentError::CircuitOpen { .. }) {
        tracing::debug!(uid, error = cause, "documents were not read: the circuit breaker is open");
    } else if app.unread_documents.is_due(uid, &cause, Instant::now()) {
        tracing::warn!(uid, error = cause, "documents could not be read");
    } else {
        tracing::debug!(uid, error = cause, "documents could not be read again");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warning_is_due_once_for_each_type_and_cause_and_hour() {
        let (unread, start) = (UnreadDocuments::default(), Instant::now());
        let (page, news) = ("api::page.page", "api::news.news");
        let due =
            |uid, cause, seconds| unread.is_due(uid, cause, start + Duration::from_secs(seconds));
        assert!(due(page, "401", 0));
        assert!(!due(page, "401", 3_599));
        assert!(due(page, "403", 3_599));
        assert!(due(news, "401", 3_599));
        assert!(due(page, "401", 3_600));
        assert!(!due(page, "401", 3_601));
        assert_eq!(unread.0.lock().len(), 3);
    }
}
