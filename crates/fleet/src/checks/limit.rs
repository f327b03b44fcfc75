//! The limit of URL checks in flight over all instances. The holder of a lease checks URLs, up to the
//! limit; instances that have URLs to check take turns. Without Redis, each instance has a part of the
//! limit.

mod state;

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::{Notify, oneshot};
use tokio::time::sleep_until;

use crate::redis;
use state::{Answer, LimitState, Step};

pub use state::Limits;

/// The time limit of a command. No check in flight waits for it.
const WITHIN: Duration = Duration::from_secs(1);
/// How often the last known number of instances is read. This takes no command.
const INSTANCES_PERIOD: Duration = Duration::from_secs(2);

/// Takes or renews the lease. Keys: the lease, and the instance that gets it next. Arguments: instance,
/// lifetime in ms, and whether it may take the lease if the key is missing: the holder renews it, or Redis
/// has lost it and the holder has not renewed it for some time. Returns one of the words of `Answer`.
const TAKE: &str = r"
local me, lifetime, next_ms = ARGV[1], tonumber(ARGV[2]), 3000
remove_foreign(KEYS[1], 'string')
remove_foreign(KEYS[2], 'string')
-- A foreign text in the second key expires.
redis.call('PEXPIRE', KEYS[2], next_ms, 'LT')
local holder, next = redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2])
local is_free = holder == 'free' or not holder and ARGV[3] == '1'
if holder == me or is_free and (not next or next == me) then
  redis.call('SET', KEYS[1], me, 'PX', lifetime)
  if next == me then redis.call('DEL', KEYS[2]) end
  return (next and next ~= me) and 'awaited' or 'held'
end
if not next or next == me then redis.call('SET', KEYS[2], me, 'PX', next_ms) end
if not holder then return 'missing' end
if holder ~= 'free' then redis.call('PEXPIRE', KEYS[1], lifetime, 'LT') end
return 'other'
";

/// Releases the lease. Keys: as of [`TAKE`]. Argument: instance.
const RELEASE: &str = r"
if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], 'free', 'PX', 86400000)
return 1
";

/// The limit, as this instance shares it. Clones are the same limit.
#[derive(Clone)]
pub struct CheckLimit(Arc<Shared>);

struct Shared {
    redis: redis::Client,
    state: Mutex<LimitState<oneshot::Sender<InFlight>>>,
    changed: Notify,
}

/// The right to have one check in flight, until it is dropped.
pub struct InFlight {
    /// `None`: the check was given up before it began.
    shared: Option<Arc<Shared>>,
}

/// How many checks an instance has in flight, and how many wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckCounts {
    /// Checks in flight.
    pub in_flight: usize,
    /// Checks that wait until they may begin.
    pub waiting: usize,
}

impl CheckLimit {
    /// The limit of the instances that share this Redis. Starts the task that takes and renews the
    /// lease; must be called within a runtime.
    pub fn start(redis: redis::Client, limits: Limits) -> Self {
        let state = Mutex::new(LimitState::new(limits, Instant::now()));
        let shared = Arc::new(Shared { redis, state, changed: Notify::new() });
        tokio::spawn(Arc::clone(&shared).drive());
        Self(shared)
    }

    /// Waits until a check may begin. Dropping the future leaves the queue.
    ///
    /// # Panics
    /// If the runtime has shut down.
    pub async fn acquire(&self) -> InFlight {
        let (sender, receiver) = oneshot::channel();
        self.0.state.lock().enqueue(sender);
        self.0.begin_waiting();
        receiver.await.expect("the state keeps each sender until its check may begin")
    }

    /// The checks of this instance.
    pub fn counts(&self) -> CheckCounts {
        self.0.state.lock().counts()
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.take() {
            shared.state.lock().record_end();
            shared.begin_waiting();
        }
    }
}

impl Shared {
    /// Lets the checks begin that may, and wakes the task for the others.
    fn begin_waiting(self: &Arc<Self>) {
        let mut state = self.state.lock();
        while let Some(check) = state.next(Instant::now()) {
            let in_flight = InFlight { shared: Some(Arc::clone(self)) };
            if let Err(mut unused) = check.send(in_flight) {
                // Its drop must not lock the state again.
                unused.shared = None;
                state.record_end();
            }
        }
        drop(state);
        self.changed.notify_one();
    }

    async fn drive(self: Arc<Self>) {
        let mut availability = self.redis.watch();
        loop {
            let present = availability.borrow_and_update().clone();
            let step = {
                let (mut state, now) = (self.state.lock(), Instant::now());
                state.set_redis(&present, now);
                state.set_instances(self.redis.instances(), now);
                state.step(now)
            };
            match step {
                Step::Take { may_take_missing } => self.take(may_take_missing).await,
                Step::Release => self.release().await,
                Step::Wait(until) => {
                    let latest = Instant::now() + INSTANCES_PERIOD;
                    let until = until.map_or(latest, |until| until.min(latest));
                    tokio::select! {
                        () = sleep_until(until.into()) => {}
                        () = self.changed.notified() => continue,
                        changed = availability.changed() => if changed.is_err() { return },
                    }
                }
            }
            self.begin_waiting();
        }
    }

    async fn take(&self, may_take_missing: bool) {
        let sent = Instant::now();
        let lifetime = self.state.lock().lifetime().as_millis();
        let arguments =
            vec![self.redis.instance_id().into(), lifetime.into(), may_take_missing.into()];
        let keys = self.keys();
        let answer = self.redis.script::<String>(TAKE, &keys, arguments, WITHIN).await;
        let answer = answer.ok().and_then(|answer| Answer::parse(&answer));
        self.state.lock().record_answer(answer, sent, Instant::now());
    }

    /// If it fails, the lease expires.
    async fn release(&self) {
        let arguments = vec![self.redis.instance_id().into()];
        let _: Result<i64, _> = self.redis.script(RELEASE, &self.keys(), arguments, WITHIN).await;
    }

    fn keys(&self) -> [String; 2] {
        ["url-checks", "url-checks:next"].map(|name| self.redis.key(name))
    }
}
