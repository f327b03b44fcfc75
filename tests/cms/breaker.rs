//! The CMS fails and recovers: the responses meanwhile, and the number of requests to the CMS.

mod walks;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::{RESOLVE, SITEMAP, articles, assert_failure, refusal, setup};
use crate::support::http::{self, Response};
use crate::support::script::{Act, Script};
use crate::support::service::{Service, Setup};
use crate::support::wait::{until, until_so};

const OPENS: &str = "the CMS fails: the circuit breaker is open";
const CLOSES: &str = "the CMS has recovered: the circuit breaker is closed";

fn before(cms: &Cms) -> Setup {
    setup(&articles().strapi(cms)).env("FRONTEND_MAP__SNAPSHOTS__AT_START", "false")
}

/// Requests one document; a draft has no last good version.
fn ask(service: &Service, status: &str) -> Response {
    let target = "/api/frontend-url?uid=plugin::cms.article&documentId=a&status=";
    http::get(service.addr(), &format!("{target}{status}"))
}

fn unavailable() -> Script {
    refusal(503, "ServiceUnavailableError", "{}")
}

fn with_retry_after(status: u16, seconds: &str) -> Script {
    Script::raw(format!(
        "HTTP/1.1 {status} X\r\nretry-after: {seconds}\r\ncontent-length: 0\r\n\r\n"
    ))
}

fn count(service: &Service, line: &str) -> usize {
    service.log().matches(line).count()
}

/// One byte now and then, without an end.
fn drip() -> Script {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n".to_vec();
    Script { acts: vec![Act::Drip(head, Duration::from_millis(200))] }
}

#[test]
fn breaker_opens_after_two_failures_of_any_kind_and_requests_fail_at_once() {
    let ways = [
        (503, Script::reset()),
        (503, unavailable()),
        (503, refusal(502, "BadGatewayError", "{}")),
        (503, refusal(504, "GatewayTimeoutError", "{}")),
        (504, Script::silence()),
        (504, drip()),
    ];
    for (first, script) in ways {
        let content = Content::new(&[("en", "a", "x")]);
        let cms = content.start();
        let service = before(&cms).env("FRONTEND_MAP__LIMITS__CMS_REQUEST_MS", "1500").start();
        assert_eq!(ask(&service, "published").status, 200);
        content.fail(move |_| Some(script.clone()));
        let answer = ask(&service, "draft");
        assert_eq!(answer.status, first, "{}", answer.text());
        assert_eq!(cms.targets().len(), 3, "a request and its retry");
        // A probe takes the time of a request to fail where the CMS is silent, and no answer is a 504.
        until_so("two probes", || {
            let refused = ask(&service, "draft");
            assert_failure(&refused, 503, "ServiceUnavailableError");
            assert_eq!(refused.header("retry-after").as_deref(), Some("5"));
            let stale = ask(&service, "published");
            assert_eq!(stale.status, 200);
            assert!(stale.header("cache-status").is_some_and(|mark| mark.contains("fails")));
            assert_eq!(http::get(service.addr(), RESOLVE).status, 200);
            cms.targets().len() >= 5
        });
        content.heal();
        until("a draft again", || Some(ask(&service, "draft")).filter(|a| a.status == 200));
        // Another thread reads the log, possibly later than the response.
        assert!(service.logs(CLOSES), "{}", service.log());
        assert_eq!((count(&service, OPENS), count(&service, CLOSES)), (1, 1));
        assert_eq!(count(&service, "documents could not be read"), 1, "not each of them");
    }
}

#[test]
fn opening_breaker_logs_the_address_and_the_kind_of_the_failure_which_no_response_has() {
    let scripts = [
        (Script::reset(), "the connection broke"),
        (unavailable(), "it returned 503"),
        (Script::silence(), "did not respond in time"),
    ];
    for (script, kind) in scripts {
        let content = Content::new(&[("en", "a", "x")]);
        let cms = content.start();
        content.fail(move |_| Some(script.clone()));
        let service = before(&cms).env("FRONTEND_MAP__LIMITS__CMS_REQUEST_MS", "500").start();
        assert_opening(&service, &cms.addr().to_string(), kind);
    }
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr();
    for (cms, kind) in [
        (free.expect("an address").to_string(), "connection refused"),
        ("cms.invalid".to_owned(), "its host name has no address"),
    ] {
        let setup = setup(&articles().strapi_at(&format!("http://{cms}")));
        let service = setup.env("FRONTEND_MAP__SNAPSHOTS__AT_START", "false").start();
        assert_opening(&service, &cms, kind);
    }
}

/// Requests drafts until the breaker is open.
#[track_caller]
fn assert_opening(service: &Service, cms: &str, kind: &str) {
    until_so("the breaker is open", || {
        let answer = ask(service, "draft");
        let text = answer.text();
        assert!(!text.contains(cms) && !text.contains(kind) || kind.contains("in time"), "{text}");
        service.log().contains(OPENS)
    });
    let log = service.log();
    let line = log.lines().find(|line| line.contains(OPENS)).unwrap_or_default();
    assert!(line.contains("WARN") && line.contains(cms) && line.contains(kind), "{line}");
}

