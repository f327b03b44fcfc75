//! Scripts and commands.

use std::time::{Duration, Instant};

use frontend_map_fleet::redis::{self as fleet_redis, ANSWER_WAIT};

use super::fixture::{SOON, client, run, until};
use crate::support::redis::Redis;

async fn value<T: redis::FromRedisValue>(
    client: &fleet_redis::Client,
    source: &str,
) -> Result<T, fleet_redis::Error> {
    let arguments = vec!["a".into(), 7_u64.into()];
    client.script(source, &[client.key("k")], arguments, SOON).await
}

#[test]
fn script_returns_its_value() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        assert_eq!(value(&client, "return ARGV[1] .. #ARGV .. #KEYS").await, Ok("a21".to_owned()));
        assert_eq!(value(&client, "return tonumber(ARGV[2]) + 1").await, Ok(8_i64));
        assert_eq!(value(&client, "return KEYS").await, Ok(vec!["map:2:k".to_owned()]));
        assert_eq!(value(&client, "return false").await, Ok(None::<String>));
        assert_eq!(value(&client, "return nil").await, Ok(None::<String>));
        assert_eq!(value(&client, "").await, Ok(None::<String>));
        let sent = client.counters().bytes_sent.get();
        assert!(sent > 0 && client.counters().bytes_received.get() > 0);
    });
}

#[test]
fn script_that_redis_has_forgotten_is_sent_again() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        for _ in 0..3 {
            assert_eq!(value(&client, "return 5").await, Ok(5_i64));
            let _: String = redis.command(&["SCRIPT", "FLUSH"]);
        }
    });
}

#[test]
fn refusals_have_their_code_and_no_content() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let _: i64 = redis.command(&["SADD", "map:2:k", "secret-value"]);
        for (source, code) in [
            ("return redis.call('GET', KEYS[1])", "WRONGTYPE"),
            ("return redis.error_reply('MINE and secret-value')", "MINE"),
            ("return {err = 'MINE and secret-value'}", "MINE"),
            ("error('secret-value')", "ERR"),
            ("return redis.call('NOPE')", "ERR"),
            ("this is not Lua: secret-value", "ERR"),
        ] {
            let error = value::<String>(&client, source).await.unwrap_err();
            assert_eq!(error, fleet_redis::Error::Refused(code.to_owned()), "{source}");
        }
        let answer = value::<i64>(&client, "return 'text'").await;
        assert_eq!(answer, Err(fleet_redis::Error::Answer));
        assert_eq!(client.counters().errors.total(), 7);
        assert!(client.is_available());
    });
}

#[test]
fn commands_time_out_without_making_redis_unavailable() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let busy = client.clone();
        // The time stands still in the scripts of Redis 7.2 and later: count instead.
        let counting = |steps: u128| format!("for _ = 1, {steps} do end");
        let begun = Instant::now();
        assert_eq!(value::<Option<i64>>(&client, &counting(1_000_000)).await, Ok(None));
        let millisecond = 1_000_000 / begun.elapsed().as_millis().max(1);
        let slow = counting(600 * millisecond);
        let slow = tokio::spawn(async move { value::<Option<i64>>(&busy, &slow).await });
        let mut timed_out = false;
        while !slow.is_finished() {
            let begun = Instant::now();
            let ping = client.command::<String>(&redis::cmd("PING"), ANSWER_WAIT).await;
            timed_out |= ping == Err(fleet_redis::Error::Timeout);
            assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
        }
        assert!(timed_out);
        assert!(client.is_available());
        until("it answers", async || {
            client.command::<String>(&redis::cmd("PING"), ANSWER_WAIT).await.is_ok()
        })
        .await;
    });
}
