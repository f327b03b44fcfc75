//! The heartbeat: one script a second registers the instance, reads Redis's clock, and gets and renews
//! leases while Redis is available. It writes, so a Redis that loads its data, is full, is read-only,
//! or refuses one of its commands (`NOPERM`) counts as unavailable, like one that does not answer. A
//! refusal of another command does not.
//!
//! Redis becomes available once two heartbeats in a row have succeeded, the second one as fast as while
//! it is available. No heartbeat before that requests a lease: otherwise an instance whose heartbeats
//! succeed now and then, or too late, would keep its lease without being able to work.

mod deployments;

use std::sync::Weak;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::time::timeout;

pub(super) use deployments::{CONTEXT as DEPLOYMENT, Deployments};

use super::lease::{LIFETIME, Lease};
use super::{Argument, Client, Error, Inner};

/// The time between two heartbeats.
const INTERVAL: Duration = Duration::from_secs(1);

/// The longest wait for a heartbeat while Redis is available, or after a heartbeat that has succeeded.
const ANSWER: Duration = Duration::from_secs(1);
/// The longest wait for any other heartbeat, with the time to connect.
const FIRST_ANSWER: Duration = Duration::from_millis(2_500);

/// Redis is unavailable after so many failures in a row, or so long after the last success.
const FAILURES: u32 = 2;
const SILENCE: Duration = Duration::from_millis(2_500);

/// After a failure, the next heartbeat begins at most so long after the failed one began: the pause
/// doubles with each further failure.
const FIRST_PAUSE: Duration = Duration::from_millis(375);
const MAX_PAUSE: Duration = Duration::from_secs(2);

/// How long an instance is counted after its last heartbeat.
const INSTANCE_LIFETIME: Duration = Duration::from_secs(5);

/// How long the keys stay after the last heartbeat of any instance.
const KEYS_LIFETIME: Duration = Duration::from_hours(24);

/// Keys: instances, incarnation, epoch, deployments; those of wanted leases; those of released
/// leases. Arguments: instance, a new incarnation in case there is none, lifetimes of instances,
/// leases and keys in ms, number of wanted leases, whether the instance is registered (1 or 0), its
/// sealed deployment (empty: not known yet); for each wanted lease the largest epoch that the
/// instance knows; tokens of released leases. Returns the time in ms, the incarnation, the number
/// of instances, some of the other deployments, and for each wanted lease whether this instance is
/// the holder (0: another one is; 2: it is, in place of a foreign value), with the epoch. If the
/// epoch of a lease is smaller than the known one, Redis has lost data: the lease passes to this
/// instance with a larger epoch. A lease without an expiry gets one (`LT`). Apart from foreign
/// values, nothing is deleted before the first command that needs memory: a full redis must refuse
/// the heartbeat, and it refuses no command once the script has written.
pub(crate) const BEAT: &str = r"
local instances, incarnation, epoch, deployments = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local me, alive, lease_ms, keep_ms = ARGV[1], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local wanted, largest = tonumber(ARGV[6]), 900000000000000
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function digits(number) return string.format('%.0f', number) end

remove_foreign(instances, 'zset')
remove_foreign(incarnation, 'string')
remove_foreign(epoch, 'string')
remove_foreign(deployments, 'zset')

if ARGV[7] == '1' then
  redis.call('ZADD', instances, digits(now), me)
  if ARGV[8] ~= '' then redis.call('ZADD', deployments, digits(now), ARGV[8]) end
end
for _, key in ipairs({instances, deployments}) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', digits(now - alive))
  redis.call('ZREMRANGEBYSCORE', key, digits(now + alive), '+inf')
  redis.call('PEXPIRE', key, keep_ms)
end
local others = {}
for _, found in ipairs(redis.call('ZRANGE', deployments, 0, 9)) do
  if found ~= ARGV[8] and #found <= 2048 then others[#others + 1] = found end
end
local current = redis.call('GET', incarnation)
if not current or #current ~= 32 or string.find(current, '%X') then
  current = ARGV[2]
  redis.call('SET', incarnation, current)
end
redis.call('PEXPIRE', incarnation, keep_ms)

