//! Single-flight: one refresh in flight, and the waiters that share its outcome.

use std::sync::Arc;

use tokio::sync::watch;

use crate::content::{ContentError, Outage};
use crate::snapshot_cache::copy::CachedCopy;

/// The outcome of a refresh, shared by all of its waiters.
pub(in crate::snapshot_cache) type Outcome = Result<CachedCopy, ContentError>;

/// A refresh in flight. If it is dropped without an outcome, its task has panicked.
pub(in crate::snapshot_cache) struct Flight(watch::Sender<Option<Outcome>>);

/// Waits for the outcome of a flight.
pub(in crate::snapshot_cache) struct Waiter(watch::Receiver<Option<Outcome>>);

impl Flight {
    /// A flight with its first waiter.
    pub(in crate::snapshot_cache) fn new() -> (Arc<Self>, Waiter) {
        let (outcome, waiter) = watch::channel(None);
        (Arc::new(Self(outcome)), Waiter(waiter))
    }

    /// One more waiter.
    pub(in crate::snapshot_cache) fn join(&self) -> Waiter {
        Waiter(self.0.subscribe())
    }

    /// Sends the outcome to all waiters.
    pub(in crate::snapshot_cache) fn complete(&self, outcome: Outcome) {
        self.0.send_replace(Some(outcome));
    }

    /// Returns when there are no waiters. New ones may appear until the caller checks under a lock.
    pub(in crate::snapshot_cache) async fn no_waiters(&self) {
        self.0.closed().await;
    }

    pub(in crate::snapshot_cache) fn has_waiters(&self) -> bool {
        !self.0.is_closed()
    }
}

impl Waiter {
    /// Waits for the outcome.
    ///
    /// # Errors
    /// The flight's own, or [`ContentError::Unavailable`] if its task has panicked.
    pub(in crate::snapshot_cache) async fn outcome(mut self) -> Outcome {
        let panicked = Err(ContentError::unavailable(Outage::Aborted));
        let outcome = self.0.wait_for(Option::is_some).await;
        outcome.map_or(panicked, |outcome| outcome.clone().expect("it was waited for"))
    }
}
