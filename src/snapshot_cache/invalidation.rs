//! Invalidations: hints that documents have changed, debounced so that many at once cause one round of
//! updates. A hint whose documents could not be read is kept until they can.

mod relation_targets;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{sleep_until, timeout};

use crate::rules::ContentTypeUid;

pub(super) use relation_targets::RelationTargets;

/// The quiet period after the last invalidation before the updates start.
const QUIET_PERIOD: Duration = Duration::from_millis(200);
/// The maximum delay after the first one: without it, continuous edits would delay updates for ever.
const MAX_DELAY: Duration = Duration::from_secs(1);
/// The pauses before a hint is tried again, in seconds.
const PAUSES: [u64; 6] = [1, 2, 4, 8, 16, 30];
/// The pause while the circuit breaker lets no request through.
const CIRCUIT_PAUSE: Duration = Duration::from_millis(500);
/// At most this many documents are kept. If more change at once, everything counts as changed.
const MAX_DOCUMENTS: usize = 20_000;

/// A document that may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalidation {
    /// Its content type.
    pub uid: String,
    /// Its `documentId`, of the form that D20 allows.
    pub document_id: String,
    /// What happened to it.
    pub change: Change,
}

/// What happened to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It may have other values, or may be published.
    Written,
    /// A version was unpublished or deleted.
    Withdrawn,
}

/// A document that may have changed, for which updates are due.
#[derive(Clone, Debug)]
pub(super) struct Hint {
    pub(super) invalidation: Invalidation,
    /// When the last webhook named it.
    pub(super) at: Instant,
    /// The content type whose copies lack the change; `None`: any.
    pub(super) only: Option<ContentTypeUid>,
    /// How often reading the documents has failed.
    attempts: usize,
}

/// The hints of one round.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// One for each document, and for each that has failed and is due again.
    pub(super) hints: Vec<Hint>,
    /// Whether anything may have changed.
    pub(super) is_anything: bool,
}

/// Pending invalidations, for which no update has started yet.
#[derive(Default)]
pub(super) struct Invalidations {
    added: Notify,
    pending: Mutex<Pending>,
}

#[derive(Default)]
struct Pending {
    hints: HashMap<(String, String), Hint>,
    is_anything: bool,
    /// Hints that are tried again, each with the time for it.
    postponed: Vec<(Instant, Hint)>,
}

impl Invalidations {
    /// Adds one; `None`: any document may have changed.
    pub(super) fn add(&self, invalidation: Option<Invalidation>) {
        self.pending.lock().add(invalidation);
        self.added.notify_one();
    }

    /// Keeps a hint whose documents could not be read. `false`: it has failed too often, and a walk
    /// has to follow.
    pub(super) fn try_again(&self, mut hint: Hint, uid: &ContentTypeUid) -> bool {
        let Some(pause) = PAUSES.get(hint.attempts) else { return false };
        hint.attempts += 1;
        hint.only = Some(uid.clone());
        self.postpone(Duration::from_secs(*pause), hint)
    }

    /// Keeps hints until the CMS is available again. `false`: they are too many.
    pub(super) fn wait_for_circuit(&self, hints: Vec<Hint>) -> bool {
        hints.into_iter().all(|hint| self.postpone(CIRCUIT_PAUSE, hint))
    }

    fn postpone(&self, pause: Duration, hint: Hint) -> bool {
        let mut pending = self.pending.lock();
        let has_room = pending.postponed.len() < MAX_DOCUMENTS;
        if has_room {
            pending.postponed.push((Instant::now() + pause, hint));
        }
        has_room
    }

    /// Waits for the next invalidations until the quiet period or the maximum delay is over, or for
    /// a hint that is due again.
    pub(super) async fn next_batch(&self) -> Batch {
        let due = self.pending.lock().postponed.iter().map(|(due, _)| *due).min();
        let retry = async {
            match due {
                Some(due) => sleep_until(due.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.added.notified() => {
                let quiet =
                    async { while timeout(QUIET_PERIOD, self.added.notified()).await.is_ok() {} };
                let _ = timeout(MAX_DELAY, quiet).await;
            }
            () = retry => {}
        }
        self.pending.lock().take()
    }
}

impl Pending {
    fn add(&mut self, invalidation: Option<Invalidation>) {
        let Some(invalidation) = invalidation else {
            self.is_anything = true;
            return;
        };
        let key = (invalidation.uid.clone(), invalidation.document_id.clone());
        if self.hints.len() >= MAX_DOCUMENTS && !self.hints.contains_key(&key) {
            self.is_anything = true;
            return;
        }
        let change = invalidation.change;
        let new = Hint { invalidation, at: Instant::now(), only: None, attempts: 0 };
        let hint = self.hints.entry(key).or_insert_with(|| new.clone());
        hint.at = new.at;
        if change == Change::Written {
            // Versions may have been withdrawn besides, which does no harm.
            hint.invalidation.change = Change::Written;
        }
    }

    fn take(&mut self) -> Batch {
        let now = Instant::now();
        let (due, later) = self.postponed.drain(..).partition(|(due, _)| *due <= now);
        self.postponed = later;
        let due: Vec<(Instant, Hint)> = due;
        let mut hints: Vec<Hint> = self.hints.drain().map(|(_, hint)| hint).collect();
        hints.extend(due.into_iter().map(|(_, hint)| hint));
        Batch { hints, is_anything: std::mem::take(&mut self.is_anything) }
    }
}
