//! Ages come from Redis's clock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use frontend_map_catalog::moved::history::PathHistory;
use frontend_map_fleet::Fleet;

use super::fixture::{client, run, until};
use crate::support::redis::Redis;

#[test]
fn now_ms_is_the_time_of_redis_and_instant_of_the_age_by_it() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let (seconds, micros): (i64, i64) = redis.command(&["TIME"]);
        let server_ms = seconds * 1_000 + micros / 1_000;
        assert!((client.now_ms() - server_ms).abs() < 2_000);
        let age = client.instant_of(server_ms - 90_000).elapsed();
        assert!((88..95).contains(&age.as_secs()), "{age:?}");
        assert!(client.instant_of(server_ms + 3_600_000) <= Instant::now());
        let before = client.now_ms();
        until("time goes on", async || client.now_ms() > before).await;
        assert!(client.instant_of(0).elapsed() > Duration::from_hours(24 * 365 * 50));
    });
}

#[test]
fn former_paths_have_the_time_of_redis_although_the_systems_are_hours_apart() {
    run(async {
        let redis = Redis::start();
        for hours_ahead in [1, -1] {
            let (client, history) = (client(&redis).await, Arc::<PathHistory>::default());
            let system_ms = || client.now_ms() + hours_ahead * 3_600_000;
            assert!((history.now(system_ms) - client.now_ms()).abs() > 3_500_000);
            let _fleet = Fleet::sharing(client.clone(), Arc::default(), Arc::clone(&history));
            assert!((history.now(system_ms) - client.now_ms()).abs() < 2_000);
        }
    });
}
