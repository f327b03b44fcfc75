//! The connection limit: how many connections are open at a time, and which one is evicted for the
//! next.
//!
//! Silent clients must not keep others out until their timeouts fire. So when all slots are in use,
//! the connection that has waited longest for its client is evicted. A connection whose client
//! waits for a response is never evicted.
//!
//! Here a connection is idle whenever it waits for its client: for a head, a body, the next request,
//! or for the client to read. `Phase::Idle` is only the wait for the next request.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::task::Waker;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

/// How long to wait for a slot before another connection is evicted as well: the first one may have
/// received a request in the meantime, which cancels its eviction.
const EVICTION_PAUSE: Duration = Duration::from_millis(50);
/// The wait for a client that does not read is counted from this much later: a slow network is not
/// silence.
const READER_ALLOWANCE: Duration = Duration::from_secs(5);
/// How many candidates for eviction one search collects: a search scans all connections.
const MAX_CANDIDATES: usize = 64;
/// In [`SlotState::idle_since`]: the client waits for a response.
const BUSY: u64 = u64::MAX;
/// In [`SlotState::evicted_wait`]: the connection is not to be evicted.
const NOT_EVICTED: u64 = u64::MAX;

/// The slots of a listener's connections.
pub(super) struct ConnectionLimit {
    free: Arc<Semaphore>,
    started: Instant,
    next_number: AtomicUsize,
    slots: Mutex<HashMap<usize, Arc<SlotState>>>,
    /// The remaining candidates of the last search, each with the start of its wait; the longest wait
    /// is the last item.
    candidates: Mutex<Vec<(u64, Arc<SlotState>)>>,
}

/// The state of one connection as far as the limit needs it.
#[derive(Debug)]
struct SlotState {
    /// When the limit was created; times are relative to it.
    started: Instant,
    /// The time since which the connection has waited for its client, in nanoseconds; or [`BUSY`].
    idle_since: AtomicU64,
    /// The start of the wait for which the connection is to be evicted; or [`NOT_EVICTED`].
    evicted_wait: AtomicU64,
    /// Wakes the connection's task. It is registered once for the life of the connection.
    task: Mutex<Option<Waker>>,
}

/// Owns the slot of one connection; dropping it frees the slot.
pub(super) struct SlotPermit {
    limit: Arc<ConnectionLimit>,
    number: usize,
    slot: Slot,
    _permit: OwnedSemaphorePermit,
}

/// A connection's handle to its slot.
#[derive(Clone, Debug)]
pub(super) struct Slot(Arc<SlotState>);

impl ConnectionLimit {
    /// With this number of slots.
    pub(super) fn new(slots: usize) -> Arc<Self> {
        Arc::new(Self {
            free: Arc::new(Semaphore::new(slots.min(Semaphore::MAX_PERMITS))),
            started: Instant::now(),
            next_number: AtomicUsize::new(0),
            slots: Mutex::default(),
            candidates: Mutex::default(),
        })
    }

    /// Waits for a slot; evicts connections until there is one.
    pub(super) async fn acquire(self: &Arc<Self>) -> SlotPermit {
        loop {
            if let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() {
                return self.occupy(permit);
            }
            self.evict_longest_idle();
            let freed = timeout(EVICTION_PAUSE, Arc::clone(&self.free).acquire_owned()).await;
            if let Ok(Ok(permit)) = freed {
                return self.occupy(permit);
            }
        }
    }

    fn occupy(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> SlotPermit {
        let slot = Slot::new(self.started);
        let number = self.next_number.fetch_add(1, Relaxed);
        self.slots.lock().insert(number, Arc::clone(&slot.0));
        SlotPermit { limit: Arc::clone(self), number, slot, _permit: permit }
    }

    /// Evicts the connection that has waited longest for its client. It closes when its task runs
    /// next, unless its client has sent or read something by then.
    pub(super) fn evict_longest_idle(&self) {
        let mut candidates = self.candidates.lock();
        if candidates.is_empty() {
            *candidates = self.longest_idle();
        }
        while let Some((since, slot)) = candidates.pop() {
            let still_waits = slot.idle_since.load(Relaxed) == since;
            if still_waits && slot.evicted_wait.swap(since, Relaxed) != since {
                // Without a waker the task has not run yet, and checks when it first runs.
                if let Some(task) = slot.task.lock().as_ref() {
                    task.wake_by_ref();
                }
                return;
            }
        }
    }

    fn longest_idle(&self) -> Vec<(u64, Arc<SlotState>)> {
        let now = nanoseconds(self.started.elapsed());
        let slots = self.slots.lock();
        let idle = slots.values().map(|slot| (slot.idle_since.load(Relaxed), slot));
        let mut idle: Vec<_> = idle.filter(|(since, _)| *since <= now).collect();
        if idle.len() > MAX_CANDIDATES {
            idle.select_nth_unstable_by_key(MAX_CANDIDATES, |(since, _)| *since);
            idle.truncate(MAX_CANDIDATES);
        }
        idle.sort_unstable_by_key(|(since, _)| std::cmp::Reverse(*since));
        idle.into_iter().map(|(since, slot)| (since, Arc::clone(slot))).collect()
    }
}

impl SlotPermit {
    /// The handle for the connection.
    pub(super) fn slot(&self) -> Slot {
        self.slot.clone()
    }
}

impl Drop for SlotPermit {
    fn drop(&mut self) {
        self.slot.0.idle_since.store(BUSY, Relaxed);
        self.limit.slots.lock().remove(&self.number);
    }
}

impl Slot {
    fn new(started: Instant) -> Self {
        let (idle_since, evicted_wait) = (AtomicU64::new(BUSY), AtomicU64::new(NOT_EVICTED));
        Self(Arc::new(SlotState { started, idle_since, evicted_wait, task: Mutex::default() }))
    }

