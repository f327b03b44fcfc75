//! The circuit breaker in front of the CMS: while the CMS fails, requests fail at once, and half-open
//! probes test whether it has recovered.

use std::time::{Duration, Instant};

use tokio::sync::watch;

/// Failures in a row that open the breaker: a request and its retry. A request that is never retried
/// counts as both (`retry`).
const FAILURE_THRESHOLD: u32 = 2;
/// A failure counts as in a row only if its request began at most this long after the previous
/// failure: where requests are rare, two isolated failures are no outage.
const FAILURE_WINDOW: Duration = Duration::from_secs(1);
/// From the opening to the first probe. The interval doubles with each probe up to
/// `MAX_PROBE_INTERVAL`, which bounds, but for the jitter, how late a recovery is noticed.
const FIRST_PROBE_INTERVAL: Duration = Duration::from_millis(500);
const MAX_PROBE_INTERVAL: Duration = Duration::from_secs(2);
/// Part by which each interval varies, so that instances do not probe in step.
const JITTER: f64 = 0.2;
/// The longest `Retry-After` that is followed.
const MAX_RETRY_AFTER: Duration = Duration::from_mins(1);

/// The state of the circuit breaker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BreakerState {
    /// How often the breaker has opened. A failure of a request that was admitted before the last
    /// opening says nothing new.
    pub openings: u64,
    circuit: Circuit,
}

/// Which requests are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Circuit {
    /// All requests.
    Closed {
        /// In a row.
        failures: u32,
        last_failure: Option<Instant>,
    },
    /// Only probes.
    Open {
        since: Instant,
        next_probe: Instant,
        /// From the next probe to the one after it.
        probe_interval: Duration,
        /// More than one where the CMS takes longer than an interval to fail.
        probes_in_flight: u32,
        /// The end of the CMS's `Retry-After`, if it sent one.
        retry_after: Option<Instant>,
    },
}

impl Default for Circuit {
    fn default() -> Self {
        Self::Closed { failures: 0, last_failure: None }
    }
}

impl BreakerState {
    /// When the next probe may be sent; `None`: the breaker is closed.
    pub fn next_probe(&self) -> Option<Instant> {
        match self.circuit {
            Circuit::Closed { .. } => None,
            Circuit::Open { next_probe, .. } => Some(next_probe),
        }
    }

    /// Whether the breaker is open: requests fail at once.
    pub fn is_open(&self) -> bool {
        self.next_probe().is_some()
    }

    /// Whether the breaker is open and a probe is in flight.
    pub fn is_half_open(&self) -> bool {
        matches!(self.circuit, Circuit::Open { probes_in_flight: 1.., .. })
    }

    /// The seconds that are left of the CMS's `Retry-After`, rounded up, if it sent one.
    pub(super) fn retry_after(&self, now: Instant) -> Option<u64> {
        let Circuit::Open { retry_after: Some(until), .. } = self.circuit else { return None };
        let left = until.checked_duration_since(now)?;
        Some(left.as_secs() + u64::from(left.subsec_nanos() > 0))
    }

    fn admit(&mut self, now: Instant) -> Option<Admission> {
        let openings = self.openings;
        match &mut self.circuit {
            Circuit::Closed { .. } => Some(Admission { openings, begun: now, is_probe: false }),
            Circuit::Open { next_probe, probe_interval, probes_in_flight, .. }
                if *next_probe <= now =>
            {
                *probe_interval = MAX_PROBE_INTERVAL.min(*probe_interval * 2);
                *next_probe = now + jittered(*probe_interval, JITTER);
                *probes_in_flight += 1;
                Some(Admission { openings, begun: now, is_probe: true })
            }
            Circuit::Open { .. } => None,
        }
    }

    fn record(&mut self, admission: Admission, outcome: RequestOutcome, now: Instant) {
        if let Circuit::Open { probes_in_flight, .. } = &mut self.circuit
            && admission.is_probe
            && admission.openings == self.openings
        {
            *probes_in_flight = probes_in_flight.saturating_sub(1);
        }
        match outcome {
            // No request is sent before `Retry-After` ends. This one was sent before the CMS sent
            // that header, so its success does not close the breaker.
            RequestOutcome::Success if self.retry_after(now).is_some_and(|left| left > 0) => {}
            RequestOutcome::Success => self.circuit = Circuit::default(),
            RequestOutcome::Failure { weight, retry_after } => {
                self.record_failure(admission, weight, retry_after, now);
            }
            RequestOutcome::Inconclusive => {}
        }
    }

