//! Permits for URL checks, which limit the checks in flight over all instances. One task renews and
//! returns the permits of this instance and requests further ones; one script does all three.

mod pool;
mod script;

use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio::time::sleep_until;

use crate::redis;
use crate::redis::{Argument, Script};
use pool::{PermitPool, Step};
use script::PERMITS;

pub use pool::Limits;

/// The time limit of an attempt. No check that has a permit waits for it.
const WITHIN: Duration = Duration::from_secs(1);
/// How often the pool gets the last known number of instances. This takes no command.
const INSTANCES_PERIOD: Duration = Duration::from_secs(2);

static SCRIPT: LazyLock<Script> = LazyLock::new(|| Script::new(PERMITS));

/// The permits of this instance. Clones share them.
#[derive(Clone)]
pub struct Permits(Arc<Shared>);

struct Shared {
    redis: redis::Client,
    pool: Mutex<PermitPool<oneshot::Sender<Permit>>>,
    changed: Notify,
}

/// The right to have one check in flight, until it is dropped.
pub struct Permit {
    shared: Arc<Shared>,
    /// `None`: the check was given up, and the permit went back to the pool.
    token: Option<String>,
}

impl Permits {
    /// Permits from this Redis. Starts the task that requests them; must be called within a
    /// runtime.
    #[must_use]
    pub fn start(redis: redis::Client, limits: Limits) -> Self {
        let pool = PermitPool::new(limits, redis.instance_id(), Instant::now());
        let changed = Notify::new();
        let shared = Arc::new(Shared { redis, pool: Mutex::new(pool), changed });
        tokio::spawn(Arc::clone(&shared).drive());
        Self(shared)
    }

    /// Waits for a permit. Dropping the future leaves the queue.
    ///
    /// # Panics
    /// If the runtime has shut down.
    pub async fn acquire(&self) -> Permit {
        let (sender, receiver) = oneshot::channel();
        self.0.pool.lock().wait(sender);
        self.0.hand_over();
        receiver.await.expect("the pool keeps each sender until it has a permit")
    }

    /// The numbers of checks of this instance that are in flight, and that wait for a permit.
    #[must_use]
    pub fn counts(&self) -> PermitCounts {
        self.0.pool.lock().counts()
    }
}

/// How many permits an instance uses, and how many checks wait for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermitCounts {
    /// Checks that are in flight.
    pub in_use: usize,
    /// Checks that wait for a permit.
    pub waiting: usize,
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(token) = self.token.take() {
            self.shared.pool.lock().free(&token, Instant::now());
            self.shared.hand_over();
        }
    }
}

impl Shared {
    /// Gives free permits to checks that wait, and wakes the task for the rest.
    fn hand_over(self: &Arc<Self>) {
        let now = Instant::now();
        let mut pool = self.pool.lock();
        while let Some((check, token)) = pool.next(now) {
            let permit = Permit { shared: Arc::clone(self), token: Some(token) };
            // The check may have been given up.
            if let Err(mut unused) = check.send(permit)
                && let Some(token) = unused.token.take()
            {
                pool.free(&token, now);
            }
        }
        drop(pool);
        self.changed.notify_one();
    }

    async fn drive(self: Arc<Self>) {
        let mut states = self.redis.watch();
        let mut known = redis::Availability::Connecting;
        loop {
            let state = states.borrow_and_update().clone();
            self.note(&known, &state);
            known = state;
            let step = self.pool.lock().step(Instant::now());
            match step {
                Step::Send(request) => self.send(request).await,
                Step::Wait(until) => {
                    let now = Instant::now();
                    let until = until
                        .map_or(now + INSTANCES_PERIOD, |until| until.min(now + INSTANCES_PERIOD));
                    tokio::select! {
                        () = sleep_until(until.into()) => {}
                        () = self.changed.notified() => continue,
                        changed = states.changed() => if changed.is_err() { return },
                    }
                }
            }
            self.hand_over();
        }
    }

    /// Passes a change of Redis's state to the pool.
    fn note(&self, known: &redis::Availability, state: &redis::Availability) {
        let now = Instant::now();
        let mut pool = self.pool.lock();
        match (known, state) {
            (
                redis::Availability::Available { session: before },
                redis::Availability::Available { session },
            ) if before == session => {}
            (_, redis::Availability::Available { .. }) => pool.connect(now),
            (redis::Availability::Unavailable { .. }, redis::Availability::Unavailable { .. })
            | (_, redis::Availability::Connecting) => {}
            (_, redis::Availability::Unavailable { since, .. }) => pool.disconnect(*since, now),
        }
        pool.set_instances(self.redis.instances(), now);
    }

    async fn send(&self, request: Request) {
        let sent = Instant::now();
        let names = ["permits", "permits:short", "permits:known", "permits:settling"];
        let keys = names.map(|name| self.redis.key(name));
        let arguments = self.arguments(&request);
        let response = self.redis.script(&SCRIPT, &keys, arguments, WITHIN).await;
        let mut pool = self.pool.lock();
        match response {
            Ok((granted, keep, is_short, expired)) => {
                let reply = Reply { granted, keep, is_short, expired };
                pool.apply(request, &reply, sent);
            }
            Err(_) => pool.fail(request, Instant::now()),
        }
    }

    fn arguments(&self, request: &Request) -> Vec<Argument> {
        let pool = self.pool.lock();
        let (limits, settling) = (pool.limits(), pool.settling_time());
        drop(pool);
        let Request { busy, idle, returned, wanted, is_first_of_session, share } = request;
        let numbers = [
            limits.checks,
            millis(limits.lifetime),
            millis(settling),
            *share,
            usize::from(*is_first_of_session),
            busy.len(),
            idle.len(),
            returned.len(),
        ];
        let instance = self.redis.instance_id().to_owned();
        let numbers = numbers.iter().map(ToString::to_string);
        let permits = [busy, idle, returned, wanted].into_iter().flatten().cloned();
        let texts = std::iter::once(instance).chain(numbers).chain(permits);
        texts.map(Argument::from).collect()
    }
}

fn millis(time: Duration) -> usize {
    usize::try_from(time.as_millis()).unwrap_or(usize::MAX)
}

/// What one attempt sends to Redis.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    /// Permits of checks in flight.
    busy: Vec<String>,
    /// Permits for checks that wait.
    idle: Vec<String>,
    /// Permits that are returned.
    returned: Vec<String>,
    /// Further permits that checks wait for.
    wanted: Vec<String>,
    /// Whether this instance may have checks in flight that Redis does not know.
    is_first_of_session: bool,
    /// The most permits of an instance until the checks that Redis does not know have ended.
    share: usize,
}

/// Redis's response to a [`Request`].
#[derive(Debug)]
struct Reply {
    /// How many of the wanted permits were granted: the first ones.
    granted: usize,
    /// How many permits this instance may keep when a check ends.
    keep: usize,
    /// Whether this instance has less than its share.
    is_short: bool,
    /// Idle permits that had expired.
    expired: Vec<String>,
}
