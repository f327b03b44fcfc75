//! Load shedding: which requests over the in-flight limit are refused, and which never are.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::{Scope, ScopedJoinHandle};

use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::{RESOLVE, assert_failure};
use crate::support::http::{self, Response};
use crate::support::metrics::scrape;
use crate::support::service::{Service, Setup};
use crate::support::settings::{Settings, site};
use crate::support::wait::{until, until_so};

const SECRET: &str = "a-secret-of-the-test";
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn settings() -> Settings {
    let with = |site: Settings, name: &&str| {
        site.rule(&format!("api::{name}.{name}"), &format!("/{{locale}}/{name}/{{slug}}"))
    };
    NAMES.iter().fold(site("main"), with).server("cors_origins = [\"https://admin.example\"]")
}

/// A service with four content types and this in-flight limit.
fn service_with_limit(cms: &Cms, requests: &str) -> Service {
    setup(cms, requests).start()
}

fn setup(cms: &Cms, requests: &str) -> Setup {
    settings()
        .strapi(cms)
        .env("FRONTEND_MAP__LIMITS__REQUESTS", requests)
        .env("FRONTEND_MAP__LIMITS__CMS_REQUEST_MS", "600000")
        .env("FRONTEND_MAP__LIMITS__DOCUMENT_DEADLINE_MS", "600000")
        .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
}

fn sitemap(name: &str) -> String {
    format!("/api/build-sitemap?site=main&contentType=api::{name}.{name}")
}

fn document(name: &str) -> String {
    format!("/api/frontend-url?uid=api::{name}.{name}&documentId=x&locale=en")
}

fn get(service: &Service, target: &str) -> Response {
    http::send(service.addr(), "GET", target, &[("Origin", "https://admin.example")])
}

/// A connection that has sent a request and reads nothing.
fn send_request(service: &Service, target: &str) -> TcpStream {
    let mut stream = TcpStream::connect(service.addr()).expect("the service accepts");
    let request = format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("the request is read");
    stream
}

/// A client whose request waits for the CMS.
fn wait<'s>(
    scope: &'s Scope<'s, '_>,
    service: &'s Service,
    cms: &Cms,
    target: String,
) -> ScopedJoinHandle<'s, Response> {
    let before = cms.targets().len();
    let client = scope.spawn(move || get(service, &target));
    until_so("the request is in flight", || cms.targets().len() > before);
    client
}

fn assert_shed(response: &Response) {
    assert_failure(response, 503, "ServiceUnavailableError");
    assert_eq!(response.json()["error"]["message"], "too many requests are in flight");
    assert_eq!(response.header("retry-after").as_deref(), Some("1"));
    assert_eq!(response.header("x-content-type-options").as_deref(), Some("nosniff"));
    let allowed = response.header("access-control-allow-origin");
    assert_eq!(allowed.as_deref(), Some("https://admin.example"));
}

/// Asserts that requests without a limit are served.
fn assert_unlimited_routes_respond(service: &Service) {
    let resolve = RESOLVE.split('?').next().unwrap();
    let resolve = format!("{resolve}?site=main&pathname=/en/a/x");
    for target in [resolve.as_str(), "/livez", "/readyz"] {
        assert_eq!(get(service, target).status, 200, "{target}");
    }
    assert_eq!(get(service, "/nowhere").status, 404);
    assert_eq!(http::send(service.addr(), "OPTIONS", &sitemap("a"), &[]).status, 200);
    let bearer = format!("Bearer {SECRET}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Length", "0")];
    assert_eq!(http::send(service.addr(), "POST", "/hooks/cms", &headers).status, 202);
}

#[test]
fn in_flight_limit_reserves_a_quarter_for_documents_and_refuses_further_requests_at_once() {
    let content = Content::new(&[("en", "x", "y")]);
    content.close();
    let cms = content.start();
    let service = service_with_limit(&cms, "4");
    std::thread::scope(|scope| {
        let mut clients = Vec::new();
        for name in ["a", "b", "c"] {
            clients.push(wait(scope, &service, &cms, sitemap(name)));
        }
        assert_shed(&get(&service, &sitemap("d")));
        assert_shed(&get(&service, "/sitemaps/main/index.xml"));
        assert_unlimited_routes_respond(&service);
        clients.push(wait(scope, &service, &cms, document("a")));
        assert_shed(&get(&service, &document("b")));
        assert_shed(&http::send(
            service.addr(),
            "GET",
            &sitemap("a"),
            &[("Origin", "https://admin.example"), ("Accept", "text/event-stream")],
        ));
        assert_unlimited_routes_respond(&service);
        content.open();
        for client in clients {
            assert_eq!(client.join().expect("a response").status, 200);
        }
    });
    for target in [sitemap("d"), document("b"), sitemap("a")] {
        assert_eq!(get(&service, &target).status, 200, "permits are free again");
    }
}

