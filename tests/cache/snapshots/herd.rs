//! Single-flight: any number of requests cause one walk, which does not end with any of them.
//!
//! `SNAPSHOT_HERD=5000 cargo test --test cache herd` asks 5,000 times at once; every one of them is a
//! socket here and one in the service (`ulimit -n`).

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::{cache_status, ends, in_english, in_two_locales, paths, sitemap, walks};
use crate::support::content::{Content, Query};
use crate::support::front_of_cms::{SITEMAP, assert_failure};
use crate::support::http::{Response, split};
use crate::support::wait::{until, until_so};

/// The default number of concurrent requests.
const HERD: usize = 200;

fn herd() -> usize {
    let wanted = std::env::var("SNAPSHOT_HERD").ok();
    wanted.map_or(HERD, |count| count.parse().expect("SNAPSHOT_HERD is a number"))
}

/// A connection with a request on its way.
fn connect(addr: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(addr).expect("the service accepts");
    let request = format!("GET {SITEMAP} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("the service reads");
    stream
}

fn answer(stream: &mut TcpStream) -> Response {
    let mut bytes = Vec::new();
    stream.set_read_timeout(Some(Duration::from_mins(2))).expect("a timeout");
    stream.read_to_end(&mut bytes).expect("an answer");
    split(&bytes, false, true).expect("a whole answer").0
}

#[test]
fn concurrent_requests_without_a_copy_cause_one_walk() {
    let content = Content::many(&["en", "de"], 250);
    content.close();
    let cms = content.start();
    // A herd takes its time to arrive, and its lines would be the longest part of it.
    let setup = in_two_locales(&cms).env("RUST_LOG", "info");
    let service = setup.env("FRONTEND_MAP__LIMITS__CMS_REQUEST_MS", "120000").start();
    // The CMS does not answer yet, so they all wait at the same time.
    let mut streams: Vec<TcpStream> = (0..herd()).map(|_| connect(service.addr())).collect();
    content.open();
    let answers: Vec<Response> = streams.iter_mut().map(answer).collect();
    assert_eq!(paths(&answers[0]).len(), 500);
    assert!(answers.iter().all(|answer| answer.status == 200 && answer.body == answers[0].body));
    let tags: BTreeSet<_> = answers.iter().map(|answer| answer.header("etag")).collect();
    assert_eq!(tags.len(), 1, "{tags:?}");
    let stored = answers.iter().filter(|answer| cache_status(answer).ends_with("fwd=miss; stored"));
    assert_eq!(stored.count(), 1, "one of them began the walk");
    assert_eq!(asked(&cms.targets()), one_walk());
}

/// Locale, key and page size of each list request, in an order of its own.
fn asked(targets: &[String]) -> Vec<(String, String, usize)> {
    let query = |target: &String| Query::parse(target).expect("only lists are asked for");
    let mut asked: Vec<_> = targets
        .iter()
        .map(query)
        .map(|Query { locale, after, size, .. }| (locale, after, size))
        .collect();
    asked.sort();
    asked
}

/// Three pages and the total, in each of two locales.
fn one_walk() -> Vec<(String, String, usize)> {
    let pages = [("", 1), ("", 100), ("d00099", 100), ("d00199", 100)];
    let row = |locale: &str, (after, size): (&str, usize)| (locale.into(), after.into(), size);
    ["de", "en"].iter().flat_map(|locale| pages.map(|page| row(locale, page))).collect()
}

#[test]
fn walk_continues_when_its_client_has_disconnected() {
    let content = Content::many(&["en"], 3);
    content.close();
    let cms = content.start();
    let service = in_english(&cms).start();
    let first = connect(service.addr());
    until_so("the walk has begun", || walks(&cms, "en") == 1);
    drop(first);
    // No request waits any more.
    content.open();
    let next =
        until("a snapshot without a waiter", || (ends(&cms, "en") == 1).then(|| sitemap(&service)));
    assert_eq!(paths(&next).len(), 3);
    assert_ne!(cache_status(&next), "frontend-map; fwd=miss; stored", "another walk");
    assert_eq!(cms.targets().len(), 2, "one page and the total");
}

#[test]
fn request_beyond_its_deadline_gets_504_and_the_walk_continues() {
    let content = Content::many(&["en"], 3);
    content.close();
    let cms = content.start();
    let service = in_english(&cms).env("FRONTEND_MAP__LIMITS__WALK_DEADLINE_MS", "50").start();
    for _ in 0..2 {
        assert_failure(&sitemap(&service), 504, "GatewayTimeoutError");
    }
    content.open();
    let next =
        until("a snapshot", || Some(sitemap(&service)).filter(|answer| answer.status == 200));
    assert_eq!(paths(&next).len(), 3);
    assert_eq!(cms.targets().len(), 2, "one page and the total, whichever request gave up");
}
