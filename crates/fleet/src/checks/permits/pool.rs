//! The permits of an instance: which check gets one, and what the next attempt sends to Redis.
//! Without Redis, the pool limits the checks of this instance by itself.

use std::collections::VecDeque;
use std::mem;
use std::time::{Duration, Instant};

use super::{PermitCounts, Reply, Request};

/// A check begins only if its permit expires at least so much later, so that no check outlives its
/// permit.
const RESERVED_FOR_A_CHECK: Duration = Duration::from_millis(11_500);
/// A permit for which no check waits is returned after this time, so that several are returned
/// together.
const LINGER: Duration = Duration::from_millis(5);
/// The pauses between two attempts while an instance has less than its share: the first one, and
/// the longest.
const SHORT_PAUSES: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(50)];
/// The pause while an instance has its share and wants further permits.
const LONG_PAUSE: Duration = Duration::from_millis(250);
/// The pause after an attempt that has failed.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(100);
/// A permit in use is renewed this long before it expires, even if no check waits for one.
const RENEWED_BEFORE: Duration = Duration::from_secs(2);
/// How long other instances may take to notice that Redis has returned.
const RECONNECTION: Duration = Duration::from_secs(3);

/// The limits of a fleet.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most checks in flight at a time over all instances.
    pub checks: usize,
    /// A permit expires so long after its last renewal; no check takes as long.
    pub lifetime: Duration,
}

/// What the task of the pool does next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Send(Request),
    /// Wait until this time, or until the pool changes.
    Wait(Option<Instant>),
}

/// The source of permits at present.
#[derive(Debug)]
enum Mode {
    /// None: it is not known yet whether Redis is available.
    Unknown,
    /// Redis.
    Redis,
    /// The pool itself, because Redis is unavailable.
    Local {
        /// From then on, no check of another instance is in flight that began with a permit.
        settled: Instant,
        /// The permits that this instance had when Redis became unavailable.
        carried: Vec<String>,
    },
}

/// The permits of one instance. `W` is the handle of a check that waits.
pub(super) struct PermitPool<W> {
    limits: Limits,
    instance: String,
    issued: u64,
    mode: Mode,
    is_first_of_session: bool,
    busy: Vec<String>,
    idle: Vec<String>,
    returned: Vec<String>,
    /// When the last successful attempt was sent.
    renewed: Option<Instant>,
    keep: usize,
    waiting: VecDeque<W>,
    /// No attempt to get further permits before this time.
    next_attempt: Option<Instant>,
    pause: Duration,
    /// Nothing is sent before this time: an attempt has failed.
    retry: Option<Instant>,
    /// Since when a permit is free that is to be returned.
    freed: Option<Instant>,
    /// The largest recent number of instances, and when it was last seen. While instances
    /// reconnect, Redis knows only some of them.
    instances: (usize, Instant),
}

impl<W> PermitPool<W> {
    pub(super) fn new(limits: Limits, instance: &str, now: Instant) -> Self {
        Self {
            limits,
            instance: instance.to_owned(),
            issued: 0,
            mode: Mode::Unknown,
            is_first_of_session: false,
            busy: Vec::new(),
            idle: Vec::new(),
            returned: Vec::new(),
            renewed: None,
            keep: limits.checks,
            waiting: VecDeque::new(),
            next_attempt: None,
            pause: SHORT_PAUSES[0],
            retry: None,
            freed: None,
            instances: (1, now),
        }
    }

