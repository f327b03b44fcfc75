//! Decides which checks of this instance may begin, and when it takes, renews and releases the lease.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::CheckCounts;
use crate::redis::Availability;

/// The lease outlasts a check by this time, and its holder may begin checks for this long after a renewal.
const BEGIN_WITHIN: Duration = Duration::from_secs(4);
/// The time from one renewal to the next.
const RENEWAL: Duration = Duration::from_secs(1);
/// The pause between two attempts to get the lease.
const PAUSE: Duration = Duration::from_millis(250);
/// How long the key must have had no value before another instance than the holder takes the lease:
/// Redis may have lost it, and the holder renews it sooner.
const LOST_AFTER: Duration = Duration::from_millis(1_500);
/// How long the holder keeps the lease although another instance waits for it.
const TURN: Duration = Duration::from_secs(3);
/// From a release to the next attempt if other instances wait: the next holder and one that waits behind it
/// ask before.
const TO_OTHERS: Duration = PAUSE.saturating_mul(3);
/// How long other instances may take to notice that Redis has returned.
const RECONNECTION: Duration = Duration::from_secs(3);

/// The limit of a fleet.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most checks in flight at a time over all instances.
    pub checks: usize,
    /// No check takes longer.
    pub longest_check: Duration,
}

/// What the task of the limit does next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Takes or renews the lease; `may_take_missing`: also if its key is missing.
    Take { may_take_missing: bool },
    /// Releases the lease.
    Release,
    /// Waits until this time, or for a change.
    Wait(Option<Instant>),
}

/// Redis's answer to an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// This instance has the lease.
    Held {
        /// Whether another one waits for it.
        is_awaited: bool,
    },
    /// Another instance has the lease or gets it next.
    Other,
    /// The key is missing: Redis has lost it, or nobody has had the lease for a day.
    Missing,
}

impl Answer {
    /// The answer by the word that the script returns.
    pub(super) fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "held" => Self::Held { is_awaited: false },
            "awaited" => Self::Held { is_awaited: true },
            "other" => Self::Other,
            "missing" => Self::Missing,
            _ => return None,
        })
    }
}

/// Redis, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RedisState {
    Unknown,
    Available {
        session: u64,
        /// When it has returned, or was found to have lost the lease.
        returned: Option<Instant>,
    },
    Unavailable {
        since: Instant,
        /// Whether this instance had the lease then.
        is_holder: bool,
    },
}

/// The lease, as this instance knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeaseState {
    NotHeld,
    /// Its key has been missing since this time.
    Missing {
        since: Instant,
    },
    Held {
        since: Instant,
        /// When the last successful renewal was sent.
        renewed: Instant,
        is_awaited: bool,
    },
}

/// The limit as one instance knows it. `W` is the handle of a check that waits.
pub(super) struct LimitState<W> {
    limits: Limits,
    redis: RedisState,
    lease: LeaseState,
    in_flight: usize,
    waiting: VecDeque<W>,
    /// No attempt to get the lease before this time.
    next_attempt: Option<Instant>,
    /// The largest recent number of instances, and when it was last seen. While instances reconnect,
    /// Redis knows only some of them.
    instances: (usize, Instant),
}

impl<W> LimitState<W> {
    pub(super) fn new(limits: Limits, now: Instant) -> Self {
        Self {
            limits,
            redis: RedisState::Unknown,
            lease: LeaseState::NotHeld,
            in_flight: 0,
            waiting: VecDeque::new(),
            next_attempt: None,
            instances: (1, now),
        }
    }

    /// How long the lease lasts after a renewal: any check that began with it has ended then.
    pub(super) fn lifetime(&self) -> Duration {
        self.limits.longest_check + BEGIN_WITHIN
    }

    pub(super) fn counts(&self) -> CheckCounts {
        CheckCounts { in_flight: self.in_flight, waiting: self.waiting.len() }
    }

    pub(super) fn enqueue(&mut self, check: W) {
        self.waiting.push_back(check);
    }

