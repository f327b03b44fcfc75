//! The queue of an update loop: pending invalidations, one for each document, debounced so that
//! many at once cause one round. Invalidations whose documents could not be read wait in it until
//! they are due again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{sleep_until, timeout};

use super::PendingInvalidation;

/// The quiet period after the last invalidation before a round starts.
const QUIET_PERIOD: Duration = Duration::from_millis(200);
/// The quiet period where no round has started for `MAX_DELAY`: a single change is read before the
/// next one may keep the CMS from responding. The events of one change follow each other faster.
const FIRST_QUIET_PERIOD: Duration = Duration::from_millis(50);
/// The maximum delay after the first one: without it, continuous edits would delay updates for ever.
const MAX_DELAY: Duration = Duration::from_secs(1);
/// The pauses before an invalidation is tried again, in seconds.
const PAUSES: [u64; 6] = [1, 2, 4, 8, 16, 30];
/// At most this many documents are kept; a queue with more overflows.
const MAX_DOCUMENTS: usize = 20_000;

/// The invalidations of one round.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// One for each document.
    pub(crate) invalidations: Vec<PendingInvalidation>,
    /// Whether other documents may have changed, too.
    pub(crate) is_overflow: bool,
}

/// Invalidations for which no round has started yet.
#[derive(Default)]
pub(crate) struct InvalidationQueue {
    added: Notify,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    /// By content type and `documentId`. With a time: tried again from then on.
    invalidations: HashMap<(String, String), (Option<Instant>, PendingInvalidation)>,
    is_overflow: bool,
    /// When the last round started.
    last_round: Option<Instant>,
}

/// Waits for a signal, and then until the quiet period or the maximum delay is over.
pub(crate) async fn debounced(signal: &Notify) {
    signal.notified().await;
    quiet(signal, QUIET_PERIOD).await;
}

/// Waits until there is no signal for this time, or the maximum delay is over.
async fn quiet(signal: &Notify, period: Duration) {
    let quiet = async { while timeout(period, signal.notified()).await.is_ok() {} };
    let _ = timeout(MAX_DELAY, quiet).await;
}

fn quiet_period(last_round: Option<Instant>, now: Instant) -> Duration {
    match last_round {
        Some(last) if now < last + MAX_DELAY => QUIET_PERIOD,
        _ => FIRST_QUIET_PERIOD,
    }
}

impl InvalidationQueue {
    pub(crate) fn add(&self, pending: PendingInvalidation) {
        self.waiting.lock().add(None, pending);
        self.added.notify_one();
    }

    /// Records that documents without an invalidation may have changed.
    pub(crate) fn overflow(&self) {
        self.waiting.lock().is_overflow = true;
        self.added.notify_one();
    }

    /// Keeps an invalidation whose documents could not be read. While the circuit breaker is open
    /// it is due at once, because rounds wait for the breaker. `false`: it has failed too often,
    /// and a walk has to follow.
    pub(crate) fn try_again(&self, mut pending: PendingInvalidation, is_open: bool) -> bool {
        let Some(pause) = PAUSES.get(pending.attempts) else { return false };
        pending.attempts += 1;
        let pause = if is_open { 0 } else { *pause };
        self.waiting.lock().add(Some(Instant::now() + Duration::from_secs(pause)), pending);
        true
    }

    /// Keeps an invalidation whose documents were not requested, until this time.
    pub(crate) fn postpone(&self, pending: PendingInvalidation, until: Instant) {
        self.waiting.lock().add(Some(until), pending);
    }

    /// Waits until something was added, without debounce.
    pub(super) async fn added(&self) {
        self.added.notified().await;
    }

    /// Waits for new invalidations, debounced, or until one is due again.
    pub(crate) async fn ready(&self) {
        let due = self.waiting.lock().invalidations.values().filter_map(|(due, _)| *due).min();
        let retry = async {
            match due {
                Some(due) => sleep_until(due.into()).await,
                None => std::future::pending().await,
            }
        };
        let debounced = async {
            self.added.notified().await;
            let last_round = self.waiting.lock().last_round;
            quiet(&self.added, quiet_period(last_round, Instant::now())).await;
        };
        tokio::select! {
            () = debounced => {}
            () = retry => {}
        }
    }