for i = wanted + 5, #KEYS do
  if redis.pcall('GET', KEYS[i]) == ARGV[i + 4] then redis.call('DEL', KEYS[i]) end
end

local function number(text)
  local is_number = type(text) == 'string' and #text <= 15 and string.find(text, '^%d+$')
  local value = is_number and tonumber(text)
  if value and value < largest then return value end
end

local count = number(redis.call('GET', epoch)) or 0
redis.call('PEXPIRE', epoch, keep_ms)
local function next_epoch(known)
  count = math.max(count + 1, known + 1, now)
  if count >= largest then count = now end
  redis.call('SET', epoch, digits(count), 'PX', keep_ms)
  return count
end

local states = {}
for i = 1, wanted do
  local key, known = KEYS[4 + i], number(ARGV[8 + i]) or 0
  -- Nothing is larger: epochs begin again.
  if known + 1 >= largest then known = 0 end
  local value = redis.pcall('GET', key)
  local holder, held
  if type(value) == 'string' then holder, held = string.match(value, '^(%x+):(%d+)$') end
  held = number(held)
  local is_foreign = value and not (holder and #holder == #me and held)
  if not value or is_foreign or held < known then
    local new = digits(next_epoch(known))
    redis.call('SET', key, me .. ':' .. new, 'PX', lease_ms)
    states[i] = {is_foreign and 2 or 1, new}
  elseif holder == me then
    redis.call('PEXPIRE', key, lease_ms)
    states[i] = {1, digits(held)}
  else
    redis.call('PEXPIRE', key, lease_ms, 'LT')
    states[i] = {0, digits(held)}
  end
end
return {digits(now), current, redis.call('ZCARD', instances), others, states}
";

/// Keys: instances; those of released leases. Arguments: instance; their tokens.
const LEAVE: &str = r"
redis.pcall('ZREM', KEYS[1], ARGV[1])
for i = 2, #KEYS do
  if redis.pcall('GET', KEYS[i]) == ARGV[i] then redis.call('DEL', KEYS[i]) end
end
return 1
";

/// What the script returns.
type Answer = (i64, String, usize, Vec<Vec<u8>>, Vec<(u8, u64)>);

/// Sends heartbeats until the last clone of Redis is dropped.
pub(super) async fn run(redis: Weak<Inner>) {
    let mut heartbeats = Heartbeats::default();
    while let Some(redis) = redis.upgrade().map(Client) {
        let begun = Instant::now();
        let within = heartbeats.answer_within(&redis, begun);
        let result = beat(&redis, within, heartbeats.last_succeeded).await;
        let pause = heartbeats.record(&redis, begun, result);
        let leases = redis.0.leases.clone();
        drop(redis);
        let _ = timeout(pause, leases.changed.notified()).await;
    }
}

/// The results of the last heartbeats.
#[derive(Default)]
struct Heartbeats {
    /// Whether the last one has succeeded.
    last_succeeded: bool,
    failures: u32,
    last_success: Option<Instant>,
    incarnation: Option<String>,
}

impl Heartbeats {
    /// The longest time that the heartbeat that begins now may take.
    fn answer_within(&self, redis: &Client, now: Instant) -> Duration {
        match self.last_success {
            Some(last) if redis.is_available() => {
                let left = (last + SILENCE).saturating_duration_since(now);
                ANSWER.min(left.max(ANSWER / 10))
            }
            _ if self.last_succeeded => ANSWER,
            _ => FIRST_ANSWER,
        }
    }

    /// Records the result of a heartbeat; returns the pause until the next one.
    fn record(
        &mut self,
        redis: &Client,
        begun: Instant,
        result: Result<String, Error>,
    ) -> Duration {
        let succeeded_before = std::mem::replace(&mut self.last_succeeded, result.is_ok());
        if result.is_ok() {
            redis.0.counters.heartbeats.inc();
        }
        match result {
            Ok(_) if !redis.is_available() && !succeeded_before => Duration::ZERO,
            Ok(incarnation) => {
                let last = self.incarnation.replace(incarnation);
                let is_other = last.is_some() && last != self.incarnation;
                (self.failures, self.last_success) = (0, Some(begun));
                let was_available = redis.is_available();
                if redis.0.availability.set_available(is_other) {
                    redis.0.counters.sessions.inc();
                }
                if !was_available {
                    // The next one requests the leases.
                    return Duration::ZERO;
                }
                (begun + INTERVAL).saturating_duration_since(Instant::now())
            }
            Err(reason) => {
                self.failures += 1;
                redis.0.connection.replace();
                let silent = self.last_success.is_none_or(|last| last.elapsed() >= SILENCE);
                if silent || self.failures >= FAILURES {
                    redis.0.availability.set_unavailable(reason);
                }
                pause(begun, self.failures)
            }
        }
    }
}

/// The pause after a failure, from the beginning of the failed heartbeat. A random half of it is left
/// out, because many instances lose Redis at once.
fn pause(begun: Instant, failures: u32) -> Duration {
    let longest = FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(8)).min(MAX_PAUSE);
    let half = longest / 2;
    let next = begun + half + half.mul_f64(fastrand::f64());
    next.saturating_duration_since(Instant::now())
}

