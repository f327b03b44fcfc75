//! Hints that something has changed in the CMS: gathered while they rain, then followed at once.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::app::App;

/// How long hints have to pause before they are followed, and how long they may go on.
const QUIET: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(1);
/// So many documents are read one by one. When more change at once, walks are quicker.
const MOST_DOCUMENTS: usize = 64;

/// The document that a hint is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Its content type.
    pub uid: String,
    /// Its `documentId`, of the shape of D20.
    pub document_id: String,
}

/// Hints that nobody has followed yet.
#[derive(Default)]
pub(in crate::app) struct Hints {
    told: Notify,
    documents: Mutex<Vec<Hint>>,
}

impl Hints {
    fn add(&self, hint: Option<Hint>) {
        if let Some(hint) = hint {
            let mut documents = self.documents.lock();
            if documents.len() <= MOST_DOCUMENTS && !documents.contains(&hint) {
                documents.push(hint);
            }
        }
        self.told.notify_one();
    }

    /// Waits for the next hints, and until they pause. Says which documents they name; none where
    /// these are too many.
    async fn next(&self) -> Vec<Hint> {
        self.told.notified().await;
        let calm = async { while timeout(QUIET, self.told.notified()).await.is_ok() {} };
        // Editors who never pause must not keep the copies old.
        let _ = timeout(LONGEST, calm).await;
        let mut documents = self.documents.lock();
        let hinted = std::mem::take(&mut *documents);
        if hinted.len() > MOST_DOCUMENTS { Vec::new() } else { hinted }
    }
}

impl App {
    /// Something in the CMS may have changed: this document, or nobody knows what.
    pub fn hint(&self, hint: Option<Hint>) {
        self.lasting.documents.forget(hint.as_ref());
        self.lasting.hints.add(hint);
    }

    /// Refreshes all copies of the app that is the current one after hints, until it is dropped.
    /// Who publishes ten documents causes one round, not ten. The documents that are named come
    /// first, one by one, because a walk over a large type takes minutes; the walks follow, because
    /// others may have changed with them.
    ///
    /// Who reloads the settings meanwhile loses no hint: a place that the next app has taken over
    /// is seen to here, and the first walk of a new one begins after the hint.
    pub async fn follow_hints(current: impl Fn() -> Arc<Self>) {
        let lasting = Arc::clone(current().lasting());
        loop {
            let hints = lasting.hints.next().await;
            if current().follow(&hints).await {
                // Another one may be in use by now, with other limits.
                current().launch_known();
            }
        }
    }

    /// Says whether walks should follow.
    async fn follow(self: Arc<Self>, hints: &[Hint]) -> bool {
        if !self.content.may_change() {
            return false;
        }
        tracing::debug!("something may have changed in the CMS");
        for slot in self.snapshots.all() {
            slot.outdate();
        }
        if self.content.circuit_open().is_some() {
            // Who keeps the copies walks when it answers again.
            self.lasting.landed.notify_one();
            return false;
        }
        self.reread(hints).await;
        true
    }

    /// Refreshes the copies that there are.
    fn launch_known(self: &Arc<Self>) {
        for slot in self.snapshots.all().filter(|slot| slot.kept().is_some()) {
            self.launch(slot);
        }
    }
}
