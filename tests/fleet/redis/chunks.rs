//! Large values, damaged in every way.

use std::time::Duration;

use frontend_map_fleet::redis::{self as fleet_redis, CHUNK_BYTES, Chunks, DownloadError};

use super::fixture::{SOON, client, client_with, run, settings, until};
use crate::support::redis::Redis;

const HOUR: Duration = Duration::from_hours(1);
const NO_BOUND: usize = usize::MAX;

/// Bytes that differ from chunk to chunk.
fn body(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| u8::try_from((at / 7 + at / CHUNK_BYTES) % 251).unwrap()).collect()
}

async fn uploaded(client: &fleet_redis::Client, name: &str) -> Chunks {
    client.upload(name, &body(3 * CHUNK_BYTES - 5), HOUR).await.unwrap()
}

async fn get(redis: &redis::Client, key: &str) -> Vec<u8> {
    let mut connection = redis.get_multiplexed_async_connection().await.unwrap();
    redis::cmd("GET").arg(key).query_async(&mut connection).await.unwrap()
}

async fn set(redis: &redis::Client, key: &str, value: &[u8]) {
    let mut connection = redis.get_multiplexed_async_connection().await.unwrap();
    redis::cmd("SET").arg(key).arg(value).query_async::<()>(&mut connection).await.unwrap();
}

#[test]
fn download_returns_what_was_uploaded_in_chunks_that_expire() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        for bytes in [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES] {
            let name = format!("chunk:a:{bytes}");
            let chunks = client.upload(&name, &body(bytes), HOUR).await.unwrap();
            assert_eq!((chunks.count, chunks.bytes), (bytes.div_ceil(CHUNK_BYTES), bytes));
            let text = serde_json::to_string(&chunks).unwrap();
            let chunks: Chunks = serde_json::from_str(&text).unwrap();
            assert_eq!(client.download(&chunks, bytes).await, Ok(body(bytes)), "{bytes}");
            assert!(client.extend(&chunks, 2 * HOUR).await.unwrap());
            for key in redis.keys(&format!("map:2:{name}:*")) {
                let left: i64 = redis.command(&["PTTL", &key]);
                assert!((3_700_000..=7_200_000).contains(&left), "{key} {left}");
                let bytes: usize = redis.command(&["STRLEN", &key]);
                assert!(bytes <= CHUNK_BYTES + 32);
            }
            client.discard(&chunks).await.unwrap();
        }
        assert_eq!(redis.keys("map:2:chunk:*"), Vec::<String>::new());
    });
}

#[test]
fn download_refuses_a_value_with_a_damaged_chunk() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let direct = redis::Client::open(redis.url()).unwrap();
        let chunks = uploaded(&client, "chunk:a:1").await;
        let other = uploaded(&client, "chunk:a:2").await;
        let key = |name: &str, at: usize| client.key(&format!("{name}:{at}"));
        let good = get(&direct, &key("chunk:a:1", 1)).await;
        let mut flipped = good.clone();
        flipped[1000] ^= 1;
        let mut longer = good.clone();
        longer.push(0);
        let swapped = get(&direct, &key("chunk:a:1", 0)).await;
        let of_other = get(&direct, &key("chunk:a:2", 1)).await;
        for (what, value) in [
            ("a flipped bit", flipped),
            ("truncated", good[..good.len() - 1].to_vec()),
            ("one byte", vec![1]),
            ("a byte more", longer),
            ("the chunk of another place", swapped),
            ("the chunk of another value", of_other),
        ] {
            set(&direct, &key("chunk:a:1", 1), &value).await;
            let result = client.download(&chunks, NO_BOUND).await;
            assert_eq!(result, Err(DownloadError::Damaged(1)), "{what}");
        }
        assert_eq!(client.counters().refused_seals.get(), 6);
        set(&direct, &key("chunk:a:1", 1), &good).await;
        assert!(client.download(&chunks, NO_BOUND).await.is_ok());
        assert!(client.download(&other, NO_BOUND).await.is_ok());
    });
}

