//! The breaker before the origin of the CMS: while that fails nobody waits for it, and one request
//! now and then finds out whether it has come back.

use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::random::jittered;

/// So many failures in a row open it: a caller's request and its retry.
const FAILURES: u32 = 2;
/// A request that began later than this after a failure does not go on its row: where little is
/// asked, two odd failures are no outage.
const ROW: Duration = Duration::from_secs(1);
/// From the opening to the first probe. It doubles from one probe to the next, up to the longest:
/// what is back is seen within that time.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// Each pause is this much shorter or longer, so that instances do not probe in step.
const JITTER: f64 = 0.2;
/// The longest that the CMS may have us wait.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// Whether the CMS is asked at the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BreakerState {
    /// How often the breaker has opened. What was asked before the last time says nothing more by
    /// failing.
    pub openings: u64,
    circuit: Circuit,
}

/// How much of what callers want goes to the CMS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Circuit {
    /// All.
    Closed {
        /// In a row.
        failures: u32,
        /// When the last of them was.
        last: Option<Instant>,
    },
    /// A request now and then.
    Open {
        since: Instant,
        /// When the next probe may go.
        next: Instant,
        /// From a probe to the next.
        pause: Duration,
        /// Probes under way. More than one, where the CMS takes longer than a pause to say nothing.
        probes: u32,
        /// Until when the CMS wants not to be asked, if it said so.
        told: Option<Instant>,
    },
}

impl Default for Circuit {
    fn default() -> Self {
        Self::Closed { failures: 0, last: None }
    }
}

impl BreakerState {
    /// When the CMS may be tried next; `None`: it is asked as ever.
    #[must_use]
    pub fn next_probe(&self) -> Option<Instant> {
        match self.circuit {
            Circuit::Closed { .. } => None,
            Circuit::Open { next, .. } => Some(next),
        }
    }

    /// Whether the breaker is open: callers get no further than here.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.next_probe().is_some()
    }

    /// Whether it is open and a probe is under way.
    #[must_use]
    pub fn is_half_open(&self) -> bool {
        matches!(self.circuit, Circuit::Open { probes: 1.., .. })
    }

    /// After how many seconds the CMS wants to be asked again, if it said so.
    pub(super) fn told(&self, now: Instant) -> Option<u64> {
        let Circuit::Open { told: Some(told), .. } = self.circuit else { return None };
        let left = told.checked_duration_since(now)?;
        Some(left.as_secs() + u64::from(left.subsec_nanos() > 0))
    }

    fn enter(&mut self, now: Instant) -> Option<Pass> {
        let openings = self.openings;
        match &mut self.circuit {
            Circuit::Closed { .. } => Some(Pass { openings, begun: now, probe: false }),
            Circuit::Open { next, pause, probes, .. } if *next <= now => {
                *pause = LONGEST_PAUSE.min(*pause * 2);
                *next = now + jittered(*pause, JITTER);
                *probes += 1;
                Some(Pass { openings, begun: now, probe: true })
            }
            Circuit::Open { .. } => None,
        }
    }

    fn settle(&mut self, pass: Pass, verdict: Verdict, now: Instant) {
        if let Circuit::Open { probes, .. } = &mut self.circuit
            && pass.probe
            && pass.openings == self.openings
        {
            *probes = probes.saturating_sub(1);
        }
        match verdict {
            // Nothing is asked before the time that the CMS has said: this was asked before it said
            // so, and says nothing against it.
            Verdict::Alive if self.told(now).is_some_and(|left| left > 0) => {}
            Verdict::Alive => self.circuit = Circuit::default(),
            Verdict::Failed { times, told } => self.fail(pass, times, told, now),
            Verdict::Unknown => {}
        }
    }

    fn fail(&mut self, pass: Pass, times: u32, told: Option<Duration>, now: Instant) {
        let told = told.map(|wait| now + wait.min(LONGEST_WAIT)).filter(|told| *told > now);
        match &mut self.circuit {
            Circuit::Closed { failures, last } if pass.openings == self.openings => {
                if last.is_none_or(|last| pass.begun > last + ROW) {
                    *failures = 0;
                }
                *failures += times;
                *last = Some(now);
                if *failures >= FAILURES || told.is_some() {
                    self.open(told, now);
                }
            }
            // It was asked before the last time that the breaker opened.
            Circuit::Closed { .. } => {}
            Circuit::Open { next, told: before, .. } => {
                *before = told.max(*before);
                *next = told.map_or(*next, |told| told.max(*next));
            }
        }
    }

    fn open(&mut self, told: Option<Instant>, now: Instant) {
        let next = now + jittered(FIRST_PAUSE, JITTER);
        let next = told.map_or(next, |told| told.max(next));
        self.circuit = Circuit::Open { since: now, next, pause: FIRST_PAUSE, probes: 0, told };
        self.openings += 1;
    }
}

/// A request that may be sent, and whether it finds out for all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pass {
    openings: u64,
    begun: Instant,
    pub(super) probe: bool,
}

/// What a request says about the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It answers, whatever it says.
    Alive,
    /// It does not.
    Failed {
        /// As so many failures.
        times: u32,
        /// How long it wants not to be asked, if it said so.
        told: Option<Duration>,
    },
    /// Nothing.
    Unknown,
}

/// The breaker of one origin.
pub(super) struct Breaker(watch::Sender<BreakerState>);

impl Breaker {
    pub(super) fn new() -> Self {
        Self(watch::Sender::default())
    }

    pub(super) fn health(&self) -> BreakerState {
        *self.0.borrow()
    }

    /// Tells of each change.
    pub(super) fn watch(&self) -> watch::Receiver<BreakerState> {
        self.0.subscribe()
    }

    /// Lets a request through, or does not.
    pub(super) fn enter(&self) -> Option<Pass> {
        let mut pass = None;
        self.0.send_if_modified(|health| {
            pass = health.enter(Instant::now());
            pass.is_some_and(|pass| pass.probe)
        });
        pass
    }

    /// Takes note of how a request has ended, and says whether the breaker has opened by that.
    pub(super) fn settle(&self, pass: Pass, verdict: Verdict) -> bool {
        let (now, mut opened) = (Instant::now(), false);
        self.0.send_if_modified(|health| {
            let before = *health;
            health.settle(pass, verdict, now);
            opened = before.openings != health.openings;
            tell(before, *health, now);
            before != *health
        });
        opened
    }
}

/// One line when it opens, one when it closes.
fn tell(before: BreakerState, after: BreakerState, now: Instant) {
    match (before.circuit, after.circuit) {
        (Circuit::Closed { .. }, Circuit::Open { .. }) => {
            tracing::warn!("the CMS fails; it is only tried now and then until it answers again");
        }
        (Circuit::Open { since, .. }, Circuit::Closed { .. }) => {
            let seconds = now.saturating_duration_since(since).as_secs_f64();
            tracing::info!(seconds, "the CMS answers again");
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