    /// A check that begins now.
    pub(super) fn next(&mut self, now: Instant) -> Option<W> {
        if self.in_flight >= self.limit(now) {
            return None;
        }
        let check = self.waiting.pop_front()?;
        self.in_flight += 1;
        Some(check)
    }

    /// Records the end of a check.
    pub(super) fn record_end(&mut self) {
        self.in_flight -= 1;
    }

    /// Records the number of instances that Redis knows.
    pub(super) fn set_instances(&mut self, count: usize, now: Instant) {
        let (most, at) = self.instances;
        if count >= most || now.duration_since(at) > self.settling_time() {
            self.instances = (count.max(1), now);
        }
    }

    /// Records whether Redis is available.
    pub(super) fn set_redis(&mut self, availability: &Availability, now: Instant) {
        self.redis = match (availability, self.redis) {
            (Availability::Connecting, _) => RedisState::Unknown,
            (
                Availability::Available { session },
                before @ RedisState::Available { session: known, .. },
            ) if known == *session => before,
            (Availability::Available { session }, before) => {
                self.instances.1 = now;
                let returned = (before != RedisState::Unknown).then_some(now);
                RedisState::Available { session: *session, returned }
            }
            (Availability::Unavailable { .. }, before @ RedisState::Unavailable { .. }) => before,
            (Availability::Unavailable { since, .. }, _) => {
                self.instances.1 = now;
                if matches!(self.lease, LeaseState::Missing { .. }) {
                    self.lease = LeaseState::NotHeld;
                }
                let is_holder = matches!(self.lease, LeaseState::Held { renewed, .. }
                    if since.saturating_duration_since(renewed) < self.lifetime());
                RedisState::Unavailable { since: *since, is_holder }
            }
        };
    }

    /// What the task does at this time. Afterwards it calls [`LimitState::next`].
    pub(super) fn step(&mut self, now: Instant) -> Step {
        match self.redis {
            RedisState::Unknown => return Step::Wait(None),
            RedisState::Unavailable { since, .. } => {
                return Step::Wait(Some(since + self.lifetime()).filter(|at| *at > now));
            }
            RedisState::Available { .. } => {}
        }
        let (due, may_take_missing) = match self.lease {
            LeaseState::Held { renewed, is_awaited, .. } => {
                if self.in_flight == 0 && (self.waiting.is_empty() || self.is_turn_over(now)) {
                    // No check may begin before the lease is released.
                    self.lease = LeaseState::NotHeld;
                    self.next_attempt = is_awaited.then_some(now + TO_OTHERS);
                    return Step::Release;
                }
                let is_valid = now.saturating_duration_since(renewed) < self.lifetime();
                (renewed + RENEWAL, is_valid)
            }
            _ if self.waiting.is_empty() => return Step::Wait(None),
            LeaseState::Missing { since } => {
                (now, now.saturating_duration_since(since) >= LOST_AFTER)
            }
            LeaseState::NotHeld => (now, false),
        };
        let due = due.max(self.next_attempt.unwrap_or(due));
        if due <= now { Step::Take { may_take_missing } } else { Step::Wait(Some(due)) }
    }

    /// Records the answer to an attempt that was sent at this time; `None`: there is none, and the
    /// attempt may have been executed.
    pub(super) fn record_answer(&mut self, answer: Option<Answer>, sent: Instant, now: Instant) {
        self.next_attempt = Some(now + PAUSE);
        self.lease = match (answer, self.lease) {
            (None, before) | (Some(Answer::Missing), before @ LeaseState::Missing { .. }) => before,
            (Some(Answer::Held { is_awaited }), before) => {
                self.next_attempt = None;
                if let (LeaseState::Missing { .. }, RedisState::Available { returned, .. }) =
                    (before, &mut self.redis)
                {
                    *returned = Some(now);
                }
                let since = if let LeaseState::Held { since, .. } = before { since } else { now };
                LeaseState::Held { since, renewed: sent, is_awaited }
            }
            (Some(Answer::Other), _) => LeaseState::NotHeld,
            (Some(Answer::Missing), _) => LeaseState::Missing { since: sent },
        };
    }