#[test]
fn download_refuses_a_missing_chunk_and_one_of_another_type() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let chunks = uploaded(&client, "chunk:a:1").await;
        let _: i64 = redis.command(&["DEL", "map:2:chunk:a:1:2"]);
        let missing = client.download(&chunks, NO_BOUND).await;
        assert_eq!(missing, Err(DownloadError::Missing(2)));
        assert!(!client.extend(&chunks, HOUR).await.unwrap());
        let _: i64 = redis.command(&["SADD", "map:2:chunk:a:1:2", "x"]);
        let wrong_type = client.download(&chunks, NO_BOUND).await;
        assert_eq!(wrong_type, Err(DownloadError::Damaged(2)));
    });
}

#[test]
fn download_refuses_numbers_that_do_not_fit() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let chunks = uploaded(&client, "chunk:a:1").await;
        let too_small = client.download(&chunks, chunks.bytes - 1).await;
        assert_eq!(too_small, Err(DownloadError::Size));
        let count = Chunks { count: 2, ..chunks.clone() };
        assert_eq!(client.download(&count, NO_BOUND).await, Err(DownloadError::Size));
        let bytes = Chunks { bytes: usize::MAX, ..chunks.clone() };
        assert_eq!(client.download(&bytes, 1 << 30).await, Err(DownloadError::Size));
        let bytes = Chunks { bytes: chunks.bytes - 1, ..chunks.clone() };
        assert_eq!(client.download(&bytes, NO_BOUND).await, Err(DownloadError::Damaged(0)));
        let checksum = Chunks { checksum: "0".repeat(32), ..chunks };
        assert_eq!(client.download(&checksum, NO_BOUND).await, Err(DownloadError::Damaged(0)));
    });
}

#[test]
fn chunks_that_were_sealed_with_another_key_are_refused() {
    run(async {
        let redis = Redis::start();
        let with_key = |byte: u8| {
            let mut settings = settings(&redis);
            settings.key = Some(vec![byte; 32].into());
            client_with(&settings)
        };
        let (first, same, other, without) =
            (with_key(1), with_key(1), with_key(2), client(&redis).await);
        for client in [&first, &same, &other] {
            until("it is available", async || client.is_available()).await;
        }
        let direct = redis::Client::open(redis.url()).unwrap();
        let chunks = uploaded(&first, "chunk:a:1").await;
        assert!(same.download(&chunks, NO_BOUND).await.is_ok());
        for reader in [other, without] {
            let result = reader.download(&chunks, NO_BOUND).await;
            assert_eq!(result, Err(DownloadError::Missing(0)), "its keys have other names");
            let forged = get(&direct, &first.key("chunk:a:1:0")).await;
            set(&direct, &reader.key("chunk:a:1:0"), &forged).await;
            let result = reader.download(&chunks, NO_BOUND).await;
            assert_eq!(result, Err(DownloadError::Damaged(0)));
            assert_eq!(reader.counters().refused_seals.get(), 1);
        }
    });
}

#[test]
fn upload_to_redis_that_is_full_fails_and_downloads_go_on() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let chunks = uploaded(&client, "chunk:a:1").await;
        let _: String = redis.command(&["CONFIG", "SET", "maxmemory", "1mb"]);
        let result = client.upload("chunk:a:2", &body(CHUNK_BYTES), HOUR).await;
        let refused = matches!(&result, Err(fleet_redis::Error::Refused(code)) if code == "OOM");
        // A heartbeat may have failed before.
        assert!(refused || result == Err(fleet_redis::Error::Unavailable), "{result:?}");
        until("it is unavailable", async || !client.is_available()).await;
        let _: String = redis.command(&["CONFIG", "SET", "maxmemory", "0"]);
        until("it is available", async || client.is_available()).await;
        assert!(client.download(&chunks, NO_BOUND).await.is_ok());
        let _: String = client.command(&redis::cmd("PING"), SOON).await.unwrap();
    });
}
