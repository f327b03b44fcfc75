//! Redis answers and cannot be used: it is unavailable, with the reason.

use frontend_map_fleet::redis as fleet_redis;

use super::fixture::{client, client_with, run, settings, until};
use crate::support::redis::Redis;

async fn unavailable(client: &fleet_redis::Client) -> fleet_redis::Error {
    until("it is unavailable", async || {
        matches!(client.availability(), fleet_redis::Availability::Unavailable { .. })
    })
    .await;
    match client.availability() {
        fleet_redis::Availability::Unavailable { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

async fn available(client: &fleet_redis::Client) {
    until("it is available", async || client.is_available()).await;
}

fn refused(code: &str) -> fleet_redis::Error {
    fleet_redis::Error::Refused(code.to_owned())
}

#[test]
fn full_redis_is_unavailable_until_it_has_room() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let _: String = redis.command(&["CONFIG", "SET", "maxmemory", "1mb"]);
        assert_eq!(unavailable(&client).await, refused("OOM"));
        let _: String = redis.command(&["CONFIG", "SET", "maxmemory", "0"]);
        available(&client).await;
    });
}

#[test]
fn read_only_replica_is_away_until_it_is_promoted() {
    run(async {
        let (primary, redis) = (Redis::start(), Redis::start());
        let client = client(&redis).await;
        let port = primary.port().to_string();
        let _: String = redis.command(&["REPLICAOF", "127.0.0.1", &port]);
        assert_eq!(unavailable(&client).await, refused("READONLY"));
        let _: String = redis.command(&["REPLICAOF", "NO", "ONE"]);
        available(&client).await;
        assert_eq!(client.availability(), fleet_redis::Availability::Available { session: 2 });
    });
}

#[test]
fn redis_that_cannot_store_is_unavailable() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let _: String = redis.command(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
        assert_eq!(unavailable(&client).await, refused("NOREPLICAS"));
        let _: String = redis.command(&["CONFIG", "SET", "min-replicas-to-write", "0"]);
        available(&client).await;
    });
}

#[test]
fn redis_that_loads_its_data_is_unavailable_until_it_has_them() {
    run(async {
        let mut redis = Redis::with(&["--appendonly", "yes", "--appenddirname", "log"]);
        let client = client(&redis).await;
        // Enough to load that a heartbeat comes in between.
        let _: Option<i64> = redis.command(&[
            "EVAL",
            "for i = 1, 300000 do redis.call('SET', 'filler:' .. i, i) end",
            "0",
        ]);
        redis.kill();
        assert!(redis.restart_with(&[
            "--key-load-delay",
            "10",
            "--loading-process-events-interval-bytes",
            "1024"
        ]));
        until("it is loading", async || {
            matches!(client.availability(), fleet_redis::Availability::Unavailable { reason, .. } if reason == refused("LOADING"))
        })
        .await;
        let _: String = redis.command(&["CONFIG", "SET", "key-load-delay", "0"]);
        available(&client).await;
        assert_eq!(client.availability(), fleet_redis::Availability::Available { session: 2 });
    });
}

#[test]
fn wrong_password_is_away_until_it_is_right() {
    run(async {
        let redis = Redis::start();
        let _: String = redis.command(&["CONFIG", "SET", "requirepass", "right"]);
        let mut wrong = settings(&redis);
        wrong.password = Some("wrong".to_owned().into());
        let (wrong, none) = (client_with(&wrong), client_with(&settings(&redis)));
        assert_eq!(unavailable(&wrong).await, fleet_redis::Error::Authentication);
        assert_eq!(unavailable(&none).await, fleet_redis::Error::Authentication);
        let redis = redis.of_user("default", "right");
        let _: String = redis.command(&["CONFIG", "SET", "requirepass", "wrong"]);
        available(&wrong).await;
    });
}