    /// The most checks of this instance in flight now.
    fn limit(&self, now: Instant) -> usize {
        match (self.redis, self.lease) {
            (RedisState::Available { returned, .. }, LeaseState::Held { renewed, .. }) => {
                let settles = |at| now.saturating_duration_since(at) < self.settling_time();
                if now.saturating_duration_since(renewed) >= BEGIN_WITHIN || self.is_turn_over(now)
                {
                    0
                } else if returned.is_some_and(settles) {
                    // Other instances may have begun checks without Redis.
                    self.limit_without_redis()
                } else {
                    self.limits.checks
                }
            }
            (RedisState::Unavailable { since, is_holder }, _) => {
                // Until then, checks may be in flight that the holder began with the lease.
                let is_over = now.saturating_duration_since(since) >= self.lifetime();
                if is_holder || is_over { self.limit_without_redis() } else { 0 }
            }
            _ => 0,
        }
    }

    /// Whether this instance has had the lease for long enough, and another one waits for it.
    fn is_turn_over(&self, now: Instant) -> bool {
        matches!(self.lease, LeaseState::Held { since, is_awaited: true, .. }
            if now.saturating_duration_since(since) >= TURN)
    }

    /// The limit of an instance without Redis.
    fn limit_without_redis(&self) -> usize {
        (self.limits.checks / self.instances.0).max(1)
    }