    fn record_failure(
        &mut self,
        admission: Admission,
        weight: u32,
        retry_after: Option<Duration>,
        now: Instant,
    ) {
        let until = retry_after.map(|wait| now + wait.min(MAX_RETRY_AFTER));
        let until = until.filter(|until| *until > now);
        match &mut self.circuit {
            Circuit::Closed { failures, last_failure } if admission.openings == self.openings => {
                if last_failure.is_none_or(|last| admission.begun > last + FAILURE_WINDOW) {
                    *failures = 0;
                }
                *failures += weight;
                *last_failure = Some(now);
                if *failures >= FAILURE_THRESHOLD || until.is_some() {
                    self.open(until, now);
                }
            }
            // The request was admitted before the last opening.
            Circuit::Closed { .. } => {}
            Circuit::Open { next_probe, retry_after, .. } => {
                *retry_after = until.max(*retry_after);
                *next_probe = until.map_or(*next_probe, |until| until.max(*next_probe));
            }
        }
    }

    fn open(&mut self, retry_after: Option<Instant>, now: Instant) {
        let next_probe = now + jittered(FIRST_PROBE_INTERVAL, JITTER);
        self.circuit = Circuit::Open {
            since: now,
            next_probe: retry_after.map_or(next_probe, |until| until.max(next_probe)),
            probe_interval: FIRST_PROBE_INTERVAL,
            probes_in_flight: 0,
            retry_after,
        };
        self.openings += 1;
    }
}

/// A request that the breaker has let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Admission {
    openings: u64,
    begun: Instant,
    /// Whether the breaker was open.
    pub(super) is_probe: bool,
}

/// What the end of a request says about the CMS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestOutcome {
    /// The CMS responds, whatever the response is.
    Success,
    /// The CMS does not respond.
    Failure {
        /// The number of failures that it counts as.
        weight: u32,
        /// The CMS's `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// Nothing.
    Inconclusive,
}

/// The circuit breaker of one CMS.
pub(super) struct Breaker(watch::Sender<BreakerState>);

impl Breaker {
    pub(super) fn new() -> Self {
        Self(watch::Sender::default())
    }

    pub(super) fn state(&self) -> BreakerState {
        *self.0.borrow()
    }

    /// A receiver of each change of the state.
    pub(super) fn watch(&self) -> watch::Receiver<BreakerState> {
        self.0.subscribe()
    }

    /// Lets a request through; `None`: the breaker is open and no probe is due.
    pub(super) fn admit(&self) -> Option<Admission> {
        let mut admission = None;
        self.0.send_if_modified(|state| {
            admission = state.admit(Instant::now());
            admission.is_some_and(|admission| admission.is_probe)
        });
        admission
    }

    /// Records the end of a request, and returns whether that has opened the breaker.
    pub(super) fn record(&self, admission: Admission, outcome: RequestOutcome) -> bool {
        let (now, mut opened) = (Instant::now(), false);
        self.0.send_if_modified(|state| {
            let before = *state;
            state.record(admission, outcome, now);
            opened = before.openings != state.openings;
            log_recovery(before, *state, now);
            before != *state
        });
        opened
    }
}

fn log_recovery(before: BreakerState, after: BreakerState, now: Instant) {
    if let (Circuit::Open { since, .. }, Circuit::Closed { .. }) = (before.circuit, after.circuit) {
        let seconds = now.saturating_duration_since(since).as_secs_f64();
        let seconds = (seconds * 1e3).round() / 1e3;
        tracing::info!(seconds, "the CMS has recovered: the circuit breaker is closed");
    }
}

/// A time that is up to this part of it shorter or longer.
pub(super) fn jittered(time: Duration, part: f64) -> Duration {
    time.mul_f64(1.0 + part * (2.0 * fastrand::f64() - 1.0))
}

#[cfg(test)]
mod tests;
