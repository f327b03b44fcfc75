//! The state machine of the breaker, with a clock of its own.

use super::*;

const FAILURE: RequestOutcome = RequestOutcome::Failure { weight: 1, retry_after: None };

fn failure_with_retry_after(seconds: u64) -> RequestOutcome {
    RequestOutcome::Failure { weight: 1, retry_after: Some(Duration::from_secs(seconds)) }
}

/// A breaker's state and its time.
struct Fixture {
    state: BreakerState,
    now: Instant,
}

impl Fixture {
    fn new() -> Self {
        Self { state: BreakerState::default(), now: Instant::now() }
    }

    fn admit(&mut self) -> Admission {
        self.state.admit(self.now).expect("an admission")
    }

    fn rejects(&mut self) -> bool {
        self.state.admit(self.now).is_none()
    }

    fn record(&mut self, admission: Admission, outcome: RequestOutcome) {
        self.state.record(admission, outcome, self.now);
    }

    fn request(&mut self, outcome: RequestOutcome) -> Admission {
        let admission = self.admit();
        self.record(admission, outcome);
        admission
    }

    fn retry_after(&self) -> Option<u64> {
        self.state.retry_after(self.now)
    }

    fn open(&mut self) {
        self.request(FAILURE);
        self.request(FAILURE);
        assert!(self.state.is_open());
    }

    fn advance(&mut self, time: Duration) {
        self.now += time;
    }

    /// Advances to the next probe, and returns by how much.
    fn advance_to_probe(&mut self) -> Duration {
        let next = self.state.next_probe().expect("it is open");
        let interval = next - self.now;
        self.now = next;
        interval
    }
}

fn is_about(interval: Duration, millis: u64) -> bool {
    let middle = Duration::from_millis(millis);
    interval >= middle.mul_f64(0.8) && interval <= middle.mul_f64(1.2)
}

#[test]
fn two_failures_in_a_row_open_it_and_a_success_between_them_resets_the_row() {
    let mut breaker = Fixture::new();
    for _ in 0..10 {
        breaker.request(FAILURE);
        breaker.request(RequestOutcome::Success);
    }
    breaker.request(FAILURE);
    breaker.request(RequestOutcome::Inconclusive);
    assert_eq!((breaker.state.is_open(), breaker.state.openings), (false, 0));
    breaker.request(FAILURE);
    assert_eq!((breaker.state.is_open(), breaker.state.openings), (true, 1));
    assert!(breaker.rejects());
}

#[test]
fn failures_more_than_a_second_apart_are_no_row_unless_the_request_took_that_long() {
    let mut breaker = Fixture::new();
    for _ in 0..5 {
        breaker.request(FAILURE);
        breaker.advance(Duration::from_millis(1001));
    }
    assert!(!breaker.state.is_open());
    breaker.request(FAILURE);
    let retry = breaker.admit();
    breaker.advance(Duration::from_secs(5));
    breaker.record(retry, FAILURE);
    assert!(breaker.state.is_open());
}

#[test]
fn failure_of_weight_two_opens_it() {
    let mut breaker = Fixture::new();
    breaker.request(RequestOutcome::Failure { weight: 2, retry_after: None });
    assert!(breaker.state.is_open());
}

#[test]
fn one_probe_is_admitted_per_interval_and_intervals_double_up_to_two_seconds() {
    let mut breaker = Fixture::new();
    breaker.open();
    for millis in [500, 1000, 2000, 2000, 2000] {
        let interval = breaker.advance_to_probe();
        assert!(is_about(interval, millis), "{interval:?}");
        let probe = breaker.admit();
        assert!(probe.is_probe && breaker.state.is_half_open());
        assert!(breaker.rejects(), "one at a time");
        breaker.record(probe, FAILURE);
        assert!(!breaker.state.is_half_open() && breaker.rejects());
    }
    assert_eq!(breaker.state.openings, 1);
    breaker.advance_to_probe();
    assert!(breaker.request(RequestOutcome::Success).is_probe);
    assert!(!breaker.state.is_open());
    breaker.open();
    assert!(is_about(breaker.advance_to_probe(), 500), "the intervals begin anew");
}