    /// Takes the invalidations that are due.
    pub(crate) fn take(&self) -> Batch {
        let now = Instant::now();
        let mut waiting = self.waiting.lock();
        let due = waiting.invalidations.extract_if(|_, (due, _)| due.is_none_or(|due| due <= now));
        let invalidations: Vec<PendingInvalidation> =
            due.map(|(_, (_, pending))| pending).collect();
        if !invalidations.is_empty() {
            waiting.last_round = Some(now);
        }
        Batch { invalidations, is_overflow: std::mem::take(&mut waiting.is_overflow) }
    }
}

impl Waiting {
    fn add(&mut self, due: Option<Instant>, pending: PendingInvalidation) {
        let key = (pending.invalidation.uid.clone(), pending.invalidation.document_id.clone());
        let is_full = self.invalidations.len() >= MAX_DOCUMENTS;
        match self.invalidations.get_mut(&key) {
            Some((earlier, known)) => {
                // New invalidations come first: `None` is less than any time.
                *earlier = due.min(*earlier);
                known.add(&pending);
            }
            None if is_full => self.is_overflow = true,
            None => drop(self.invalidations.insert(key, (due, pending))),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;
    use crate::invalidation::Invalidation;

    fn pending(id: &str, is_withdrawn: bool) -> PendingInvalidation {
        let (uid, document_id) = ("api::a.a".to_owned(), id.to_owned());
        PendingInvalidation::new(Invalidation { uid, document_id, is_withdrawn }, None)
    }

    fn taken(queue: &InvalidationQueue) -> Vec<PendingInvalidation> {
        queue.take().invalidations
    }

    #[test]
    fn document_has_one_invalidation_which_says_written_if_any_does() {
        let queue = InvalidationQueue::default();
        for is_withdrawn in [false, true] {
            queue.add(pending("a", is_withdrawn));
        }
        let first = taken(&queue);
        assert_eq!(first.len(), 1);
        assert!(!first[0].invalidation.is_withdrawn);
        assert!(taken(&queue).is_empty());
        queue.add(pending("a", true));
        assert!(taken(&queue)[0].invalidation.is_withdrawn);
    }

    #[tokio::test]
    async fn failed_invalidation_waits_unless_the_circuit_is_open_or_a_newer_one_arrives() {
        let queue = InvalidationQueue::default();
        let failed = || pending("a", false);
        assert!(queue.try_again(failed(), false));
        assert!(taken(&queue).is_empty() && queue.ready().now_or_never().is_none());
        queue.add(failed());
        assert_eq!(taken(&queue).len(), 1, "the newer one and the older one are one");
        assert!(queue.try_again(failed(), true));
        assert_eq!(taken(&queue).len(), 1);
        queue.postpone(failed(), Instant::now());
        assert_eq!(taken(&queue).len(), 1);
    }

    #[test]
    fn quiet_period_is_shorter_where_no_round_has_started_for_a_second() {
        let start = Instant::now();
        assert_eq!(quiet_period(None, start), FIRST_QUIET_PERIOD);
        for (after, expected) in
            [(0, QUIET_PERIOD), (999, QUIET_PERIOD), (1_000, FIRST_QUIET_PERIOD)]
        {
            let now = start + Duration::from_millis(after);
            assert_eq!(quiet_period(Some(start), now), expected, "{after}");
        }
    }

    #[test]
    fn invalidation_fails_for_good_after_each_pause_but_not_by_waiting_for_the_circuit() {
        let queue = InvalidationQueue::default();
        queue.add(pending("a", false));
        for _ in PAUSES {
            for _ in 0..10 {
                queue.postpone(taken(&queue).remove(0), Instant::now());
            }
            assert!(queue.try_again(taken(&queue).remove(0), true));
        }
        assert!(!queue.try_again(taken(&queue).remove(0), true));
    }

    #[test]
    fn full_queue_overflows() {
        let queue = InvalidationQueue::default();
        for n in 0..MAX_DOCUMENTS {
            queue.add(pending(&n.to_string(), false));
        }
        queue.add(pending("0", false));
        assert!(!queue.waiting.lock().is_overflow);
        queue.add(pending("x", false));
        let batch = queue.take();
        assert!(batch.is_overflow && batch.invalidations.len() == MAX_DOCUMENTS);
        assert!(!queue.take().is_overflow);
    }
}
