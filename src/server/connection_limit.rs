//! How many connections there may be at a time, and which one gives way to the next.
//!
//! A limit that says nothing must not keep others out for as long as it is given time. So when all
//! seats are slots, the connection that has waited for its client for longest is closed; one that
//! waits for us never is.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::task::Waker;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

/// How long we wait for a slot before another connection is evicted to give way: the first one may
/// have got something to do meanwhile.
const PATIENCE: Duration = Duration::from_millis(50);
/// Who does not read counts as if it had begun to wait so much later: a slow line is no silence.
const READER_HEAD_START: Duration = Duration::from_secs(5);
/// So many that have waited for longest are candidates at a time, because all have to be looked at.
const MAX_CANDIDATES: usize = 64;
/// The connection waits for us.
const BUSY: u64 = u64::MAX;
/// Nobody has evicted the connection to give way.
const NOT_EVICTED: u64 = u64::MAX;

/// All seats.
pub(super) struct ConnectionLimit {
    free: Arc<Semaphore>,
    began: Instant,
    next: AtomicUsize,
    slots: Mutex<HashMap<usize, Arc<SlotState>>>,
    /// Those that waited for longest at the last look, the longest wait last.
    candidates: Mutex<Vec<(u64, Arc<SlotState>)>>,
}

/// What is known of a connection's wait.
#[derive(Debug)]
struct SlotState {
    began: Instant,
    /// Since when it has waited for its client, in nanoseconds from `began`.
    since: AtomicU64,
    /// The wait about which it was evicted to give way, by its beginning.
    evicted: AtomicU64,
    /// Never used up: who asks need not know when the connection looked last.
    task: Mutex<Option<Waker>>,
}

/// The slot of one connection, free again when it is dropped.
pub(super) struct SlotPermit {
    limit: Arc<ConnectionLimit>,
    number: usize,
    slot: Slot,
    _permit: OwnedSemaphorePermit,
}

/// A connection's own view of its slot.
#[derive(Clone, Debug)]
pub(super) struct Slot(Arc<SlotState>);

impl ConnectionLimit {
    /// So many seats.
    pub(super) fn new(seats: usize) -> Arc<Self> {
        Arc::new(Self {
            free: Arc::new(Semaphore::new(seats.min(Semaphore::MAX_PERMITS))),
            began: Instant::now(),
            next: AtomicUsize::new(0),
            slots: Mutex::default(),
            candidates: Mutex::default(),
        })
    }

    /// A slot, as soon as there is one.
    pub(super) async fn acquire(self: &Arc<Self>) -> SlotPermit {
        loop {
            if let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() {
                return self.take(permit);
            }
            self.evict_longest_idle();
            let freed = timeout(PATIENCE, Arc::clone(&self.free).acquire_owned()).await;
            if let Ok(Ok(permit)) = freed {
                return self.take(permit);
            }
        }
    }

    fn take(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> SlotPermit {
        let slot = Slot::new(self.began);
        let number = self.next.fetch_add(1, Relaxed);
        self.slots.lock().insert(number, Arc::clone(&slot.0));
        SlotPermit { limit: Arc::clone(self), number, slot, _permit: permit }
    }

    /// Asks the connection that has waited for longest to give way.
    pub(super) fn evict_longest_idle(&self) {
        let mut candidates = self.candidates.lock();
        if candidates.is_empty() {
            *candidates = self.longest();
        }
        while let Some((since, place)) = candidates.pop() {
            // It may have gone, or got something to do.
            if place.since.load(Relaxed) == since && place.evicted.swap(since, Relaxed) != since {
                // Without one it has yet to look.
                if let Some(task) = place.task.lock().as_ref() {
                    task.wake_by_ref();
                }
                return;
            }
        }
    }

    fn longest(&self) -> Vec<(u64, Arc<SlotState>)> {
        let now = nanoseconds(self.began.elapsed());
        let slots = self.slots.lock();
        let waiting = slots.values().map(|place| (place.since.load(Relaxed), place));
        let mut waiting: Vec<_> = waiting.filter(|(since, _)| *since <= now).collect();
        if waiting.len() > MAX_CANDIDATES {
            waiting.select_nth_unstable_by_key(MAX_CANDIDATES, |(since, _)| *since);
            waiting.truncate(MAX_CANDIDATES);
        }
        waiting.sort_unstable_by_key(|(since, _)| std::cmp::Reverse(*since));
        waiting.into_iter().map(|(since, place)| (since, Arc::clone(place))).collect()
    }
}

impl SlotPermit {
    /// For the connection.
    pub(super) fn slot(&self) -> Slot {
        self.slot.clone()
    }
}

impl Drop for SlotPermit {
    fn drop(&mut self) {
        self.slot.0.since.store(BUSY, Relaxed);
        self.limit.slots.lock().remove(&self.number);
    }
}

impl Slot {
    fn new(began: Instant) -> Self {
        let (since, evicted) = (AtomicU64::new(BUSY), AtomicU64::new(NOT_EVICTED));
        Self(Arc::new(SlotState { began, since, evicted, task: Mutex::default() }))
    }

