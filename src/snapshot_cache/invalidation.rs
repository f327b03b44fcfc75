//! Invalidations: news that the CMS may have changed, debounced so that many at once cause one
//! round of refreshes.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::timeout;

/// The quiet period after the last invalidation before the refreshes start.
const QUIET_PERIOD: Duration = Duration::from_millis(200);
/// The maximum delay after the first one: without it, continuous edits would delay refreshes for ever.
const MAX_DELAY: Duration = Duration::from_secs(1);
/// At most this many documents are updated one by one. If more change at once, a walk is faster.
const MAX_DOCUMENTS: usize = 64;

/// A document that may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalidation {
    /// Its content type.
    pub uid: String,
    /// Its `documentId`, of the form that D20 allows.
    pub document_id: String,
}

/// Pending invalidations, for which no refresh has started yet.
#[derive(Default)]
pub(super) struct Invalidations {
    added: Notify,
    documents: Mutex<Vec<Invalidation>>,
}

impl Invalidations {
    /// Adds one; `None`: any document may have changed.
    pub(super) fn add(&self, invalidation: Option<Invalidation>) {
        if let Some(invalidation) = invalidation {
            let mut documents = self.documents.lock();
            if documents.len() <= MAX_DOCUMENTS && !documents.contains(&invalidation) {
                documents.push(invalidation);
            }
        }
        self.added.notify_one();
    }

    /// Waits for the next invalidations until the quiet period or the maximum delay is over. Returns
    /// the documents that they name; none if these are too many.
    pub(super) async fn next_batch(&self) -> Vec<Invalidation> {
        self.added.notified().await;
        let quiet = async { while timeout(QUIET_PERIOD, self.added.notified()).await.is_ok() {} };
        let _ = timeout(MAX_DELAY, quiet).await;
        let documents = std::mem::take(&mut *self.documents.lock());
        if documents.len() > MAX_DOCUMENTS { Vec::new() } else { documents }
    }
}