    /// How long after Redis's return other instances may have checks in flight.
    fn settling_time(&self) -> Duration {
        self.lifetime() + RECONNECTION
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redis::Error;

    const LIMITS: Limits = Limits { checks: 10, longest_check: Duration::from_secs(11) };
    const HELD: Option<Answer> = Some(Answer::Held { is_awaited: false });
    const AWAITED: Option<Answer> = Some(Answer::Held { is_awaited: true });
    const TAKE: Step = Step::Take { may_take_missing: false };

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn available(now: Instant) -> LimitState<u32> {
        let mut state = LimitState::new(LIMITS, now);
        state.set_redis(&Availability::Available { session: 1 }, now);
        state
    }

    fn unavailable(since: Instant) -> Availability {
        Availability::Unavailable { reason: Error::Unavailable, since }
    }

    fn enqueue(state: &mut LimitState<u32>, checks: u32) {
        (0..checks).for_each(|check| state.enqueue(check));
    }

    /// How many checks begin now.
    fn begin(state: &mut LimitState<u32>, now: Instant) -> usize {
        std::iter::from_fn(|| state.next(now)).count()
    }

    #[test]
    fn holder_has_ten_checks_in_flight_and_releases_the_lease_after_the_last_one() {
        let now = Instant::now();
        let mut state = available(now);
        assert_eq!(state.step(now), Step::Wait(None), "there is nothing to check");
        enqueue(&mut state, 12);
        assert_eq!((begin(&mut state, now), state.step(now)), (0, TAKE));
        state.record_answer(HELD, now, now);
        assert_eq!(begin(&mut state, now), 10);
        assert_eq!(state.step(now), Step::Wait(Some(now + RENEWAL)));
        assert_eq!(state.step(now + RENEWAL), Step::Take { may_take_missing: true });
        (0..10).for_each(|_| state.record_end());
        assert_eq!((begin(&mut state, now), state.counts().waiting), (2, 0));
        (0..2).for_each(|_| state.record_end());
        assert_eq!(state.step(now), Step::Release);
        assert_eq!(state.step(now), Step::Wait(None));
    }

    #[test]
    fn no_check_outlives_the_lease_of_a_process_that_was_paused() {
        let now = Instant::now();
        let mut state = available(now);
        enqueue(&mut state, 20);
        state.record_answer(HELD, now, now);
        assert_eq!(begin(&mut state, now), 10);
        state.record_end();
        assert_eq!(begin(&mut state, now + BEGIN_WITHIN), 0);
        assert_eq!(state.step(now + BEGIN_WITHIN), Step::Take { may_take_missing: true });
        let late = now + state.lifetime();
        assert_eq!(state.step(late), TAKE, "another instance may have had it");
        state.record_answer(Some(Answer::Other), late, late);
        assert_eq!(
            (begin(&mut state, late), state.step(late)),
            (0, Step::Wait(Some(late + PAUSE)))
        );
    }

    #[test]
    fn instances_take_turns() {
        let now = Instant::now();
        let mut state = available(now);
        enqueue(&mut state, 30);
        state.record_answer(AWAITED, now, now);
        assert_eq!(begin(&mut state, now), 10);
        state.record_answer(AWAITED, now + TURN, now + TURN);
        state.record_end();
        assert_eq!(begin(&mut state, now + TURN), 0);
        assert_eq!(state.step(now + TURN), Step::Wait(Some(now + TURN + RENEWAL)));
        (0..9).for_each(|_| state.record_end());
        assert_eq!(state.step(now + TURN), Step::Release);
        let next = now + TURN + TO_OTHERS;
        assert_eq!(state.step(now + TURN), Step::Wait(Some(next)), "others ask before it");
        assert_eq!(state.step(next), TAKE, "it waits for its next turn");
    }

    #[test]
    fn instance_whose_checks_have_ended_lets_waiting_ones_ask_before_its_next_check() {
        let now = Instant::now();
        for (answer, next) in [(AWAITED, Step::Wait(Some(now + TO_OTHERS))), (HELD, TAKE)] {
            let mut state = available(now);
            enqueue(&mut state, 1);
            state.record_answer(answer, now, now);
            assert_eq!(begin(&mut state, now), 1);
            state.record_end();
            assert_eq!(state.step(now), Step::Release);
            enqueue(&mut state, 1);
            assert_eq!(state.step(now), next);
        }
    }

    #[test]
    fn lease_that_redis_has_lost_is_taken_after_its_holder_could_renew_it() {
        let now = Instant::now();
        let mut state = available(now);
        state.set_instances(3, now);
        enqueue(&mut state, 20);
        state.record_answer(Some(Answer::Missing), now, now);
        assert_eq!(state.step(now + PAUSE), TAKE);
        state.record_answer(Some(Answer::Missing), now + PAUSE, now + PAUSE);
        let late = now + LOST_AFTER;
        assert_eq!(state.step(late), Step::Take { may_take_missing: true });
        state.record_answer(HELD, late, late);
        assert_eq!(begin(&mut state, late), 3, "others may check without Redis");
        let settled = late + state.settling_time();
        state.record_answer(HELD, settled, settled);
        assert_eq!(begin(&mut state, settled), 7);
    }

    #[test]
    fn without_redis_the_holder_goes_on_with_its_share_and_others_wait_for_its_checks() {
        let now = Instant::now();
        for (is_holder, at_first) in [(true, 3), (false, 0)] {
            let mut state = available(now);
            state.set_instances(3, now);
            enqueue(&mut state, 30);
            if is_holder {
                state.record_answer(HELD, now, now);
                assert_eq!(begin(&mut state, now), 10);
                (0..10).for_each(|_| state.record_end());
            }
            state.set_redis(&unavailable(now), now);
            assert_eq!(begin(&mut state, now), at_first);
            let late = now + state.lifetime();
            assert_eq!(state.step(now), Step::Wait(Some(late)));
            state.set_redis(&unavailable(now), late);
            assert_eq!(begin(&mut state, late), 3 - at_first);
            // While the others find Redis again, it knows fewer of them.
            state.set_redis(&Availability::Available { session: 2 }, late);
            state.set_instances(1, late);
            state.record_answer(HELD, late, late);
            state.record_end();
            assert_eq!(begin(&mut state, late), 1);
        }
    }

    #[test]
    fn attempt_without_an_answer_is_repeated_after_a_pause() {
        let now = Instant::now();
        let mut state = available(now);
        enqueue(&mut state, 1);
        state.record_answer(None, now, now + ms(10));
        assert_eq!(state.step(now + ms(10)), Step::Wait(Some(now + ms(10) + PAUSE)));
        assert_eq!(state.step(now + seconds(1)), TAKE);
    }
}
