//! Invalidations: news that the CMS may have changed, debounced so that many at once cause one
//! round of refreshes.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::timeout;

/// The quiet period after the last invalidation before they are followed.
const QUIET_PERIOD: Duration = Duration::from_millis(200);
/// The maximum delay after the first one: editors that never pause must not keep the copies old.
const MAX_DELAY: Duration = Duration::from_secs(1);
/// So many documents are updated one by one. When more change at once, a walk is quicker.
const MAX_DOCUMENTS: usize = 64;

/// A document that may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalidation {
    /// Its content type.
    pub uid: String,
    /// Its `documentId`, of the form that D20 allows.
    pub document_id: String,
}

/// Invalidations that no refresh has followed yet.
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

    /// Waits for the next invalidations until the quiet period or the maximum delay is over. Gives
    /// the documents that they name; none if these are too many.
    pub(super) async fn next_batch(&self) -> Vec<Invalidation> {
        self.added.notified().await;
        let quiet = async { while timeout(QUIET_PERIOD, self.added.notified()).await.is_ok() {} };
        let _ = timeout(MAX_DELAY, quiet).await;
        let documents = std::mem::take(&mut *self.documents.lock());
        if documents.len() > MAX_DOCUMENTS { Vec::new() } else { documents }
    }
}