#[test]
fn probe_without_an_outcome_does_not_block_the_next_one() {
    let mut breaker = Fixture::new();
    breaker.open();
    for _ in 0..3 {
        breaker.advance_to_probe();
        breaker.admit();
    }
    breaker.advance_to_probe();
    breaker.request(RequestOutcome::Success);
    assert!(!breaker.state.is_open());
}

#[test]
fn failures_of_requests_from_before_the_opening_do_not_count_again() {
    let mut breaker = Fixture::new();
    let early: Vec<Admission> = (0..5).map(|_| breaker.admit()).collect();
    breaker.open();
    let next = breaker.state.next_probe();
    breaker.record(early[0], FAILURE);
    assert_eq!((breaker.state.next_probe(), breaker.state.openings), (next, 1));
    breaker.record(early[1], RequestOutcome::Success);
    assert!(!breaker.state.is_open(), "the CMS answers");
    breaker.record(early[2], FAILURE);
    breaker.record(early[3], FAILURE);
    assert!(!breaker.state.is_open(), "these were admitted before");
    breaker.open();
    assert_eq!(breaker.state.openings, 2);
}

#[test]
fn retry_after_opens_it_at_once_and_is_followed_for_a_minute_at_most() {
    for (sent, followed) in [(1, 1), (30, 30), (60, 60), (61, 60), (u64::MAX, 60)] {
        let mut breaker = Fixture::new();
        breaker.request(failure_with_retry_after(sent));
        assert_eq!(breaker.retry_after(), Some(followed));
        assert_eq!(breaker.advance_to_probe(), Duration::from_secs(followed));
    }
    let mut breaker = Fixture::new();
    breaker.request(failure_with_retry_after(0));
    assert!(!breaker.state.is_open(), "0 asks for nothing");
}

#[test]
fn retry_after_of_a_probe_lengthens_the_wait_and_a_shorter_one_does_not_shorten_it() {
    let mut breaker = Fixture::new();
    breaker.open();
    assert_eq!(breaker.retry_after(), None);
    breaker.advance_to_probe();
    breaker.request(failure_with_retry_after(20));
    assert_eq!(breaker.advance_to_probe(), Duration::from_secs(20));
    let probe = breaker.admit();
    breaker.advance(Duration::from_millis(10));
    breaker.record(probe, failure_with_retry_after(10));
    assert_eq!(breaker.retry_after(), Some(10));
    breaker.advance(Duration::from_millis(9500));
    assert_eq!(breaker.retry_after(), Some(1), "rounded up");
    breaker.advance_to_probe();
    assert_eq!(breaker.retry_after(), Some(0));
    breaker.advance(Duration::from_millis(1));
    assert_eq!(breaker.retry_after(), None);
}

#[test]
fn late_success_does_not_end_the_wait_of_retry_after() {
    let mut breaker = Fixture::new();
    let early = [breaker.admit(), breaker.admit()];
    breaker.request(failure_with_retry_after(20));
    breaker.advance(Duration::from_secs(3));
    breaker.record(early[0], RequestOutcome::Success);
    assert!(breaker.rejects());
    assert_eq!(breaker.retry_after(), Some(17));
    assert_eq!(breaker.advance_to_probe(), Duration::from_secs(17));
    breaker.record(early[1], RequestOutcome::Success);
    assert!(!breaker.state.is_open(), "the wait is over");
    // Also between two probes.
    breaker.open();
    breaker.advance_to_probe();
    let slow = breaker.admit();
    breaker.advance_to_probe();
    breaker.request(failure_with_retry_after(20));
    breaker.record(slow, RequestOutcome::Success);
    assert_eq!(breaker.advance_to_probe(), Duration::from_secs(20));
    breaker.request(RequestOutcome::Success);
    assert!(!breaker.state.is_open());
}
