//! The stream of events, and readers that know when they have missed some.

use std::time::{Duration, Instant};

use frontend_map_fleet::redis::{self as fleet_redis, EventReader, Read};

use super::fixture::{SOON, client, client_with, run, settings, until};
use crate::support::redis::Redis;

/// What comes next, or nothing if it does not come.
async fn next(reader: &mut EventReader) -> String {
    match tokio::time::timeout(Duration::from_mins(1), reader.next()).await.expect("a read") {
        Read::Gap { .. } => "gap".to_owned(),
        Read::Event(event) => format!("{}={}", event.kind, String::from_utf8(event.body).unwrap()),
    }
}

/// A reader that is past its first gap.
async fn reading(client: &fleet_redis::Client) -> EventReader {
    let mut reader = client.events();
    assert_eq!(next(&mut reader).await, "gap");
    reader
}

async fn append(client: &fleet_redis::Client, body: &str) {
    client.append("test", body.as_bytes(), SOON).await.unwrap();
}

#[test]
fn readers_of_all_instances_get_each_event_in_order() {
    run(async {
        let redis = Redis::start();
        let (first, second) = (client(&redis).await, client(&redis).await);
        append(&first, "before").await;
        let mut readers = [reading(&first).await, reading(&second).await];
        for at in 0..300 {
            append(if at % 2 == 0 { &first } else { &second }, &at.to_string()).await;
        }
        for reader in &mut readers {
            for at in 0..300 {
                assert_eq!(next(reader).await, format!("test={at}"));
            }
        }
        let recent = first.recent_events(Duration::from_mins(5), SOON).await.unwrap();
        assert_eq!(recent.len(), 301);
        assert_eq!(recent[0].body, b"before");
        assert!(recent.windows(2).all(|pair| pair[0].id < pair[1].id));
    });
}

/// The first gap of a reader: the time before which events are lost, and the bodies of those since.
async fn first_gap(client: &fleet_redis::Client) -> (u64, Vec<String>) {
    let Read::Gap { until, kept, .. } = client.events().next().await else { panic!("no gap") };
    assert!(kept.since <= until);
    let of_test = kept.events.into_iter().filter(|event| event.kind == "test");
    (kept.since.ms, of_test.map(|event| String::from_utf8(event.body).unwrap()).collect())
}

#[test]
fn first_gap_has_the_events_before_it_that_the_stream_has_without_a_break() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let started = u64::try_from(client.now_ms()).unwrap();
        let (begun, none) = first_gap(&client).await;
        assert!(begun + 1_000 >= started && none.is_empty(), "{begun} is before {started}");
        // More than one read returns.
        let bodies =
            |range: std::ops::Range<usize>| range.map(|at| at.to_string()).collect::<Vec<_>>();
        let mut ids = Vec::new();
        for body in bodies(0..1_010) {
            ids.push(client.append("test", body.as_bytes(), SOON).await.unwrap());
        }
        assert_eq!(first_gap(&client).await, (begun, bodies(0..1_010)));
        let _: usize = redis.command(&["XTRIM", "map:2:events", "MAXLEN", "10"]);
        let (since, kept) = first_gap(&client).await;
        assert!(since >= begun && kept == bodies(1_000..1_010), "{kept:?}");
        let _: usize = redis.command(&["XDEL", "map:2:events", &ids[1_007].to_string()]);
        assert_eq!(first_gap(&client).await.1, bodies(1_008..1_010), "one was removed");
        let _: String = redis.command(&["XADD", "map:2:events", "*", "x", "y"]);
        let (since, kept) = first_gap(&client).await;
        assert!(since >= begun && kept.is_empty(), "of another program: {kept:?}");
    });
}

#[test]
fn caller_that_stops_waiting_misses_nothing() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let mut reader = reading(&client).await;
        for at in 0..20 {
            let waited = tokio::time::timeout(Duration::from_millis(5), reader.next()).await;
            assert!(waited.is_err(), "nothing was appended");
            append(&client, &at.to_string()).await;
            assert_eq!(next(&mut reader).await, format!("test={at}"));
        }
    });
}

#[test]
fn script_appends_events_in_its_own_step() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let mut reader = reading(&client).await;
        let script =
            "redis.call('SET', KEYS[1], ARGV[1]) append_event(2, 2) append_event(5, 6) return 7";
        let (one, two) = (client.sealed_event("a", b"1"), client.sealed_event("b", b"2"));
        let keys = [vec![client.key("x")], one.keys.into(), two.keys.into()].concat();
        let arguments = [vec!["v".into()], one.arguments.into(), two.arguments.into()].concat();
        let seven: i64 = client.script(script, &keys, arguments, SOON).await.unwrap();
        assert_eq!(seven, 7);
        assert_eq!([next(&mut reader).await, next(&mut reader).await], ["a=1", "b=2"]);
        assert_eq!(redis.command::<String>(&["GET", "map:2:x"]), "v");
    });
}

