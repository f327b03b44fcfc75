//! When Redis is available, and when it is unavailable.

use std::time::{Duration, Instant};

use frontend_map_fleet::redis::{self as fleet_redis, RedisUrl};

use super::fixture::{SOON, client, client_with, run, settings, until};
use crate::support::redis::Redis;

fn session(state: &fleet_redis::Availability) -> u64 {
    match state {
        fleet_redis::Availability::Available { session } => *session,
        other => panic!("not available: {other:?}"),
    }
}

fn reason(state: fleet_redis::Availability) -> Option<fleet_redis::Error> {
    match state {
        fleet_redis::Availability::Unavailable { reason, .. } => Some(reason),
        _ => None,
    }
}

#[test]
fn redis_that_is_absent_at_the_start_is_unavailable_at_once_and_available_once_it_runs() {
    run(async {
        let mut redis = Redis::absent();
        let client = client_with(&settings(&redis));
        until("it is unavailable", async || reason(client.availability()).is_some()).await;
        let begun = Instant::now();
        let ping = client.command::<String>(&redis::cmd("PING"), SOON).await;
        assert_eq!(ping, Err(fleet_redis::Error::Unavailable));
        assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
        assert!(redis.restart());
        until("it is available", async || client.is_available()).await;
        assert_eq!(session(&client.availability()), 1);
        let ping = client.command::<String>(&redis::cmd("PING"), SOON).await;
        assert_eq!(ping.as_deref(), Ok("PONG"));
    });
}

#[test]
fn redis_that_is_paused_is_unavailable_and_in_another_session_when_it_runs_again() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        redis.pause();
        let paused = Instant::now();
        until("it is unavailable", async || !client.is_available()).await;
        assert!(paused.elapsed() > Duration::from_secs(1), "one slow answer is not enough");
        assert_eq!(reason(client.availability()), Some(fleet_redis::Error::Timeout));
        redis.resume();
        until("it is available", async || client.is_available()).await;
        assert_eq!(session(&client.availability()), 2);
    });
}

#[test]
fn attempts_to_connect_become_as_rare_as_one_in_one_to_two_seconds() {
    run(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("redis://{}", listener.local_addr().unwrap());
        let settings = fleet_redis::Settings::new(RedisUrl::parse(&url).unwrap(), "map");
        let _client = client_with(&settings);
        let mut attempts = Vec::new();
        // Each connection is closed at once.
        while attempts.len() < 8 {
            drop(listener.accept().await.unwrap());
            attempts.push(Instant::now());
        }
        // Later attempts may be late on a busy machine, but not early.
        let pauses = attempts.windows(2).map(|pair| pair[1] - pair[0]);
        let pauses: Vec<Duration> = pauses.skip(4).collect();
        assert!(pauses.iter().all(|pause| *pause > Duration::from_millis(900)), "{pauses:?}");
    });
}