#[test]
fn in_flight_limit_of_batches_is_their_own() {
    let content = Content::new(&[("en", "x", "y")]);
    let cms = content.start();
    let service = service_with_limit(&cms, "8");
    assert_eq!(get(&service, &sitemap("a")).status, 200);
    content.close();
    let batch = |name: &str| format!("/api/frontend-urls?uid=api::{name}.{name}&documentId=x");
    std::thread::scope(|scope| {
        let mut clients = Vec::new();
        for _ in 0..8 {
            clients.push(wait(scope, &service, &cms, document("b")));
        }
        assert_shed(&get(&service, &document("a")));
        let known = get(&service, &batch("a"));
        assert_eq!(known.status, 200, "a batch from memory: {}", known.text());
        clients.push(wait(scope, &service, &cms, batch("b")));
        assert_shed(&get(&service, &batch("a")));
        let headers = [("Content-Length", "0"), ("Origin", "https://admin.example")];
        assert_shed(&http::send(service.addr(), "POST", "/api/frontend-urls", &headers));
        assert_unlimited_routes_respond(&service);
        content.open();
        for client in clients {
            assert_eq!(client.join().expect("a response").status, 200);
        }
    });
}

#[test]
fn in_flight_limit_is_lowered_to_a_part_of_the_connection_limit() {
    let content = Content::new(&[("en", "x", "y")]);
    content.close();
    let cms = content.start();
    let service = setup(&cms, "100").env("FRONTEND_MAP__SERVER__CONNECTIONS", "8").start();
    assert!(service.logs("wanted=100 possible=6 connections=8"));
    let in_flight = || scrape(service.admin()).of("requests_in_flight");
    std::thread::scope(|scope| {
        let lists: Vec<TcpStream> =
            (0..30).map(|_| send_request(&service, &sitemap("a"))).collect();
        until_so("lists have all permits that they may have", || in_flight() >= 5.0);
        assert_shed(&get(&service, &sitemap("b")));
        let client = wait(scope, &service, &cms, document("a"));
        assert_shed(&get(&service, &document("b")));
        assert_unlimited_routes_respond(&service);
        assert!(in_flight() <= 6.0, "{}", in_flight());
        content.open();
        assert_eq!(client.join().expect("a response").status, 200);
        drop(lists);
    });
}

#[test]
fn in_flight_permit_is_released_when_the_client_disconnects() {
    let content = Content::new(&[("en", "x", "y")]);
    content.close();
    let cms = content.start();
    let service = service_with_limit(&cms, "1");
    let leaving = send_request(&service, &document("a"));
    until_so("the request is in flight", || cms.targets().len() == 1);
    assert_shed(&get(&service, &sitemap("a")));
    drop(leaving);
    content.open();
    until("a free permit", || {
        Some(get(&service, &sitemap("a"))).filter(|response| response.status == 200)
    });
}

#[test]
fn in_flight_permit_of_an_unread_response_is_kept_until_the_client_disconnects() {
    let row =
        |n: usize| format!(r#"{{"documentId":"d{n}","locale":"en","slug":"a-long-slug-{n}"}}"#);
    // More than the buffers of both sockets take.
    let rows: Vec<String> = (0..300_000).map(row).collect();
    let content = format!(r#"{{"api::a.a":[{}]}}"#, rows.join(","));
    let service = settings().files(&content).env("FRONTEND_MAP__LIMITS__REQUESTS", "1").start();
    for encoding in ["identity", "gzip"] {
        let whole =
            http::send(service.addr(), "GET", &sitemap("a"), &[("Accept-Encoding", encoding)]);
        assert_eq!(whole.status, 200, "one after the other gets a permit");
    }
    let mut slow = send_request(&service, &sitemap("a"));
    slow.read_exact(&mut [0; 1024]).expect("the response has begun");
    assert_shed(&get(&service, &sitemap("a")));
    assert_shed(&get(&service, &document("a")));
    drop(slow);
    until("a free permit", || {
        Some(get(&service, &sitemap("a"))).filter(|response| response.status == 200)
    });
}