#[test]
fn reader_whose_events_were_trimmed_or_removed_gets_a_gap() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let mut reader = reading(&client).await;
        append(&client, "a").await;
        assert_eq!(next(&mut reader).await, "test=a");
        // Two events in one step, so that the reader cannot see the first.
        let script = "append_event(1, 1) redis.call('XTRIM', KEYS[1], 'MAXLEN', 0) append_event(1, 1) return 1";
        let event = client.sealed_event("test", b"b");
        client.script::<i64>(script, &event.keys, event.arguments.into(), SOON).await.unwrap();
        assert_eq!([next(&mut reader).await, next(&mut reader).await], ["gap", "test=b"]);
        append(&client, "c").await;
        assert_eq!(next(&mut reader).await, "test=c");
    });
}

#[test]
fn forged_and_foreign_entries_are_gaps_and_are_counted() {
    run(async {
        let redis = Redis::start();
        let mut with_key = settings(&redis);
        with_key.key = Some(vec![9; 40].into());
        let (client, without_key) = (client_with(&with_key), client(&redis).await);
        until("it is available", async || client.is_available()).await;
        let mut reader = reading(&client).await;
        append(&client, "a").await;
        // In the stream of the fleet with the key, sealed without it.
        let append_forged = "return append_event(1, 1)";
        let keys = client.sealed_event("test", b"forged").keys;
        let arguments = without_key.sealed_event("test", b"forged").arguments;
        let forged = client.script::<String>(append_forged, &keys, arguments.into(), SOON);
        forged.await.unwrap();
        append(&client, "b").await;
        let _: String = redis.command(&["XADD", &keys[0], "*", "x", "y"]);
        let words = ["XADD", &keys[0], "*", "number", "z", "kind", "k", "body", ""];
        let _: String = redis.command(&words);
        append(&client, "c").await;
        append(&client, "d").await;
        let mut read = Vec::new();
        while read.last().is_none_or(|last| last != "test=d") {
            read.push(next(&mut reader).await);
        }
        // How many gaps there are depends on how many entries one read gets.
        read.dedup();
        let expected = ["test=a", "gap", "test=b", "gap", "test=c", "test=d"];
        assert_eq!(read, expected, "no forged event");
        assert_eq!(client.counters().refused_seals.get(), 1);
        until("the foreign entries, and those before them, are removed", async || {
            let recent = client.recent_events(Duration::from_mins(5), SOON).await.unwrap();
            let events = recent.iter().filter(|event| event.kind == "test");
            let bodies: Vec<_> = events.map(|event| &*event.body).collect();
            let is_readable = redis.command::<usize>(&["XLEN", &keys[0]]) == recent.len();
            bodies == [b"c", b"d"] && is_readable
        })
        .await;
    });
}

#[test]
fn reader_goes_on_after_a_flush_with_a_gap() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let mut reader = reading(&client).await;
        append(&client, "a").await;
        assert_eq!(next(&mut reader).await, "test=a");
        redis.flush();
        assert_eq!(next(&mut reader).await, "gap", "another session");
        append(&client, "b").await;
        assert_eq!(next(&mut reader).await, "test=b");
    });
}

#[test]
fn reader_goes_on_after_redis_was_unavailable_with_a_gap() {
    run(async {
        let mut redis = Redis::start();
        let client = client(&redis).await;
        let mut reader = reading(&client).await;
        redis.kill();
        until("it is unavailable", async || !client.is_available()).await;
        assert!(redis.restart());
        assert_eq!(next(&mut reader).await, "gap");
        append(&client, "b").await;
        assert_eq!(next(&mut reader).await, "test=b");
    });
}

#[test]
fn reader_whose_connection_is_closed_misses_nothing() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let mut reader = reading(&client).await;
        for at in 0..5 {
            // All connections but that of this command.
            let _: i64 = redis.command(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
            until("appended", async || client.append("test", b"x", SOON).await.is_ok()).await;
            let mut read = next(&mut reader).await;
            // The heartbeat may have failed often enough for another session.
            while read == "gap" {
                read = next(&mut reader).await;
            }
            assert_eq!(read, "test=x", "{at}");
        }
    });
}