    /// A slot without a limit.
    #[cfg(test)]
    pub(super) fn unlimited() -> Self {
        Self::new(Instant::now())
    }

    /// Registers this task, to be woken when the connection is evicted.
    pub(super) fn register(&self, task: &Waker) {
        *self.0.task.lock() = Some(task.clone());
    }

    /// Records since when the connection has waited for its client to send something.
    pub(super) fn idle_since(&self, since: Instant) {
        let since = nanoseconds(since.duration_since(self.0.started));
        self.0.idle_since.store(since, Relaxed);
    }

    /// Records since when the connection has waited for its client to read.
    pub(super) fn unread_since(&self, since: Instant) {
        self.idle_since(since + READER_ALLOWANCE);
    }

    /// Records that the client waits for a response.
    pub(super) fn busy(&self) {
        self.0.idle_since.store(BUSY, Relaxed);
    }

    /// Whether the connection has to close: it was evicted, and its wait is still the same.
    pub(super) fn is_evicted(&self) -> bool {
        // An eviction is rare, and a load is cheaper than a swap.
        self.0.evicted_wait.load(Relaxed) != NOT_EVICTED
            && self.0.evicted_wait.swap(NOT_EVICTED, Relaxed) == self.0.idle_since.load(Relaxed)
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
    struct CountedTask(AtomicUsize);

    impl Wake for CountedTask {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    fn acquire(limit: &Arc<ConnectionLimit>) -> SlotPermit {
        limit.acquire().now_or_never().expect("a slot is free")
    }

    #[tokio::test]
    async fn evict_longest_idle_closes_the_connection_that_waited_for_longest() {
        let limit = ConnectionLimit::new(4);
        let permits: Vec<_> = (0..4).map(|_| acquire(&limit)).collect();
        let second = Duration::from_secs(1);
        let now = limit.started;
        permits[0].slot().idle_since(now);
        permits[1].slot().idle_since(now);
        // The longest wait, but the connection is busy again.
        permits[2].slot().idle_since(now);
        permits[2].slot().busy();
        permits[3].slot().unread_since(now);
        permits[0].slot().idle_since(now + Duration::from_nanos(1));
        let evicted = || permits.iter().map(|permit| permit.slot.is_evicted()).collect::<Vec<_>>();
        tokio::time::sleep(Duration::from_millis(1)).await;
        limit.evict_longest_idle();
        assert_eq!(evicted(), [false, true, false, false]);
        permits[1].slot().busy();
        limit.evict_longest_idle();
        assert_eq!(evicted(), [true, false, false, false]);
        permits[0].slot().idle_since(now + 100 * second);
        limit.evict_longest_idle();
        assert_eq!(evicted(), [false; 4], "the slow reader keeps its allowance");
    }

    #[tokio::test]
    async fn acquire_waits_until_the_evicted_connection_has_closed() {
        let limit = ConnectionLimit::new(1);
        let first = acquire(&limit);
        first.slot().idle_since(limit.started);
        let mut next = Box::pin(limit.acquire());
        assert!(next.as_mut().now_or_never().is_none());
        assert!(first.slot.is_evicted());
        assert!(!first.slot.is_evicted(), "an eviction is reported once");
        drop(first);
        drop(next.await);
        assert!(limit.slots.lock().is_empty());
    }

    #[tokio::test]
    async fn is_evicted_forgets_an_eviction_that_came_before_a_request() {
        let limit = ConnectionLimit::new(1);
        let (permit, task) = (acquire(&limit), Arc::new(CountedTask::default()));
        let slot = permit.slot();
        let times = [limit.started, limit.started + Duration::from_nanos(1), Instant::now()];
        tokio::time::sleep(Duration::from_millis(1)).await;
        slot.register(&Waker::from(Arc::clone(&task)));
        for (n, since) in times.into_iter().enumerate() {
            slot.idle_since(since);
            limit.evict_longest_idle();
            assert_eq!(task.0.load(Relaxed), n + 1, "the task is woken");
            // The next request came first.
            slot.busy();
            assert!(!slot.is_evicted());
        }
        slot.idle_since(times[0]);
        assert!(!slot.is_evicted(), "there was no eviction since");
        limit.evict_longest_idle();
        // A new wait, not the one that was to be evicted.
        slot.idle_since(times[1]);
        assert!(!slot.is_evicted());
        limit.evict_longest_idle();
        assert!(slot.is_evicted());
    }
}
