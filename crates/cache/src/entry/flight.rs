//! Single-flight: one refresh in flight, and the waiters that share its outcome.

use std::sync::Arc;

use tokio::sync::watch;

use crate::cached_snapshot::CachedSnapshot;
use frontend_map_cms::{ContentError, Outage};

/// The outcome of a refresh, shared by all of its waiters.
pub(crate) type Outcome = Result<CachedSnapshot, ContentError>;

/// A refresh in flight. If it is dropped without an outcome, it was abandoned.
pub(crate) struct Flight(watch::Sender<Option<Outcome>>);

/// Waits for the outcome of a flight.
pub(crate) struct Waiter(watch::Receiver<Option<Outcome>>);

impl Flight {
    /// A flight with its first waiter.
    pub(crate) fn new() -> (Arc<Self>, Waiter) {
        let (outcome, waiter) = watch::channel(None);
        (Arc::new(Self(outcome)), Waiter(waiter))
    }

    /// One more waiter.
    pub(crate) fn join(&self) -> Waiter {
        Waiter(self.0.subscribe())
    }

    /// Sends the outcome to all waiters.
    pub(crate) fn complete(&self, outcome: Outcome) {
        self.0.send_replace(Some(outcome));
    }

    /// Returns when there are no waiters. New ones may appear until the caller checks under a lock.
    pub(crate) async fn no_waiters(&self) {
        self.0.closed().await;
    }

    pub(crate) fn has_waiters(&self) -> bool {
        !self.0.is_closed()
    }
}

impl Waiter {
    /// A waiter that need not wait.
    pub(crate) fn completed(cached: CachedSnapshot) -> Self {
        Self(watch::channel(Some(Ok(cached))).1)
    }

    /// Waits for the outcome.
    ///
    /// # Errors
    /// The flight's own, or [`ContentError::Unavailable`] if its task has panicked.
    pub(crate) async fn outcome(mut self) -> Outcome {
        let panicked = Err(ContentError::unavailable(Outage::Aborted));
        let outcome = self.0.wait_for(Option::is_some).await;
        outcome.map_or(panicked, |outcome| outcome.clone().expect("it was waited for"))
    }
}
