use super::*;

const FAILED: Verdict = Verdict::Failed { times: 1, told: None };

fn told(seconds: u64) -> Verdict {
    Verdict::Failed { times: 1, told: Some(Duration::from_secs(seconds)) }
}

/// A breaker, and its time.
struct Play {
    health: BreakerState,
    now: Instant,
}

impl Play {
    fn new() -> Self {
        Self { health: BreakerState::default(), now: Instant::now() }
    }

    fn enter(&mut self) -> Pass {
        self.health.enter(self.now).expect("a pass")
    }

    fn is_refused(&mut self) -> bool {
        self.health.enter(self.now).is_none()
    }

    fn settle(&mut self, pass: Pass, verdict: Verdict) {
        self.health.settle(pass, verdict, self.now);
    }

    fn ask(&mut self, verdict: Verdict) -> Pass {
        let pass = self.enter();
        self.settle(pass, verdict);
        pass
    }

    fn open(&mut self) {
        self.ask(FAILED);
        self.ask(FAILED);
        assert!(self.health.is_open());
    }

    fn pass_by(&mut self, time: Duration) {
        self.now += time;
    }

    /// Lets as much time go by as it takes until a probe may go.
    fn until_next(&mut self) -> Duration {
        let next = self.health.next_probe().expect("it is open");
        let pause = next - self.now;
        self.now = next;
        pause
    }
}

fn about(pause: Duration, millis: u64) -> bool {
    let middle = Duration::from_millis(millis);
    pause >= middle.mul_f64(0.8) && pause <= middle.mul_f64(1.2)
}

#[test]
fn two_failures_in_a_row_open_it_and_an_answer_in_between_does_not_let_them() {
    let mut play = Play::new();
    for _ in 0..10 {
        play.ask(FAILED);
        play.ask(Verdict::Alive);
    }
    play.ask(FAILED);
    play.ask(Verdict::Unknown);
    assert_eq!((play.health.is_open(), play.health.openings), (false, 0));
    play.ask(FAILED);
    assert_eq!((play.health.is_open(), play.health.openings), (true, 1));
    assert!(play.is_refused());
}

#[test]
fn failures_that_lie_apart_are_not_in_a_row_but_those_of_slow_requests_are() {
    let mut play = Play::new();
    for _ in 0..5 {
        play.ask(FAILED);
        play.pass_by(Duration::from_millis(1001));
    }
    assert!(!play.health.is_open());
    play.ask(FAILED);
    let retry = play.enter();
    play.pass_by(Duration::from_secs(5));
    play.settle(retry, FAILED);
    assert!(play.health.is_open());
}

#[test]
fn a_failure_may_count_as_two() {
    let mut play = Play::new();
    play.ask(Verdict::Failed { times: 2, told: None });
    assert!(play.health.is_open());
}

#[test]
fn one_probe_goes_each_time_and_the_pauses_double_up_to_two_seconds() {
    let mut play = Play::new();
    play.open();
    for millis in [500, 1000, 2000, 2000, 2000] {
        let pause = play.until_next();
        assert!(about(pause, millis), "{pause:?}");
        let probe = play.enter();
        assert!(probe.probe && play.health.is_half_open());
        assert!(play.is_refused(), "one at a time");
        play.settle(probe, FAILED);
        assert!(!play.health.is_half_open() && play.is_refused());
    }
    assert_eq!(play.health.openings, 1);
    play.until_next();
    assert!(play.ask(Verdict::Alive).probe);
    assert!(!play.health.is_open());
    play.open();
    assert!(about(play.until_next(), 500), "the pauses begin anew");
}

#[test]
fn a_probe_that_nobody_hears_of_again_is_followed_by_the_next() {
    let mut play = Play::new();
    play.open();
    for _ in 0..3 {
        play.until_next();
        play.enter();
    }
    play.until_next();
    play.ask(Verdict::Alive);
    assert!(!play.health.is_open());
}

#[test]
fn what_was_under_way_when_it_opened_does_not_count_again() {
    let mut play = Play::new();
    let early: Vec<Pass> = (0..5).map(|_| play.enter()).collect();
    play.open();
    let next = play.health.next_probe();
    play.settle(early[0], FAILED);
    assert_eq!((play.health.next_probe(), play.health.openings), (next, 1));
    play.settle(early[1], Verdict::Alive);
    assert!(!play.health.is_open(), "it answers");
    play.settle(early[2], FAILED);
    play.settle(early[3], FAILED);
    assert!(!play.health.is_open(), "these were asked before");
    play.open();
    assert_eq!(play.health.openings, 2);
}

#[test]
fn who_says_when_to_come_back_is_believed_for_a_minute_at_most() {
    for (says, waits) in [(1, 1), (30, 30), (60, 60), (61, 60), (u64::MAX, 60)] {
        let mut play = Play::new();
        play.ask(told(says));
        assert_eq!(play.health.told(play.now), Some(waits));
        assert_eq!(play.until_next(), Duration::from_secs(waits), "at once, by one failure");
    }
    let mut play = Play::new();
    play.ask(told(0));
    assert!(!play.health.is_open(), "0 says nothing");
}

#[test]
fn a_probe_may_be_told_to_wait_longer_and_nothing_makes_it_shorter() {
    let mut play = Play::new();
    play.open();
    assert_eq!(play.health.told(play.now), None);
    play.until_next();
    play.ask(told(20));
    assert_eq!(play.until_next(), Duration::from_secs(20));
    let probe = play.enter();
    play.pass_by(Duration::from_millis(10));
    play.settle(probe, told(10));
    assert_eq!(play.health.told(play.now), Some(10));
    play.pass_by(Duration::from_millis(9500));
    assert_eq!(play.health.told(play.now), Some(1), "rounded up");
    play.until_next();
    assert_eq!(play.health.told(play.now), Some(0));
    play.pass_by(Duration::from_millis(1));
    assert_eq!(play.health.told(play.now), None);
}

#[test]
fn a_late_answer_from_before_says_nothing_against_the_time_to_come_back() {
    let mut play = Play::new();
    let early = [play.enter(), play.enter()];
    play.ask(told(20));
    play.pass_by(Duration::from_secs(3));
    play.settle(early[0], Verdict::Alive);
    assert!(play.is_refused());
    assert_eq!(play.health.told(play.now), Some(17));
    assert_eq!(play.until_next(), Duration::from_secs(17));
    play.settle(early[1], Verdict::Alive);
    assert!(!play.health.is_open(), "from then on it may be asked anyway");
    // The same between two probes.
    play.open();
    play.until_next();
    let slow = play.enter();
    play.until_next();
    play.ask(told(20));
    play.settle(slow, Verdict::Alive);
    assert_eq!(play.until_next(), Duration::from_secs(20));
    play.ask(Verdict::Alive);
    assert!(!play.health.is_open());
}
