//! Warns of documents that a request needs and the CMS does not return.

use std::time::Instant;

use super::App;
use frontend_map_cms::ContentError;

/// Logs that documents could not be read: a warning, if one is due for the content type and what clients
/// are told, which has no text of a request or of the CMS. The open circuit breaker, which refuses
/// requests, has logged that it is open.
pub fn log_unread_documents(app: &App, uid: &str, error: &ContentError) {
    let cause = app.snapshots.content().detail(error);
    if matches!(error, ContentError::CircuitOpen { .. }) {
        tracing::debug!(uid, error = cause, "documents were not read: the circuit breaker is open");
    } else if app.unread_documents.is_due((uid.to_owned(), error.to_string()), Instant::now()) {
        tracing::warn!(uid, error = cause, "documents could not be read");
    } else {
        tracing::debug!(uid, error = cause, "documents could not be read again");
    }
}