#[test]
fn user_of_an_access_list_needs_the_listed_commands_and_keys() {
    run(async {
        let redis = Redis::start();
        let user = |rules: &[&str]| {
            let words = ["ACL", "SETUSER", "map", "reset", "on", ">secret"];
            let _: String = redis.command(&[&words[..], rules].concat());
        };
        user(&["~map:*", "+@all", "-evalsha", "-eval"]);
        let mut settings = settings(&redis);
        settings.url.user = Some("map".to_owned());
        settings.password = Some("secret".to_owned().into());
        let client = client_with(&settings);
        assert_eq!(unavailable(&client).await, refused("NOPERM"));
        user(&["~other:*", "+@all"]);
        assert_eq!(unavailable(&client).await, refused("NOPERM"));
        user(&[
            "~map:*",
            "-@all",
            "+hello",
            "+auth",
            "+select",
            "+evalsha",
            "+eval",
            "+time",
            "+type",
            "+get",
            "+set",
            "+del",
            "+incr",
            "+pexpire",
            "+zadd",
            "+zrem",
            "+zcard",
            "+zrange",
            "+zremrangebyscore",
            "+xadd",
            "+xread",
            "+xrange",
            "+xrevrange",
            "+getrange",
            "+unlink",
        ]);
        available(&client).await;
        let lease = client.lease("lists");
        until("it is held", async || lease.epoch().is_some()).await;
        let mut reader = client.events();
        assert!(matches!(reader.next().await, frontend_map_fleet::redis::Read::Gap { .. }));
        let soon = super::fixture::SOON;
        client.append("test", b"x", soon).await.unwrap();
        let chunks = client.upload("chunk:a", &[1; 100], soon).await.unwrap();
        assert!(client.extend(&chunks, soon).await.unwrap());
        assert_eq!(client.download(&chunks, 100).await.map(|body| body.len()), Ok(100));
        client.discard(&chunks).await.unwrap();
        client.release_leases().await;
        assert!(redis.keys("map:2:lease:*").is_empty());
    });
}

#[test]
fn foreign_value_at_a_key_of_the_heartbeat_is_replaced() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let heartbeats = || client.counters().heartbeats.get();
        // In one step: a heartbeat in between would make the key again.
        let become_a_list = "redis.call('DEL', KEYS[1]) return redis.call('LPUSH', KEYS[1], 'x')";
        for key in ["instances", "incarnation", "epoch"].map(|key| format!("map:2:{key}")) {
            let list = vec!["EVAL", become_a_list, "1", &key];
            let strings = ["", "x", "-1", "9223372036854775807", "99999999999999999999"];
            let strings = strings.map(|value| vec!["SET", &key, value]);
            for command in strings.into_iter().chain([list]) {
                let _: redis::Value = redis.command(&command);
                let before = heartbeats();
                let lease = client.lease(&format!("{command:?}"));
                until("it is held", async || lease.epoch().is_some()).await;
                until("two heartbeats", async || heartbeats() >= before + 2).await;
                assert!(client.is_available(), "{command:?}");
            }
        }
    });
}

#[test]
fn flushed_redis_is_another_session() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        assert_eq!(client.availability(), fleet_redis::Availability::Available { session: 1 });
        redis.flush();
        until("another session", async || {
            client.availability() == fleet_redis::Availability::Available { session: 2 }
        })
        .await;
    });
}

#[test]
fn connection_that_redis_closes_is_made_again() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        for _ in 0..3 {
            let _: i64 = redis.command(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
            let soon = super::fixture::SOON;
            until("it answers", async || {
                client.command::<String>(&redis::cmd("PING"), soon).await.is_ok()
            })
            .await;
        }
    });
}

#[test]
fn peer_that_is_no_redis_is_unavailable() {
    run(async {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                use std::io::Write;
                let Ok(mut stream) = stream else { return };
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            }
        });
        let mut settings = settings(&Redis::absent());
        settings.url.port = port;
        let client = client_with(&settings);
        let reason = unavailable(&client).await;
        assert_eq!(client.instances(), 1, "{reason}");
    });
}