async fn beat(redis: &Client, within: Duration, last_succeeded: bool) -> Result<String, Error> {
    let counts = !redis.0.leases.is_leaving();
    let is_available = redis.is_available();
    let leases = if is_available { redis.0.leases.wanted() } else { Vec::new() };
    let dropped = redis.0.leases.take_dropped();
    let keys = base_keys(redis).into_iter();
    let keys = keys.chain(leases.iter().map(|lease| lease.key().to_owned()));
    let keys: Vec<_> = keys.chain(dropped.iter().map(|(key, _)| key.clone())).collect();
    let mut arguments = vec![
        Argument::from(redis.0.instance.as_str()),
        Argument::from(format!("{:032x}", fastrand::u128(..))),
        Argument::from(INSTANCE_LIFETIME.as_millis()),
        Argument::from(LIFETIME.as_millis()),
        Argument::from(KEYS_LIFETIME.as_millis()),
        Argument::from(leases.len()),
        Argument::from(counts),
        Argument::from(redis.0.deployments.own()),
    ];
    arguments.extend(leases.iter().map(|lease| Argument::from(lease.known_epoch())));
    arguments.extend(dropped.into_iter().map(|(_, token)| Argument::from(token)));
    if !is_available && !last_succeeded {
        redis.try_to_connect(within).await?;
    }
    let sent = Instant::now();
    let answer: Answer = redis.script_in_any_state(BEAT, &keys, &arguments, within).await?;
    let (now_ms, incarnation, instances, others, states) = answer;
    redis.0.clock.add(now_ms, sent, Instant::now());
    redis.0.instances.store(instances, Ordering::Relaxed);
    redis.0.deployments.set_others(&redis.0.sealer, &others);
    enter_leases(redis, &leases, &states, sent);
    Ok(incarnation)
}

fn enter_leases(redis: &Client, leases: &[Lease], states: &[(u8, u64)], sent: Instant) {
    for (lease, (holder, epoch)) in leases.iter().zip(states) {
        lease.set_foreign(*holder == 2);
        lease.see_epoch(*epoch);
        redis.0.leases.enter(lease, Some(*epoch).filter(|_| *holder > 0), sent);
    }
}

/// Releases all leases, and removes this instance from those that are counted.
pub(super) async fn leave(redis: &Client) {
    let held = redis.0.leases.leave();
    if redis.available().is_err() {
        return;
    }
    let [instances, ..] = base_keys(redis);
    let (keys, tokens): (Vec<_>, Vec<_>) = held.into_iter().unzip();
    let keys: Vec<_> = [instances].into_iter().chain(keys).collect();
    let me = Argument::from(redis.0.instance.as_str());
    let arguments: Vec<_> =
        [me].into_iter().chain(tokens.into_iter().map(Argument::from)).collect();
    if let Err(error) = redis.script_in_any_state::<i64>(LEAVE, &keys, &arguments, ANSWER).await {
        tracing::warn!(%error, "the leases could not be released; they expire");
    }
}

fn base_keys(redis: &Client) -> [String; 4] {
    ["instances", "incarnation", "epoch", "deployments"].map(|name| redis.key(name))
}
