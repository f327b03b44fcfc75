//! How many connections there may be at a time, and which one gives way to the next.
//!
//! A crowd that says nothing must not keep others out for as long as it is given time. So when all
//! seats are taken, the connection that has waited for its client for longest is closed; one that
//! waits for us never is.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::task::Waker;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

/// How long we wait for a seat before another connection is asked to give way: the first one may
/// have got something to do meanwhile.
const PATIENCE: Duration = Duration::from_millis(50);
/// Who does not read counts as if it had begun to wait so much later: a slow line is no silence.
const READER: Duration = Duration::from_secs(5);
/// So many that have waited for longest are noted at a time, because all have to be looked at.
const NOTED: usize = 64;
/// The connection waits for us.
const BUSY: u64 = u64::MAX;
/// Nobody has asked the connection to give way.
const UNASKED: u64 = u64::MAX;

/// All seats.
pub(super) struct Crowd {
    free: Arc<Semaphore>,
    began: Instant,
    next: AtomicUsize,
    taken: Mutex<HashMap<usize, Arc<Place>>>,
    /// Those that waited for longest at the last look, the longest wait last.
    noted: Mutex<Vec<(u64, Arc<Place>)>>,
}

/// What is known of a connection's wait.
#[derive(Debug)]
struct Place {
    began: Instant,
    /// Since when it has waited for its client, in nanoseconds from `began`.
    since: AtomicU64,
    /// The wait about which it was asked to give way, by its beginning.
    asked: AtomicU64,
    /// Never used up: who asks need not know when the connection looked last.
    task: Mutex<Option<Waker>>,
}

/// The seat of one connection, free again when it is dropped.
pub(super) struct Taken {
    crowd: Arc<Crowd>,
    number: usize,
    seat: Seat,
    _permit: OwnedSemaphorePermit,
}

/// A connection's own view of its seat.
#[derive(Clone, Debug)]
pub(super) struct Seat(Arc<Place>);

impl Crowd {
    /// So many seats.
    pub(super) fn new(seats: usize) -> Arc<Self> {
        Arc::new(Self {
            free: Arc::new(Semaphore::new(seats.min(Semaphore::MAX_PERMITS))),
            began: Instant::now(),
            next: AtomicUsize::new(0),
            taken: Mutex::default(),
            noted: Mutex::default(),
        })
    }

    /// A seat, as soon as there is one.
    pub(super) async fn seat(self: &Arc<Self>) -> Taken {
        loop {
            if let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() {
                return self.take(permit);
            }
            self.make_room();
            let freed = timeout(PATIENCE, Arc::clone(&self.free).acquire_owned()).await;
            if let Ok(Ok(permit)) = freed {
                return self.take(permit);
            }
        }
    }

    fn take(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> Taken {
        let seat = Seat::new(self.began);
        let number = self.next.fetch_add(1, Relaxed);
        self.taken.lock().insert(number, Arc::clone(&seat.0));
        Taken { crowd: Arc::clone(self), number, seat, _permit: permit }
    }

    /// Asks the connection that has waited for longest to give way.
    pub(super) fn make_room(&self) {
        let mut noted = self.noted.lock();
        if noted.is_empty() {
            *noted = self.longest();
        }
        while let Some((since, place)) = noted.pop() {
            // It may have gone, or got something to do.
            if place.since.load(Relaxed) == since && place.asked.swap(since, Relaxed) != since {
                // Without one it has yet to look.
                if let Some(task) = place.task.lock().as_ref() {
                    task.wake_by_ref();
                }
                return;
            }
        }
    }

    fn longest(&self) -> Vec<(u64, Arc<Place>)> {
        let now = nanoseconds(self.began.elapsed());
        let taken = self.taken.lock();
        let waiting = taken.values().map(|place| (place.since.load(Relaxed), place));
        let mut waiting: Vec<_> = waiting.filter(|(since, _)| *since <= now).collect();
        if waiting.len() > NOTED {
            waiting.select_nth_unstable_by_key(NOTED, |(since, _)| *since);
            waiting.truncate(NOTED);
        }
        waiting.sort_unstable_by_key(|(since, _)| std::cmp::Reverse(*since));
        waiting.into_iter().map(|(since, place)| (since, Arc::clone(place))).collect()
    }
}

impl Taken {
    /// For the connection.
    pub(super) fn seat(&self) -> Seat {
        self.seat.clone()
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.seat.0.since.store(BUSY, Relaxed);
        self.crowd.taken.lock().remove(&self.number);
    }
}

impl Seat {
    fn new(began: Instant) -> Self {
        let (since, asked) = (AtomicU64::new(BUSY), AtomicU64::new(UNASKED));
        Self(Arc::new(Place { began, since, asked, task: Mutex::default() }))
    }

