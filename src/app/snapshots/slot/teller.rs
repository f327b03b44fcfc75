//! A walk under way, and those who wait for it.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::watch;

use super::{Landing, Outcome};

/// Who walks tells them. Dropped without a word, the walk has panicked.
pub(in crate::app::snapshots) struct Teller {
    outcome: watch::Sender<Option<Outcome>>,
    /// Whether it is for nobody else any more.
    alone: watch::Sender<bool>,
    /// Which of the clients of the CMS it asks, counted from the start of the process.
    pub(super) client: u64,
    pub(super) begun: Instant,
}

impl Teller {
    pub(super) fn new(client: u64, alone: bool) -> (Arc<Self>, Landing) {
        let (outcome, landing) = watch::channel(None);
        let alone = watch::Sender::new(alone);
        (Arc::new(Self { outcome, alone, client, begun: Instant::now() }), landing)
    }

    pub(super) fn join(&self) -> Landing {
        self.outcome.subscribe()
    }

    /// From now on it is only for those who wait for it.
    pub(super) fn leave_alone(&self) {
        self.alone.send_replace(true);
    }

    pub(super) fn is_alone(&self) -> bool {
        *self.alone.borrow()
    }

    /// Waits until nobody wants it any more.
    pub(super) async fn unwanted(&self) {
        // The sender is ours, and is never closed.
        let _ = self.alone.subscribe().wait_for(|alone| *alone).await;
        self.outcome.closed().await;
    }

    pub(super) fn is_unwanted(&self) -> bool {
        self.outcome.is_closed()
    }

    /// Tells all who wait.
    pub(in crate::app::snapshots) fn tell(&self, outcome: Outcome) {
        self.outcome.send_replace(Some(outcome));
    }
}
