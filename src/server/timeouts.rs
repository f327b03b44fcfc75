//! Closes connections whose clients let us wait.
//!
//! hyper's own header timer makes and drops a timer for each request, and has no other limits.
//! Here a connection has one timer for its whole life. It is set to the earliest time at which
//! something can be due, and only when it fires one looks what is due by then. For a request that
//! leaves one reading of the clock.

use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::task::unconstrained;
use tokio::time::{Instant, Sleep, sleep};

use super::conn_state::Phase;
use super::connection_limit::Slot;

/// While an answer is made, how often we look whether its client is still there.
const LOOK: Duration = Duration::from_millis(500);

/// How long a client may take nothing of an answer once the service is about to end.
const LAST_CHANCE: Duration = Duration::from_secs(5);

/// How long a client may let us wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For the whole head of a request, from its first byte; the first one's from the connection.
    pub head: Duration,
    /// For the next request.
    pub idle: Duration,
    /// Until it takes more of an answer.
    pub write: Duration,
}

impl Timeouts {
    fn of(&self, phase: Phase) -> Option<Duration> {
        match phase {
            Phase::Head(_) => Some(self.head),
            Phase::Idle(_) => Some(self.idle),
            Phase::Stalled(_) => Some(self.write),
            // Who reads a body knows how long it may take.
            Phase::Busy | Phase::Body(_) => None,
        }
    }
}

/// The timer of one connection.
#[derive(Debug)]
pub(super) struct Timer {
    timeouts: Timeouts,
    slot: Slot,
    phase: Phase,
    since: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Timer {
    /// For a connection that has just been accepted.
    pub(super) fn new(timeouts: Timeouts, slot: Slot) -> Self {
        // The first look sets it.
        let timer = Box::pin(sleep(Duration::MAX));
        let since = Instant::now();
        slot.waits_since(since);
        Self { timeouts, slot, phase: Phase::Head(0), since, timer }
    }

    /// The service is about to end: who does not read has had its time.
    pub(super) fn hurry(&mut self) {
        self.timeouts.write = self.timeouts.write.min(LAST_CHANCE);
    }

    /// What the connection waited for at the last look.
    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether it is time to look whether a client that waits for us is still there.
    pub(super) fn is_time_to_look(&mut self, phase: Phase, cx: &mut Context<'_>) -> bool {
        if phase != Phase::Busy {
            return false;
        }
        let (next, elapsed) = (Instant::now() + LOOK, self.timer.is_elapsed());
        if elapsed || self.timer.deadline() > next {
            self.timer.as_mut().reset(next);
            let _ = pin!(unconstrained(self.timer.as_mut())).poll(cx);
        }
        elapsed
    }

    /// Ready when what the connection waits for is overdue, else looked at again in time.
    pub(super) fn poll(&mut self, phase: Phase, cx: &mut Context<'_>) -> Poll<()> {
        if phase != self.phase {
            self.phase = phase;
            self.since = Instant::now();
            match phase {
                Phase::Head(_) | Phase::Idle(_) | Phase::Body(_) => {
                    self.slot.waits_since(self.since);
                }
                Phase::Stalled(_) => self.slot.unread_since(self.since),
                Phase::Busy => self.slot.is_busy(),
            }
        }
        let due = self.timeouts.of(phase).and_then(|limit| self.since.checked_add(limit));
        let Some(due) = due else {
            return Poll::Pending;
        };
        // A timer that fires too early only leads here again.
        if self.timer.deadline() > due || self.timer.is_elapsed() {
            self.timer.as_mut().reset(due);
            // Whatever else the task has done: this is the only time that the timer gets its waker.
            return pin!(unconstrained(self.timer.as_mut())).poll(cx);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::time::timeout;

    use super::*;

    const SHORT: Duration = Duration::from_millis(60);
    const LONG: Duration = Duration::from_mins(10);

    async fn overdue(timer: &mut Timer, phase: Phase) {
        poll_fn(|cx| timer.poll(phase, cx)).await;
    }

    #[tokio::test]
    async fn each_phase_has_its_own_time_from_its_beginning() {
        let mut timer =
            Timer::new(Timeouts { head: SHORT, idle: LONG, write: SHORT }, Slot::alone());
        // The timer is set for the first head, and has to find each of these when it fires.
        for phase in [Phase::Head(0), Phase::Stalled(0), Phase::Stalled(1), Phase::Head(1)] {
            let _ = timeout(SHORT / 2, overdue(&mut timer, phase)).await;
        }
        let begun = Instant::now();
        overdue(&mut timer, Phase::Head(2)).await;
        assert!(begun.elapsed() >= SHORT);
    }

    #[tokio::test]
    async fn the_timer_is_drawn_forward_when_less_time_is_left() {
        let mut timer =
            Timer::new(Timeouts { head: LONG, idle: SHORT, write: SHORT }, Slot::alone());
        for phase in [Phase::Idle(1), Phase::Stalled(1)] {
            let _ = timeout(SHORT / 2, overdue(&mut timer, Phase::Head(0))).await;
            let begun = Instant::now();
            overdue(&mut timer, phase).await;
            assert!((SHORT..LONG).contains(&begun.elapsed()));
        }
    }

    #[tokio::test]
    async fn what_we_take_is_never_overdue() {
        let mut timer =
            Timer::new(Timeouts { head: SHORT, idle: SHORT, write: SHORT }, Slot::alone());
        let _ = timeout(SHORT / 2, overdue(&mut timer, Phase::Head(0))).await;
        let waited = timeout(SHORT * 3, overdue(&mut timer, Phase::Busy)).await;
        assert!(waited.is_err());
        let begun = Instant::now();
        overdue(&mut timer, Phase::Idle(1)).await;
        assert!(begun.elapsed() >= SHORT);
    }

    #[tokio::test]
    async fn while_we_are_busy_the_client_is_looked_at_now_and_then() {
        let mut timer =
            Timer::new(Timeouts { head: SHORT, idle: SHORT, write: SHORT }, Slot::alone());
        let mut look = async |phase| {
            let mut is_time = |cx: &mut Context<'_>| timer.is_time_to_look(phase, cx);
            poll_fn(|cx| if is_time(cx) { Poll::Ready(()) } else { Poll::Pending }).await;
        };
        let begun = Instant::now();
        look(Phase::Busy).await;
        look(Phase::Busy).await;
        assert!(begun.elapsed() >= LOOK * 2);
        assert!(timeout(LOOK * 2, look(Phase::Idle(1))).await.is_err());
    }

    #[tokio::test]
    async fn times_beyond_any_clock_are_none() {
        let mut timer =
            Timer::new(Timeouts { head: Duration::MAX, idle: SHORT, write: SHORT }, Slot::alone());
        assert!(timeout(SHORT, overdue(&mut timer, Phase::Head(0))).await.is_err());
        overdue(&mut timer, Phase::Idle(1)).await;
    }
}