    /// A slot that nobody else wants.
    #[cfg(test)]
    pub(super) fn alone() -> Self {
        Self::new(Instant::now())
    }

    /// Has this task woken whenever the connection should give way, to its end.
    pub(super) fn register(&self, task: &Waker) {
        *self.0.task.lock() = Some(task.clone());
    }

    /// The connection waits for its client to send something, since then.
    pub(super) fn waits_since(&self, since: Instant) {
        self.0.since.store(nanoseconds(since.duration_since(self.0.began)), Relaxed);
    }

    /// The connection waits for its client to read, since then.
    pub(super) fn unread_since(&self, since: Instant) {
        self.waits_since(since + READER_HEAD_START);
    }

    /// The connection waits for us.
    pub(super) fn is_busy(&self) {
        self.0.since.store(BUSY, Relaxed);
    }

    /// Whether the connection should give way: it was evicted to, and still waits as it did then.
    pub(super) fn is_evicted(&self) -> bool {
        // Hardly ever: a look is cheaper than a change.
        self.0.evicted.load(Relaxed) != NOT_EVICTED
            && self.0.evicted.swap(NOT_EVICTED, Relaxed) == self.0.since.load(Relaxed)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(BUSY - 1)
}

#[cfg(test)]
mod tests {
    use std::task::Wake;

    use futures::FutureExt;

    use super::*;

    /// A task that counts how often it is woken.
    #[derive(Default)]
    struct Task(AtomicUsize);

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    fn acquire(limit: &Arc<ConnectionLimit>) -> SlotPermit {
        limit.acquire().now_or_never().expect("there is room")
    }

    #[tokio::test]
    async fn who_has_waited_for_longest_is_evicted() {
        let limit = ConnectionLimit::new(4);
        let slots: Vec<_> = (0..4).map(|_| acquire(&limit)).collect();
        let second = Duration::from_secs(1);
        let now = limit.began;
        slots[0].slot().waits_since(now);
        slots[1].slot().waits_since(now);
        // The earliest of all, but busy again.
        slots[2].slot().waits_since(now);
        slots[2].slot().is_busy();
        slots[3].slot().unread_since(now);
        slots[0].slot().waits_since(now + Duration::from_nanos(1));
        let way = || slots.iter().map(|slots| slots.slot.is_evicted()).collect::<Vec<_>>();
        tokio::time::sleep(Duration::from_millis(1)).await;
        limit.evict_longest_idle();
        assert_eq!(way(), [false, true, false, false]);
        slots[1].slot().is_busy();
        limit.evict_longest_idle();
        assert_eq!(way(), [true, false, false, false]);
        slots[0].slot().waits_since(now + 100 * second);
        limit.evict_longest_idle();
        assert_eq!(way(), [false; 4], "the slow reader has time");
    }

    #[tokio::test]
    async fn a_seat_is_free_when_its_connection_has_gone() {
        let limit = ConnectionLimit::new(1);
        let first = acquire(&limit);
        first.slot().waits_since(limit.began);
        let mut next = Box::pin(limit.acquire());
        assert!(next.as_mut().now_or_never().is_none());
        assert!(first.slot.is_evicted());
        assert!(!first.slot.is_evicted(), "it is evicted once");
        drop(first);
        drop(next.await);
        assert!(limit.slots.lock().is_empty());
    }

    #[tokio::test]
    async fn who_was_busy_when_asked_hears_the_next_time_as_well() {
        let limit = ConnectionLimit::new(1);
        let (slots, task) = (acquire(&limit), Arc::new(Task::default()));
        let slot = slots.slot();
        let times = [limit.began, limit.began + Duration::from_nanos(1), Instant::now()];
        tokio::time::sleep(Duration::from_millis(1)).await;
        slot.register(&Waker::from(Arc::clone(&task)));
        for (n, since) in times.into_iter().enumerate() {
            slot.waits_since(since);
            limit.evict_longest_idle();
            assert_eq!(task.0.load(Relaxed), n + 1, "it is woken");
            // The next request came first.
            slot.is_busy();
            assert!(!slot.is_evicted());
        }
        slot.waits_since(times[0]);
        assert!(!slot.is_evicted(), "nobody has evicted since");
        limit.evict_longest_idle();
        // Another wait than the one that was evicted about.
        slot.waits_since(times[1]);
        assert!(!slot.is_evicted());
        limit.evict_longest_idle();
        assert!(slot.is_evicted());
    }
}
