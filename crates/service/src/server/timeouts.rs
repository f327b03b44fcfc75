//! The timeouts of one connection.
//!
//! hyper's own header timer creates and drops a timer for each request, and there are no others.
//! Here a connection has one timer for its whole life. It is set to the earliest time at which a
//! timeout can be due, and the connection checks what is due only when it fires. So a request costs
//! one reading of the clock.

use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::task::unconstrained;
use tokio::time::{Instant, Sleep, sleep};

use super::conn_state::Phase;
use super::connection_limit::Slot;

/// While a response is produced, how often to check that its client is still connected.
const HANG_UP_CHECK: Duration = Duration::from_millis(500);

/// The longest write timeout after the stop has begun.
const WRITE_TIMEOUT_AT_STOP: Duration = Duration::from_secs(5);

/// How long a connection may wait for its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For the whole head of a request, from its first byte; for the first request from the accept.
    pub head: Duration,
    /// For the next request.
    pub idle: Duration,
    /// For the client to read more of a response.
    pub write: Duration,
}

impl Timeouts {
    fn of(&self, phase: Phase) -> Option<Duration> {
        match phase {
            Phase::Head(_) => Some(self.head),
            Phase::Idle(_) => Some(self.idle),
            Phase::Stalled(_) => Some(self.write),
            // Handlers that read a body have a deadline of their own.
            Phase::Busy | Phase::Body(_) => None,
        }
    }
}

/// Measures how long one connection has been in its phase.
#[derive(Debug)]
pub(super) struct PhaseTimer {
    timeouts: Timeouts,
    slot: Slot,
    phase: Phase,
    since: Instant,
    timer: Pin<Box<Sleep>>,
}

impl PhaseTimer {
    /// For a connection that has just been accepted.
    pub(super) fn new(timeouts: Timeouts, slot: Slot) -> Self {
        // The first poll sets it.
        let timer = Box::pin(sleep(Duration::MAX));
        let since = Instant::now();
        slot.idle_since(since);
        Self { timeouts, slot, phase: Phase::Head(0), since, timer }
    }

    /// The service is about to stop: a client that does not read gets less time.
    pub(super) fn shorten_write_timeout(&mut self) {
        self.timeouts.write = self.timeouts.write.min(WRITE_TIMEOUT_AT_STOP);
    }

    /// The phase at the last poll.
    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether to check now that a client that waits for its response is still connected.
    pub(super) fn is_hang_up_check_due(&mut self, phase: Phase, cx: &mut Context<'_>) -> bool {
        if phase != Phase::Busy {
            return false;
        }
        let (next, elapsed) = (Instant::now() + HANG_UP_CHECK, self.timer.is_elapsed());
        if elapsed || self.timer.deadline() > next {
            self.timer.as_mut().reset(next);
            let _ = pin!(unconstrained(self.timer.as_mut())).poll(cx);
        }
        elapsed
    }

    /// Ready when the phase has lasted longer than its timeout; else polled again in time.
    pub(super) fn poll(&mut self, phase: Phase, cx: &mut Context<'_>) -> Poll<()> {
        if phase != self.phase {
            self.phase = phase;
            self.since = Instant::now();
            match phase {
                Phase::Head(_) | Phase::Idle(_) | Phase::Body(_) => {
                    self.slot.idle_since(self.since);
                }
                Phase::Stalled(_) => self.slot.unread_since(self.since),
                Phase::Busy => self.slot.busy(),
            }
        }
        let due = self.timeouts.of(phase).and_then(|limit| self.since.checked_add(limit));
        let Some(due) = due else {
            return Poll::Pending;
        };
        // A timer that fires too early only leads here again.
        if self.timer.deadline() > due || self.timer.is_elapsed() {
            self.timer.as_mut().reset(due);
            // Outside of tokio's budget for the task: this poll is the only one that registers the
            // waker with the timer.
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

    async fn timed_out(timer: &mut PhaseTimer, phase: Phase) {
        poll_fn(|cx| timer.poll(phase, cx)).await;
    }

    #[tokio::test]
    async fn poll_ends_each_phase_after_its_own_timeout() {
        let mut timer =
            PhaseTimer::new(Timeouts { head: SHORT, idle: LONG, write: SHORT }, Slot::unlimited());
        // The timer is set for the first head; each of these must be detected when it fires.
        for phase in [Phase::Head(0), Phase::Stalled(0), Phase::Stalled(1), Phase::Head(1)] {
            let _ = timeout(SHORT / 2, timed_out(&mut timer, phase)).await;
        }
        let begun = Instant::now();
        timed_out(&mut timer, Phase::Head(2)).await;
        assert!(begun.elapsed() >= SHORT);
    }

    #[tokio::test]
    async fn poll_resets_the_timer_when_the_new_phase_ends_earlier() {
        let mut timer =
            PhaseTimer::new(Timeouts { head: LONG, idle: SHORT, write: SHORT }, Slot::unlimited());
        for phase in [Phase::Idle(1), Phase::Stalled(1)] {
            let _ = timeout(SHORT / 2, timed_out(&mut timer, Phase::Head(0))).await;
            let begun = Instant::now();
            timed_out(&mut timer, phase).await;
            assert!((SHORT..LONG).contains(&begun.elapsed()));
        }
    }

    #[tokio::test]
    async fn poll_never_ends_the_phase_busy() {
        let mut timer =
            PhaseTimer::new(Timeouts { head: SHORT, idle: SHORT, write: SHORT }, Slot::unlimited());
        let _ = timeout(SHORT / 2, timed_out(&mut timer, Phase::Head(0))).await;
        let waited = timeout(SHORT * 3, timed_out(&mut timer, Phase::Busy)).await;
        assert!(waited.is_err());
        let begun = Instant::now();
        timed_out(&mut timer, Phase::Idle(1)).await;
        assert!(begun.elapsed() >= SHORT);
    }

    #[tokio::test]
    async fn is_hang_up_check_due_repeats_while_the_phase_is_busy() {
        let mut timer =
            PhaseTimer::new(Timeouts { head: SHORT, idle: SHORT, write: SHORT }, Slot::unlimited());
        let mut check_due = async |phase| {
            let mut is_due = |cx: &mut Context<'_>| timer.is_hang_up_check_due(phase, cx);
            poll_fn(|cx| if is_due(cx) { Poll::Ready(()) } else { Poll::Pending }).await;
        };
        let begun = Instant::now();
        check_due(Phase::Busy).await;
        check_due(Phase::Busy).await;
        assert!(begun.elapsed() >= HANG_UP_CHECK * 2);
        assert!(timeout(HANG_UP_CHECK * 2, check_due(Phase::Idle(1))).await.is_err());
    }

    #[tokio::test]
    async fn poll_treats_a_timeout_beyond_the_clock_as_none() {
        let mut timer = PhaseTimer::new(
            Timeouts { head: Duration::MAX, idle: SHORT, write: SHORT },
            Slot::unlimited(),
        );
        assert!(timeout(SHORT, timed_out(&mut timer, Phase::Head(0))).await.is_err());
        timed_out(&mut timer, Phase::Idle(1)).await;
    }
}