#[test]
fn foreign_value_at_the_key_of_the_stream_or_of_the_number_is_replaced_by_the_next_event() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let mut reader = reading(&client).await;
        for key in ["map:2:events", "map:2:events:number"] {
            for value in ["x", "", "-7", "9007199254740993", "9223372036854775807"] {
                let _: String = redis.command(&["SET", key, value]);
                // The first one may be before the gap of a new session.
                let expected = format!("test={value}");
                until("the event, after a gap if one was missed", async || {
                    append(&client, value).await;
                    let mut read = next(&mut reader).await;
                    while read == "gap" {
                        append(&client, value).await;
                        read = next(&mut reader).await;
                    }
                    read == expected
                })
                .await;
            }
        }
    });
}

#[test]
fn entry_whose_id_is_the_last_one_or_in_the_future_does_not_end_the_stream() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let mut reader = reading(&client).await;
        for id in ["9000000000000-7", "18446744073709551615-18446744073709551615"] {
            append(&client, "before").await;
            let _: String = redis.command(&["XADD", "map:2:events", id, "x", "y"]);
            append(&client, "after").await;
            // The event is in the new stream. Its readers get the gap of a new session, or it.
            let mut read = Vec::new();
            until("the stream can be read again", async || {
                append(&client, id).await;
                read.push(next(&mut reader).await);
                read.last().is_some_and(|last| *last == format!("test={id}"))
            })
            .await;
            let has = |text: &str| read.iter().any(|one| one == text);
            assert!(has("gap") || has("test=after"), "{read:?}");
        }
    });
}

#[test]
fn reader_that_is_behind_gets_a_gap_when_another_one_removes_events_that_it_has_not_read() {
    run(async {
        let redis = Redis::start();
        let (first, second) = (client(&redis).await, client(&redis).await);
        let (mut ahead, mut behind) = (reading(&first).await, reading(&second).await);
        // More than the reader keeps for its caller, with what it has read.
        for at in 0..500 {
            append(&first, &at.to_string()).await;
        }
        for at in 0..500 {
            assert_eq!(next(&mut ahead).await, format!("test={at}"));
        }
        let _: String = redis.command(&["XADD", "map:2:events", "*", "x", "y"]);
        until("the entries are removed", async || {
            redis.command::<usize>(&["XLEN", "map:2:events"]) <= 1
        })
        .await;
        let mut at = 0;
        loop {
            let read = next(&mut behind).await;
            if read == "gap" {
                break;
            }
            assert_eq!(read, format!("test={at}"));
            at += 1;
        }
        assert!(at < 500, "{at} events were not removed");
    });
}

#[test]
fn gap_of_a_stream_without_entries_is_until_now() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        append(&client, "a").await;
        let before = u64::try_from(client.now_ms()).unwrap();
        let _: usize = redis.command(&["XTRIM", "map:2:events", "MAXLEN", "0"]);
        let mut reader = client.events();
        let Read::Gap { until, .. } = reader.next().await else { panic!("no gap") };
        assert!(until.ms + 1_000 >= before, "{until} is before {before}");
        append(&client, "b").await;
        assert_eq!(next(&mut reader).await, "test=b");
    });
}

#[test]
fn entry_that_is_too_long_to_be_sent_does_not_end_the_reading() {
    run(async {
        let limit = ["--client-output-buffer-limit", "normal", "8mb", "0", "0"];
        let redis = Redis::with(&limit);
        let client = client(&redis).await;
        let mut reader = reading(&client).await;
        let long = "7".repeat(20 << 20);
        let _: String = redis.command(&["XADD", "map:2:events", "*", "x", &long]);
        append(&client, "b").await;
        assert_eq!(next(&mut reader).await, "gap");
        let mut read = next(&mut reader).await;
        while read == "gap" {
            read = next(&mut reader).await;
        }
        assert_eq!(read, "test=b");
    });
}

/// Two pauses: before the first read, and during one whose answer waits in the socket after it.
#[test]
fn reader_that_was_paused_lags_until_it_has_asked_again() {
    for reads in [Duration::ZERO, Duration::from_millis(1_500)] {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let redis = Redis::start();
            let client = client(&redis).await;
            let _reader = reading(&client).await;
            tokio::time::sleep(reads).await;
            assert_eq!(client.event_lag(), None);
            // Nothing else runs on this thread meanwhile.
            std::thread::sleep(Duration::from_secs(4));
            let resumed = Instant::now();
            // A read that is sent now takes a second; after a failed one there is a pause.
            while resumed.elapsed() < Duration::from_millis(200) {
                assert!(client.event_lag().is_some(), "{reads:?}, {:?}", resumed.elapsed());
                tokio::task::yield_now().await;
            }
            until("it has read", async || client.event_lag().is_none()).await;
        });
    }
}
