//! Redis clients of several instances on one redis-server, in a runtime of their own.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use frontend_map_fleet::redis::{self as fleet_redis, RedisUrl};

use crate::support::redis::Redis;

/// The prefix of all keys.
pub(super) const PREFIX: &str = "map";

/// Generous, as in `support::wait`.
const PATIENCE: Duration = Duration::from_mins(1);

/// Long enough for a command on a busy machine.
pub(super) const SOON: Duration = Duration::from_secs(20);

/// The settings for this Redis.
pub(super) fn settings(redis: &Redis) -> fleet_redis::Settings {
    fleet_redis::Settings::new(RedisUrl::parse(&redis.url()).unwrap(), PREFIX)
}

/// Another instance with these settings.
pub(super) fn client_with(settings: &fleet_redis::Settings) -> fleet_redis::Client {
    fleet_redis::Client::start(settings, Arc::default())
}

/// Another instance, once it can use Redis.
pub(super) async fn client(redis: &Redis) -> fleet_redis::Client {
    let client = client_with(&settings(redis));
    until("Redis is available", async || client.is_available()).await;
    client
}

/// Runs a test.
pub(super) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(test);
}

/// Waits until the condition holds.
pub(super) async fn until(what: &str, mut is: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !is().await {
        assert!(started.elapsed() < PATIENCE, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits until so many heartbeats were answered. While Redis is available, the second one after a call
/// of `lease` has requested that lease.
pub(super) async fn after_heartbeats(client: &fleet_redis::Client, count: u64) {
    let beats = || client.counters().heartbeats.get();
    let last = beats() + count;
    until("heartbeats", async || beats() >= last).await;
}
