//! When the engine can be used, and when it is away.

use std::time::{Duration, Instant};

use frontend_map_fleet::redis::{EngineError, EngineSettings, EngineState, EngineUrl};

use super::fixture::{SOON, engine, engine_with, run, settings, until};
use crate::support::redis::Redis;

fn session(state: &EngineState) -> u64 {
    match state {
        EngineState::Here { session } => *session,
        other => panic!("not here: {other:?}"),
    }
}

fn reason(state: EngineState) -> Option<EngineError> {
    match state {
        EngineState::Away { reason, .. } => Some(reason),
        _ => None,
    }
}

#[test]
fn engine_that_is_absent_at_the_start_is_away_at_once_and_here_once_it_runs() {
    run(async {
        let mut redis = Redis::absent();
        let engine = engine_with(&settings(&redis));
        until("it is away", async || reason(engine.state()).is_some()).await;
        let begun = Instant::now();
        let ping = engine.command::<String>(&redis::cmd("PING"), SOON).await;
        assert_eq!(ping, Err(EngineError::Away));
        assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
        assert!(redis.restart());
        until("it is here", async || engine.is_here()).await;
        assert_eq!(session(&engine.state()), 1);
        let ping = engine.command::<String>(&redis::cmd("PING"), SOON).await;
        assert_eq!(ping.as_deref(), Ok("PONG"));
    });
}

#[test]
fn engine_that_is_paused_is_away_and_in_another_session_when_it_runs_again() {
    run(async {
        let redis = Redis::start();
        let engine = engine(&redis).await;
        redis.pause();
        let paused = Instant::now();
        until("it is away", async || !engine.is_here()).await;
        assert!(paused.elapsed() > Duration::from_secs(1), "one slow answer is not enough");
        assert_eq!(reason(engine.state()), Some(EngineError::Timeout));
        redis.resume();
        until("it is here", async || engine.is_here()).await;
        assert_eq!(session(&engine.state()), 2);
    });
}

#[test]
fn attempts_to_connect_become_as_rare_as_one_in_one_to_two_seconds() {
    run(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("redis://{}", listener.local_addr().unwrap());
        let settings = EngineSettings::new(EngineUrl::parse(&url).unwrap(), "map");
        let _engine = engine_with(&settings);
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