#[test]
fn first_successful_probe_closes_the_breaker() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = before(&cms).start();
    content.fail(|_| Some(unavailable()));
    assert_failure(&ask(&service, "draft"), 503, "ServiceUnavailableError");
    content.heal();
    let asked = until("an answer", || {
        let asked = cms.targets().len();
        (ask(&service, "draft").status == 200).then_some(asked)
    });
    assert_eq!(asked, 3, "a request, its retry and one probe");
    assert_eq!(cms.targets().len(), 4);
}

#[test]
fn requests_that_wait_for_a_permit_fail_when_the_breaker_opens() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    content.fail(|_| Some(Script::silence()));
    let limits =
        [("CMS_REQUEST_MS", "1000"), ("CMS_REQUESTS", "1"), ("DOCUMENT_DEADLINE_MS", "600000")];
    let setup = limits.iter().fold(before(&cms), |setup, (name, value)| {
        setup.env(&format!("FRONTEND_MAP__LIMITS__{name}"), value)
    });
    let service = setup.start();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let callers: Vec<_> =
            (0..30).map(|_| scope.spawn(|| ask(&service, "draft").status)).collect();
        callers.into_iter().map(|caller| caller.join().expect("an answer")).collect()
    });
    let of = |status: u16| statuses.iter().filter(|one| **one == status).count();
    assert_eq!((of(504), of(503)), (1, 29), "{statuses:?}");
}

#[test]
fn retries_are_limited_by_a_budget() {
    let number = Arc::new(AtomicUsize::new(0));
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = before(&cms).start();
    content.fail(move |_| {
        number.fetch_add(1, Ordering::Relaxed).is_multiple_of(2).then(Script::reset)
    });
    let statuses: Vec<u16> = (0..12).map(|_| ask(&service, "draft").status).collect();
    let mut expected = [200; 12];
    // Ten retries are free, and ten requests earn one more.
    expected[11] = 503;
    assert_eq!(statuses, expected);
    assert_eq!(cms.targets().len(), 11 * 2 + 1);
    assert_eq!(ask(&service, "draft").status, 200, "the next request succeeds at once");
    assert_eq!(count(&service, OPENS), 0);
}

#[test]
fn breaker_stays_closed_while_the_cms_responds_at_all() {
    let ways = [
        (503, refusal(500, "InternalServerError", "{}"), 2),
        (503, refusal(501, "NotImplementedError", "{}"), 2),
        (404, refusal(404, "NotFoundError", "{}"), 1),
        (502, refusal(403, "ForbiddenError", "{}"), 1),
        (502, Script::json(200, "<html>"), 1),
        (502, Script::raw("SSH-2.0-x\r\n"), 1),
    ];
    for (status, script, requests) in ways {
        let content = Content::new(&[("en", "a", "x")]);
        let cms = content.start();
        let service = before(&cms).start();
        content.fail(move |_| Some(script.clone()));
        for asked in 1..=4 {
            assert_eq!(ask(&service, "draft").status, status);
            assert_eq!(cms.targets().len(), asked * requests, "{status}");
        }
        content.heal();
        assert_eq!(ask(&service, "draft").status, 200, "after {status}");
        assert_eq!(count(&service, OPENS), 0);
    }
}

#[test]
fn retry_after_of_the_cms_is_followed_for_a_minute_at_most() {
    // The last one is a date, far away.
    let date = "Fri, 31 Dec 9999 23:59:59 GMT";
    for (status, says, left) in [(429, "30", "30"), (503, "600", "60"), (503, date, "60")] {
        let content = Content::new(&[("en", "a", "x")]);
        let cms = content.start();
        let service = before(&cms).start();
        content.fail(move |_| Some(with_retry_after(status, says)));
        let first = ask(&service, "draft").header("retry-after");
        assert_eq!(first.as_deref(), Some(left));
        content.heal();
        for _ in 0..20 {
            let refused = ask(&service, "draft");
            assert_failure(&refused, 503, "ServiceUnavailableError");
            let left: u64 =
                refused.header("retry-after").expect("a time").parse().expect("seconds");
            assert!((1..=60).contains(&left), "{left}");
        }
        assert_failure(&http::get(service.addr(), SITEMAP), 503, "ServiceUnavailableError");
        assert_eq!(cms.targets().len(), 1);
    }
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = before(&cms).start();
    content.fail(|_| Some(with_retry_after(503, "1")));
    assert_eq!(ask(&service, "draft").header("retry-after").as_deref(), Some("1"));
    content.heal();
    until("a draft", || Some(ask(&service, "draft")).filter(|answer| answer.status == 200));
    assert_eq!(cms.targets().len(), 3, "one refused, one probe, one answered");
}
