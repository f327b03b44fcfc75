//! The access log, request ids, and a log whose reader does not read.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use crate::support::cms::Cms;
use crate::support::front_of_cms::{articles, one_url, refusal, setup};
use crate::support::http;
use crate::support::metrics::scrape;
use crate::support::service::{Service, Setup};
use crate::support::wait::until_so;

const RESOLVE: &str = "/api/get-content-type?site=main&pathname=/en/articles/x";

fn with_access() -> Setup {
    Setup::fixture()
        .env("FRONTEND_MAP__LOG__ACCESS", "true")
        .env("FRONTEND_MAP__LOG__FORMAT", "json")
}

/// The fields of the access log's lines, once there is one with `last` in it.
fn request_lines(service: &Service, last: &str) -> Vec<Value> {
    assert!(service.logs(last), "{}", service.log());
    let lines = service.log();
    let parsed = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let fields = parsed.map(|mut line| line["fields"].take());
    fields.filter(|fields| fields["message"] == "request").collect()
}

#[test]
fn access_log_has_one_line_for_each_request() {
    let service = with_access().start();
    let response =
        http::send(service.addr(), "GET", RESOLVE, &[("X-Request-Id", "from.the_edge-1")]);
    assert_eq!(response.header("x-request-id").as_deref(), Some("from.the_edge-1"));
    let length = response.body.len();
    let generated = http::get(service.addr(), "/livez?last").header("x-request-id").unwrap();
    assert_eq!(generated.len(), 16);
    let lines = request_lines(&service, "/livez?last");
    assert_eq!(lines.len(), 2, "{lines:?}");
    let [resolved, live] = [&lines[0], &lines[1]];
    assert_eq!(resolved["method"], "GET");
    assert_eq!(resolved["target"], RESOLVE);
    assert_eq!(resolved["status"], 200);
    assert_eq!(resolved["bytes"], length);
    assert_eq!(resolved["route"], "/api/get-content-type");
    assert_eq!(resolved["request_id"], "from.the_edge-1");
    assert!(resolved["milliseconds"].as_f64().unwrap() > 0.0);
    assert_eq!((&live["route"], &live["request_id"]), (&"/livez".into(), &generated.into()));
}

#[test]
fn request_id_that_is_invalid_is_not_accepted() {
    let service = Setup::fixture().start();
    let id = |ids: &[&str]| {
        let headers: Vec<_> = ids.iter().map(|id| ("X-Request-Id", *id)).collect();
        let responses = [RESOLVE, "/livez"].map(|target| {
            http::send(service.addr(), "GET", target, &headers).header("x-request-id")
        });
        assert_eq!(responses[0], responses[1], "{ids:?}");
        responses[0].clone()
    };
    let longest = "x".repeat(64);
    for valid in ["A", "a-b_c.D0", &longest] {
        assert_eq!(id(&[valid]).as_deref(), Some(valid));
    }
    let longer = "x".repeat(65);
    for invalid in ["", "a b", "a\tb", "é", "a\"b", "a%0ab", "a,b", &longer] {
        assert_eq!(id(&[invalid]), None, "{invalid:?}");
    }
    assert_eq!(id(&["a", "b"]), None, "two ids are ambiguous");
    assert_eq!(id(&[]), None, "none is generated without a log line");
    // With the access log, one is generated.
    let service = with_access().start();
    let response = http::send(service.addr(), "GET", RESOLVE, &[("X-Request-Id", "a b")]);
    assert_eq!(response.header("x-request-id").unwrap().len(), 16);
}

#[test]
fn access_log_truncates_targets_and_methods() {
    let service = with_access().start();
    let target = format!("/no/such/{}", "y".repeat(4000));
    http::send(service.addr(), &"Q".repeat(500), &target, &[("X-Request-Id", "the-long-one")]);
    let lines = request_lines(&service, "the-long-one");
    assert_eq!(lines[0]["target"].as_str().unwrap().len(), 256);
    assert_eq!(lines[0]["method"].as_str().unwrap().len(), 32);
}

#[test]
fn log_lines_of_a_request_have_its_id() {
    let cms = Cms::start(|_| refusal(503, "ServiceUnavailableError", "{}"));
    let service = setup(&articles().strapi(&cms))
        .env("FRONTEND_MAP__LOG__FORMAT", "json")
        .env("RUST_LOG", "debug")
        .start();
    let ids = [("X-Request-Id", "to-be-found")];
    assert_eq!(http::send(service.addr(), "GET", &one_url(), &ids).status, 503);
    let line = "the CMS refused a request";
    assert!(service.logs(line), "{}", service.log());
    let log = service.log();
    let line: Value =
        serde_json::from_str(log.lines().find(|l| l.contains(line)).unwrap()).unwrap();
    assert_eq!(line["span"]["request_id"], "to-be-found", "{line}");
}

#[test]
fn requests_do_not_wait_for_a_log_that_is_not_read() {
    const REQUESTS: usize = 12_000;
    let mut service = with_access().unread().start();
    let one = format!("GET {RESOLVE} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let mut stream = TcpStream::connect(service.addr()).expect("the service accepts");
    let mut sending = stream.try_clone().expect("a socket");
    let sent = std::thread::spawn(move || sending.write_all(one.repeat(REQUESTS).as_bytes()));
    let (mut responses, mut read, mut buffer) = (0, Vec::new(), [0; 8192]);
    while responses < REQUESTS {
        let length = stream.read(&mut buffer).expect("an response");
        assert!(length > 0, "closed after {responses} responses");
        read.extend_from_slice(&buffer[..length]);
        while let Some((response, rest)) = http::split(&read, false, false) {
            assert_eq!(response.status, 200);
            responses += 1;
            read.drain(..read.len() - rest.len());
        }
    }
    sent.join().expect("no panic").expect("sent");
    assert!(scrape(service.admin()).of("log_lines_dropped_total") > 1000.0);
    // The pipe is still full, and does not delay the stop.
    assert_eq!(service.signal("TERM"), Some(0));
}

#[test]
fn full_disks_do_not_affect_requests() {
    // An address of its own: stdout is full, so the test cannot learn a port that the system chose.
    let listen = "127.77.0.1:18081";
    let setup = with_access().env("FRONTEND_MAP__SERVER__LISTEN", listen).behind(&[
        "sh",
        "-c",
        "exec \"$@\" >/dev/full 2>/dev/full",
        "sh",
    ]);
    let running = setup.begin(&["serve"]);
    let addr: SocketAddr = listen.parse().unwrap();
    until_so("the service listens", || TcpStream::connect(addr).is_ok());
    for target in [RESOLVE, "/readyz", "/api/build-sitemap?site=main&contentType=plugin::cms.page"]
    {
        assert_eq!(http::get(addr, target).status, 200, "{target}");
    }
    running.signal("TERM");
    assert_eq!(running.wait().status, Some(0));
}
