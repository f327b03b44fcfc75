//! How long a request waits for a Redis whose answers are late, before its run begins.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::mixed;
use crate::support::front_end::FrontEnd;
use crate::support::http;
use crate::support::redis::Redis;
use crate::support::service::Service;
use crate::support::url_checks::{Caller, EVENTS, site, slugs, target};
use crate::support::wait::until_so;

/// In time for one command of a request, not for two.
const LATE: Duration = Duration::from_millis(35);
/// One measurement each, because an instance shares a run between its callers.
const TYPES: usize = 7;

/// The address of a proxy behind which each answer of Redis is late.
fn late(redis: &Redis) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, port) = (listener.local_addr().unwrap(), redis.port());
    thread::spawn(move || {
        for client in listener.incoming() {
            let (Ok(client), Ok(server)) = (client, TcpStream::connect(("127.0.0.1", port))) else {
                return;
            };
            let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || pass(from, to, Duration::ZERO));
            thread::spawn(move || pass(server, client, LATE));
        }
    });
    format!("redis://{address}")
}

/// Passes all bytes on, each of them this long after its arrival.
fn pass(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let (arrived, due) = mpsc::channel::<(Instant, Vec<u8>)>();
    let sender = thread::spawn(move || {
        for (at, bytes) in due {
            thread::sleep(at.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
    let mut buffer = [0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if arrived.send((Instant::now() + delay, buffer[..read].to_vec())).is_err() {
            break;
        }
    }
    drop(arrived);
    let _ = sender.join();
    let _ = from.shutdown(Shutdown::Both);
}

fn start(peer: &FrontEnd, url: &str) -> Service {
    let setup = site(&peer.url("http", ""), TYPES, &slugs("a", 3));
    let service = setup.env("FRONTEND_MAP__SHARED__URL", url).start();
    until_so("Redis is available", || service.log().contains("Redis is available"));
    service
}

#[tokio::test(flavor = "multi_thread")]
async fn run_begins_after_one_wait_where_its_shared_result_is_late_and_refused() {
    let (redis, peer) = (Redis::start(), FrontEnd::start(mixed).await);
    let (near, far) = (start(&peer, &redis.url()), start(&peer, &late(&redis)));
    for of in 0..TYPES {
        assert_eq!(http::get(near.addr(), &target(of)).status, 200);
        // The list itself is in memory.
        let list = target(of).replace("&validate=true", "");
        until_so("it has the list", || http::get(far.addr(), &list).status == 200);
    }
    until_so("all results are shared", || redis.keys("*:result").len() == TYPES);
    for key in redis.keys("*:run:*:0") {
        let _: usize = redis.command(&["SETRANGE", &key, "40", "damaged"]);
    }
    let head = |of| {
        let begun = Instant::now();
        let mut caller = Caller::new(&far, of, Some(EVENTS), "");
        assert!(caller.until("\r\n\r\n").starts_with("HTTP/1.1 200 "));
        let took = begun.elapsed();
        let end = caller.until("event: result");
        assert!(end.contains("event: result"), "{end}");
        took
    };
    let mut took: Vec<Duration> = (0..TYPES).map(head).collect();
    // It has taken nothing from the shared results.
    assert_eq!(peer.heads().len(), 2 * TYPES * 3);
    took.sort();
    println!("until the heads of {TYPES} streams: {took:?}");
    // 50 ms for Redis, and what a busy machine needs: three answers take 105 ms.
    assert!(took[TYPES / 2] < Duration::from_millis(90), "{took:?}");
}