    /// A seat that nobody else wants.
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
        self.waits_since(since + READER);
    }

    /// The connection waits for us.
    pub(super) fn is_busy(&self) {
        self.0.since.store(BUSY, Relaxed);
    }

    /// Whether the connection should give way: it was asked to, and still waits as it did then.
    pub(super) fn gives_way(&self) -> bool {
        // Hardly ever: a look is cheaper than a change.
        self.0.asked.load(Relaxed) != UNASKED
            && self.0.asked.swap(UNASKED, Relaxed) == self.0.since.load(Relaxed)
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

    fn seat(crowd: &Arc<Crowd>) -> Taken {
        crowd.seat().now_or_never().expect("there is room")
    }

    #[tokio::test]
    async fn who_has_waited_for_longest_gives_way() {
        let crowd = Crowd::new(4);
        let taken: Vec<_> = (0..4).map(|_| seat(&crowd)).collect();
        let second = Duration::from_secs(1);
        let now = crowd.began;
        taken[0].seat().waits_since(now);
        taken[1].seat().waits_since(now);
        // The earliest of all, but busy again.
        taken[2].seat().waits_since(now);
        taken[2].seat().is_busy();
        taken[3].seat().unread_since(now);
        taken[0].seat().waits_since(now + Duration::from_nanos(1));
        let way = || taken.iter().map(|taken| taken.seat.gives_way()).collect::<Vec<_>>();
        tokio::time::sleep(Duration::from_millis(1)).await;
        crowd.make_room();
        assert_eq!(way(), [false, true, false, false]);
        taken[1].seat().is_busy();
        crowd.make_room();
        assert_eq!(way(), [true, false, false, false]);
        taken[0].seat().waits_since(now + 100 * second);
        crowd.make_room();
        assert_eq!(way(), [false; 4], "the slow reader has time");
    }

    #[tokio::test]
    async fn a_seat_is_free_when_its_connection_has_gone() {
        let crowd = Crowd::new(1);
        let first = seat(&crowd);
        first.seat().waits_since(crowd.began);
        let mut next = Box::pin(crowd.seat());
        assert!(next.as_mut().now_or_never().is_none());
        assert!(first.seat.gives_way());
        assert!(!first.seat.gives_way(), "it is asked once");
        drop(first);
        drop(next.await);
        assert!(crowd.taken.lock().is_empty());
    }

    #[tokio::test]
    async fn who_was_busy_when_asked_hears_the_next_time_as_well() {
        let crowd = Crowd::new(1);
        let (taken, task) = (seat(&crowd), Arc::new(Task::default()));
        let seat = taken.seat();
        let times = [crowd.began, crowd.began + Duration::from_nanos(1), Instant::now()];
        tokio::time::sleep(Duration::from_millis(1)).await;
        seat.register(&Waker::from(Arc::clone(&task)));
        for (n, since) in times.into_iter().enumerate() {
            seat.waits_since(since);
            crowd.make_room();
            assert_eq!(task.0.load(Relaxed), n + 1, "it is woken");
            // The next request came first.
            seat.is_busy();
            assert!(!seat.gives_way());
        }
        seat.waits_since(times[0]);
        assert!(!seat.gives_way(), "nobody has asked since");
        crowd.make_room();
        // Another wait than the one that was asked about.
        seat.waits_since(times[1]);
        assert!(!seat.gives_way());
        crowd.make_room();
        assert!(seat.gives_way());
    }
}
