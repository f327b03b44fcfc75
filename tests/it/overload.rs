//! More requests than there is room for: what is refused at once, and what never is.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::{Scope, ScopedJoinHandle};

use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::{RESOLVE, assert_failure};
use crate::support::http::{self, Response};
use crate::support::metrics::scrape;
use crate::support::service::{Service, Setup};
use crate::support::wait::{until, until_so};

const SECRET: &str = "a-secret-of-the-test";
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn site(cms: &str) -> String {
    let rule = |name: &str| {
        format!(
            "[[site.rule]]\ncontent_type = \"api::{name}.{name}\"\ntemplate = \"/{{locale}}/{name}/{{slug}}\"\n"
        )
    };
    let base = "front_end_url = \"https://x.example\"";
    let rules = NAMES.map(rule).concat();
    format!(
        "[server]\nlisten = \"127.0.0.1:0\"\ncors_origins = [\"https://admin.example\"]\n[cms]\n{cms}\n[snapshots]\nat_start = false\n[[site]]\nkey = \"main\"\nlocales = [\"en\"]\n{base}\n{rules}"
    )
}

/// Four content types, and room for so many requests.
fn before(cms: &Cms, requests: &str) -> Service {
    setup(cms, requests).start()
}

fn setup(cms: &Cms, requests: &str) -> Setup {
    let endpoint = |name: &str| {
        format!("[[content_type]]\nuid = \"api::{name}.{name}\"\nendpoint = \"{name}s\"\n")
    };
    let settings = site(&format!("url = \"http://{}\"", cms.addr()));
    Setup::new(&(settings + &NAMES.map(endpoint).concat()))
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

/// A connection on which this is asked, and nothing is read yet.
fn asks(service: &Service, target: &str) -> TcpStream {
    let mut stream = TcpStream::connect(service.addr()).expect("the service accepts");
    let request = format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("the request is read");
    stream
}

/// A caller who waits, and is known to by the CMS.
fn wait<'s>(
    scope: &'s Scope<'s, '_>,
    service: &'s Service,
    cms: &Cms,
    target: String,
) -> ScopedJoinHandle<'s, Response> {
    let asked = cms.targets().len();
    let caller = scope.spawn(move || get(service, &target));
    until_so("it is under way", || cms.targets().len() > asked);
    caller
}

fn assert_crowded(answer: &Response) {
    assert_failure(answer, 503, "ServiceUnavailableError");
    assert_eq!(answer.json()["error"]["message"], "too many requests are in flight");
    assert_eq!(answer.header("retry-after").as_deref(), Some("1"));
    assert_eq!(answer.header("x-content-type-options").as_deref(), Some("nosniff"));
    let allowed = answer.header("access-control-allow-origin");
    assert_eq!(allowed.as_deref(), Some("https://admin.example"));
}

/// What others need whatever the crowd does.
fn assert_rest_is_answered(service: &Service) {
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
fn lists_leave_room_for_documents_and_above_the_bound_a_503_comes_at_once() {
    let content = Content::new(&[("en", "x", "y")]);
    content.close();
    let cms = content.start();
    let service = before(&cms, "4");
    std::thread::scope(|scope| {
        let mut callers = Vec::new();
        for name in ["a", "b", "c"] {
            callers.push(wait(scope, &service, &cms, sitemap(name)));
        }
        assert_crowded(&get(&service, &sitemap("d")));
        assert_crowded(&get(&service, "/sitemaps/main/index.xml"));
        assert_rest_is_answered(&service);
        callers.push(wait(scope, &service, &cms, document("a")));
        assert_crowded(&get(&service, &document("b")));
        assert_crowded(&http::send(
            service.addr(),
            "GET",
            &sitemap("a"),
            &[("Origin", "https://admin.example"), ("Accept", "text/event-stream")],
        ));
        assert_rest_is_answered(&service);
        content.open();
        for caller in callers {
            assert_eq!(caller.join().expect("an answer").status, 200);
        }
    });
    for target in [sitemap("d"), document("b"), sitemap("a")] {
        assert_eq!(get(&service, &target).status, 200, "there is room again");
    }
}

#[test]
fn those_who_wait_take_no_more_than_a_part_of_the_connections() {
    let content = Content::new(&[("en", "x", "y")]);
    content.close();
    let cms = content.start();
    let service = setup(&cms, "100").env("FRONTEND_MAP__SERVER__CONNECTIONS", "8").start();
    assert!(service.logs("wanted=100 possible=6 connections=8"));
    let in_flight = || scrape(service.admin()).of("requests_in_flight");
    std::thread::scope(|scope| {
        let lists: Vec<TcpStream> = (0..30).map(|_| asks(&service, &sitemap("a"))).collect();
        until_so("lists have all the room that they may have", || in_flight() >= 5.0);
        assert_crowded(&get(&service, &sitemap("b")));
        let caller = wait(scope, &service, &cms, document("a"));
        assert_crowded(&get(&service, &document("b")));
        assert_rest_is_answered(&service);
        assert!(in_flight() <= 6.0, "{}", in_flight());
        content.open();
        assert_eq!(caller.join().expect("an answer").status, 200);
        drop(lists);
    });
}

#[test]
fn who_leaves_makes_room() {
    let content = Content::new(&[("en", "x", "y")]);
    content.close();
    let cms = content.start();
    let service = before(&cms, "1");
    let leaves = asks(&service, &document("a"));
    until_so("it is under way", || cms.targets().len() == 1);
    assert_crowded(&get(&service, &sitemap("a")));
    drop(leaves);
    content.open();
    until("room", || Some(get(&service, &sitemap("a"))).filter(|answer| answer.status == 200));
}

#[test]
fn an_answer_that_is_not_read_keeps_its_room_until_its_client_has_gone() {
    let row =
        |n: usize| format!(r#"{{"documentId":"d{n}","locale":"en","slug":"a-long-slug-{n}"}}"#);
    // More than the sockets of both sides take.
    let rows: Vec<String> = (0..300_000).map(row).collect();
    let content = format!(r#"{{"api::a.a":[{}]}}"#, rows.join(","));
    let service = Setup::new(&site("source = \"files\"\npath = \"content.json\""))
        .file("content.json", &content)
        .env("FRONTEND_MAP__LIMITS__REQUESTS", "1")
        .start();
    for encoding in ["identity", "gzip"] {
        let whole =
            http::send(service.addr(), "GET", &sitemap("a"), &[("Accept-Encoding", encoding)]);
        assert_eq!(whole.status, 200, "one after the other has room");
    }
    let mut slow = asks(&service, &sitemap("a"));
    slow.read_exact(&mut [0; 1024]).expect("the answer has begun");
    assert_crowded(&get(&service, &sitemap("a")));
    assert_crowded(&get(&service, &document("a")));
    drop(slow);
    until("room", || Some(get(&service, &sitemap("a"))).filter(|answer| answer.status == 200));
}