    /// Records the number of instances that Redis knows.
    pub(super) fn set_instances(&mut self, count: usize, now: Instant) {
        let (most, at) = self.instances;
        if count >= most || now.duration_since(at) > self.settling_time() {
            self.instances = (count.max(1), now);
        }
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    /// How long after Redis's return checks may be in flight that it does not know.
    pub(super) fn settling_time(&self) -> Duration {
        self.limits.lifetime + RECONNECTION
    }

    /// The limit of an instance without Redis.
    fn share(&self) -> usize {
        (self.limits.checks / self.instances.0).max(1)
    }

    /// The numbers of checks in flight, and of those that wait.
    pub(super) fn counts(&self) -> PermitCounts {
        PermitCounts { in_use: self.busy.len(), waiting: self.waiting.len() }
    }

    pub(super) fn wait(&mut self, check: W) {
        self.waiting.push_back(check);
    }

    /// A check that may begin now, with its permit.
    pub(super) fn next(&mut self, now: Instant) -> Option<(W, String)> {
        if self.waiting.is_empty() {
            return None;
        }
        let permit = match self.mode {
            Mode::Redis if self.is_fresh(now) => self.idle.pop()?,
            Mode::Unknown | Mode::Redis => return None,
            Mode::Local { settled, ref carried } => {
                let carried = if now < settled { carried.len() } else { usize::MAX };
                (self.busy.len() < self.share().min(carried)).then(|| self.issue())?
            }
        };
        self.busy.push(permit.clone());
        Some((self.waiting.pop_front()?, permit))
    }

    /// Takes back the permit of a check that has ended, or that does not begin.
    pub(super) fn free(&mut self, permit: &str, now: Instant) {
        self.busy.retain(|busy| busy != permit);
        if !matches!(self.mode, Mode::Redis) {
            return;
        }
        if self.busy.len() + self.idle.len() < self.keep {
            self.idle.push(permit.to_owned());
        } else {
            self.returned.push(permit.to_owned());
        }
        self.freed.get_or_insert(now);
    }

    /// Switches to permits from Redis, which can be used for the first time or again, and may
    /// have lost what it knew.
    pub(super) fn connect(&mut self, now: Instant) {
        self.is_first_of_session = !matches!(self.mode, Mode::Unknown);
        let mode = mem::replace(&mut self.mode, Mode::Redis);
        if let Mode::Local { carried, .. } = mode {
            let is_free = |permit: &String| !self.busy.contains(permit);
            self.returned.extend(carried.into_iter().filter(is_free));
        }
        self.returned.append(&mut self.idle);
        self.keep = self.limits.checks;
        self.instances.1 = now;
        (self.renewed, self.next_attempt, self.retry) = (None, None, None);
        self.freed = Some(now);
    }

    /// Switches to permits of the pool: Redis has been unavailable since this time.
    pub(super) fn disconnect(&mut self, since: Instant, now: Instant) {
        let carried = self.busy.iter().cloned().chain(self.idle.drain(..)).collect();
        self.mode = Mode::Local { settled: since + self.limits.lifetime, carried };
        self.instances.1 = now;
    }

    /// What the task does at this time. Afterwards it calls [`PermitPool::next`].
    pub(super) fn step(&mut self, now: Instant) -> Step {
        match self.mode {
            Mode::Unknown => Step::Wait(None),
            Mode::Local { settled, .. } => Step::Wait(Some(settled).filter(|at| *at > now)),
            Mode::Redis => match self.due(now) {
                Some(due) if due <= now => Step::Send(self.request()),
                due => Step::Wait(due),
            },
        }
    }

    pub(super) fn apply(&mut self, request: Request, reply: &Reply, sent: Instant) {
        self.renewed = Some(sent);
        self.is_first_of_session = false;
        self.retry = None;
        self.keep = reply.keep;
        self.idle.retain(|permit| !reply.expired.contains(permit));
        let unmet = reply.granted < request.wanted.len();
        self.idle.extend(request.wanted.into_iter().take(reply.granted));
        self.pause = match (reply.is_short, reply.granted) {
            (false, _) => LONG_PAUSE,
            (true, 0) if self.pause < LONG_PAUSE => (self.pause * 2).min(SHORT_PAUSES[1]),
            (true, _) => SHORT_PAUSES[0],
        };
        self.next_attempt = unmet.then(|| sent + self.pause.mul_f64(0.5 + fastrand::f64()));
    }

    /// Records that an attempt has failed: Redis may have executed it or not.
    pub(super) fn fail(&mut self, request: Request, now: Instant) {
        self.is_first_of_session |= request.is_first_of_session;
        self.returned.extend(request.returned);
        self.returned.extend(request.wanted);
        self.freed = Some(now);
        self.retry = Some(now + PAUSE_AFTER_FAILURE.mul_f64(0.5 + fastrand::f64()));
    }

    /// When the next attempt is due; `None`: nothing is to be renewed, returned or requested.
    fn due(&self, now: Instant) -> Option<Instant> {
        let (held, waiting) = (self.busy.len() + self.idle.len(), self.waiting.len());
        let session = self.is_first_of_session.then_some(now);
        let is_stale = waiting > 0 && !self.idle.is_empty() && !self.is_fresh(now);
        let wants = waiting > self.idle.len() && held < self.limits.checks;
        let wanted = wants.then(|| self.next_attempt.unwrap_or(now));
        let is_unused = waiting == 0 && !self.idle.is_empty() || !self.returned.is_empty();
        let unused = is_unused.then(|| self.freed.map_or(now, |freed| freed + LINGER));
        let lifetime = self.limits.lifetime.saturating_sub(RENEWED_BEFORE);
        let renewal = self.renewed.filter(|_| !self.busy.is_empty()).map(|at| at + lifetime);
        let due = [session, is_stale.then_some(now), wanted, unused, renewal];
        let first = due.into_iter().flatten().min()?;
        Some(first.max(self.retry.unwrap_or(first)))
    }

    fn request(&mut self) -> Request {
        self.freed = None;
        if self.waiting.is_empty() {
            self.returned.append(&mut self.idle);
        }
        let held = self.busy.len() + self.idle.len();
        let wanted = self.waiting.len().saturating_sub(self.idle.len());
        let wanted = wanted.min(self.limits.checks.saturating_sub(held));
        Request {
            busy: self.busy.clone(),
            idle: self.idle.clone(),
            returned: mem::take(&mut self.returned),
            wanted: (0..wanted).map(|_| self.issue()).collect(),
            is_first_of_session: self.is_first_of_session,
            share: self.share(),
        }
    }

    fn issue(&mut self) -> String {
        self.issued += 1;
        format!("{}:{}", self.instance, self.issued)
    }

    /// Whether a check that begins now ends before its permit expires.
    fn is_fresh(&self, now: Instant) -> bool {
        let usable = self.limits.lifetime.saturating_sub(RESERVED_FOR_A_CHECK);
        self.renewed.is_some_and(|renewed| now.duration_since(renewed) <= usable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { checks: 10, lifetime: Duration::from_secs(12) };
    const GRANTED: Reply = Reply { granted: 10, keep: 10, is_short: false, expired: Vec::new() };

    fn connected(now: Instant) -> PermitPool<u32> {
        let mut pool = PermitPool::new(LIMITS, "a", now);
        pool.connect(now);
        pool
    }

    fn sent(pool: &mut PermitPool<u32>, now: Instant) -> Request {
        match pool.step(now) {
            Step::Send(request) => request,
            wait @ Step::Wait(_) => panic!("{wait:?}"),
        }
    }

    fn begun(pool: &mut PermitPool<u32>, now: Instant) -> Vec<String> {
        std::iter::from_fn(|| pool.next(now)).map(|(_, permit)| permit).collect()
    }

    fn wait(pool: &mut PermitPool<u32>, checks: u32) {
        for check in 0..checks {
            pool.wait(check);
        }
    }

    fn free(pool: &mut PermitPool<u32>, permits: &[String], now: Instant) {
        for permit in permits {
            pool.free(permit, now);
        }
    }

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn permits_are_handed_from_check_to_check_until_they_need_a_renewal() {
        let now = Instant::now();
        let mut pool = connected(now);
        wait(&mut pool, 100);
        let request = sent(&mut pool, now);
        assert_eq!((request.wanted.len(), request.is_first_of_session), (10, false));
        assert_eq!(pool.next(now), None, "nothing is granted yet");
        pool.apply(request, &GRANTED, now);
        let mut permits = begun(&mut pool, now);
        for _ in 0..5 {
            assert_eq!((permits.len(), pool.counts().in_use), (10, 10));
            free(&mut pool, &permits, now + ms(100));
            permits = begun(&mut pool, now + ms(400));
        }
        assert!(matches!(pool.step(now + ms(400)), Step::Wait(Some(_))));
        free(&mut pool, &permits, now + ms(600));
        assert_eq!(pool.next(now + ms(600)), None, "a check could outlive its permit");
        let request = sent(&mut pool, now + ms(600));
        assert_eq!((request.idle.len(), request.wanted.len()), (10, 0));
        pool.apply(request, &Reply { granted: 0, ..GRANTED }, now + ms(600));
        assert_eq!(begun(&mut pool, now + ms(600)).len(), 10);
    }

    #[test]
    fn permits_that_no_check_waits_for_are_returned_together() {
        let now = Instant::now();
        let mut pool = connected(now);
        wait(&mut pool, 10);
        let request = sent(&mut pool, now);
        pool.apply(request, &GRANTED, now);
        let permits = begun(&mut pool, now);
        free(&mut pool, &permits, now);
        assert_eq!(pool.step(now), Step::Wait(Some(now + LINGER)));
        let request = sent(&mut pool, now + LINGER);
        assert_eq!((request.returned.len(), request.wanted.len()), (10, 0));
        pool.apply(request, &Reply { granted: 0, ..GRANTED }, now);
        assert_eq!(pool.step(now + ms(60_000)), Step::Wait(None));
    }

    #[test]
    fn instance_with_more_than_its_share_returns_permits_as_checks_end() {
        let now = Instant::now();
        let mut pool = connected(now);
        wait(&mut pool, 30);
        let request = sent(&mut pool, now);
        pool.apply(request, &Reply { keep: 5, ..GRANTED }, now);
        for permit in begun(&mut pool, now) {
            pool.free(&permit, now);
            begun(&mut pool, now);
        }
        assert_eq!((pool.busy.len(), pool.returned.len()), (5, 5));
    }

    #[test]
    fn without_redis_an_instance_has_its_share_and_at_first_no_more_than_it_had() {
        let now = Instant::now();
        for (held, at_first, settled) in [(0, 0, 3), (2, 2, 3), (10, 3, 3)] {
            let mut pool = connected(now);
            pool.set_instances(3, now);
            wait(&mut pool, held);
            if held > 0 {
                let request = sent(&mut pool, now);
                pool.apply(request, &Reply { granted: held as usize, ..GRANTED }, now);
            }
            let permits = begun(&mut pool, now);
            pool.disconnect(now, now);
            wait(&mut pool, 30);
            free(&mut pool, &permits, now);
            assert_eq!(begun(&mut pool, now).len(), at_first, "{held}");
            assert_eq!(pool.step(now), Step::Wait(Some(now + LIMITS.lifetime)));
            begun(&mut pool, now + LIMITS.lifetime);
            assert_eq!(pool.busy.len(), settled, "{held}");
            // While the others find Redis again, it knows fewer of them.
            pool.connect(now);
            pool.set_instances(1, now);
            let request = sent(&mut pool, now);
            assert_eq!((request.busy.len(), request.share), (3, 3), "{held}");
            assert!(request.is_first_of_session && request.returned.len() == permits.len());
        }
    }

    #[test]
    fn permits_of_an_attempt_without_a_response_are_returned_with_the_next_one() {
        let now = Instant::now();
        let mut pool = connected(now);
        pool.wait(0);
        let request = sent(&mut pool, now);
        let doubtful = request.wanted.clone();
        pool.fail(request, now);
        assert!(matches!(pool.step(now), Step::Wait(Some(_))), "a pause after a failure");
        let request = sent(&mut pool, now + ms(200));
        assert_eq!(request.returned, doubtful);
        assert_ne!(request.wanted, doubtful);
    }
}
