//! `/api/validations`: what the last run of each content type has found.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use serde_json::{Value, json};

use crate::support::front_end::{Answer, FrontEnd, answer};
use crate::support::http::{self, Response};
use crate::support::service::{Service, Setup};
use crate::support::url_checks::{site, slugs, target};
use crate::support::wait::until_so;

const LAST: &str = "/api/validations?site=main";

/// A page, a redirect, a 404, a 500, a reset.
fn mixed(target: &str) -> Answer {
    match target.split('-').next().unwrap() {
        "/moved" => answer("301 Moved", "Location: /x\r\n", 0),
        "/missing" => answer("404 Not Found", "", 0),
        "/reset" => Answer::Reset,
        _ => answer("200 OK", "", 0),
    }
}

fn mixed_slugs() -> Vec<String> {
    ["fine", "missing", "moved", "reset"].map(str::to_owned).into()
}

/// A service whose every validation is a new run.
fn without_reuse(setup: Setup) -> Setup {
    setup.env("FRONTEND_MAP__VALIDATION__REUSE_SECONDS", "0")
}

fn validate(service: &Service, t: usize) {
    assert_eq!(http::get(service.addr(), &target(t)).status, 200);
}

/// The runs that a request reports, once there is one of this many content types.
fn last(service: &Service, query: &str, count: usize) -> Vec<Value> {
    let runs = || http::get(service.addr(), &format!("{LAST}{query}"));
    let list = |response: Response| response.json()["data"]["validations"].as_array().cloned();
    until_so("the runs are recorded", || list(runs()).is_some_and(|list| list.len() == count));
    list(runs()).expect("a list")
}

fn time(value: &Value) -> jiff::Timestamp {
    let text = value.as_str().expect("a time");
    assert!(text.len() == 24 && text.ends_with('Z'), "{text}");
    text.parse().expect(text)
}

#[tokio::test(flavor = "multi_thread")]
async fn last_run_of_each_type_is_reported_without_a_new_one() {
    let peer = FrontEnd::start(mixed).await;
    let service = site(&peer.url("http", ""), 2, &mixed_slugs()).start();
    let empty = http::get(service.addr(), LAST);
    assert_eq!((empty.status, empty.text()), (200, r#"{"data":{"validations":[]},"meta":{}}"#));
    assert_eq!(empty.header("cache-control").as_deref(), Some("no-store"));
    assert_eq!(empty.header("content-type").as_deref(), Some("application/json"));
    validate(&service, 1);
    let requests = peer.heads().len();
    let mut runs = last(&service, "", 1);
    let (begun, ended) = (time(&runs[0]["startedAt"]), time(&runs[0]["endedAt"]));
    assert!(begun <= ended && ended <= jiff::Timestamp::now());
    let since = runs[0]["endedAt"].clone();
    let run = runs[0].as_object_mut().unwrap();
    run.remove("startedAt");
    run.remove("endedAt");
    let url = |slug: &str| peer.url("http", &format!("/{slug}-t1"));
    let source = |n: usize| (format!("d{n}"), "/{slug}-t1");
    let ((missing, rule), (reset, _)) = (source(1), source(3));
    let expected = json!({
        "contentType": "api::t1.t1",
        "count": 4,
        "byClass": {"2xx": 1, "3xx": 1, "4xx": 1, "5xx": 0, "error": 1},
        "byStatus": {"200": 1, "301": 1, "404": 1},
        "truncated": false,
        "dead": [
            {"url": url("missing"), "status": 404, "documentId": missing, "locale": "en",
             "rule": rule, "since": since},
            {"url": url("reset"), "status": null, "reason": "fetch failed: reset",
             "documentId": reset, "locale": "en", "rule": rule, "since": since},
        ],
    });
    assert_eq!(runs, [expected]);
    assert_eq!(last(&service, "&contentType=api::t1.t1", 1).len(), 1);
    last(&service, "&contentType=api::t0.t0", 0);
    // In the order of the rules.
    validate(&service, 0);
    let types: Vec<_> =
        last(&service, "", 2).into_iter().map(|run| run["contentType"].clone()).collect();
    assert_eq!(types, ["api::t0.t0", "api::t1.t1"]);
    assert_eq!(peer.heads().len(), 2 * requests, "no request but those of two runs");
}

#[tokio::test(flavor = "multi_thread")]
async fn results_of_a_document_are_added_with_its_redirects() {
    let peer = FrontEnd::start(mixed).await;
    let service = site(&peer.url("http", ""), 2, &mixed_slugs()).start();
    validate(&service, 0);
    let page = |id: &str| last(&service, &format!("&documentId={id}"), 1)[0]["pages"].clone();
    let url = |slug: &str| peer.url("http", &format!("/{slug}-t0"));
    for (id, mut expected) in [
        ("d0", json!({"url": url("fine"), "status": 200, "ok": true})),
        ("d1", json!({"url": url("missing"), "status": 404, "ok": false})),
        ("d2", json!({"url": url("moved"), "status": 301, "ok": false, "location": "/x"})),
        (
            "d3",
            json!({"url": url("reset"), "status": null, "ok": false,
                   "reason": "fetch failed: reset"}),
        ),
    ] {
        expected["documentId"] = id.into();
        expected["locale"] = "en".into();
        expected["rule"] = "/{slug}-t0".into();
        assert_eq!(page(id), json!([expected]));
    }
    assert_eq!(page("none"), json!([]));
    assert_eq!(last(&service, "&documentId=", 1)[0].get("pages"), None);
}

/// What the frontend of the next test says of `/flaky-…` and of `/gone-…`.
static FLAKY: AtomicUsize = AtomicUsize::new(0);

fn flaky(target: &str) -> Answer {
    match (FLAKY.load(SeqCst), target) {
        (0, _) => answer("404 Not Found", "", 0),
        (1, "/flaky-t0") => answer("200 OK", "", 0),
        (1, _) => answer("500 Internal Server Error", "", 0),
        (2, _) => Answer::Hang,
        (_, _) => answer("410 Gone", "", 0),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn url_is_dead_since_the_first_run_without_a_gap() {
    let peer = FrontEnd::start(flaky).await;
    let documents = ["flaky", "gone"].map(str::to_owned);
    let service = without_reuse(site(&peer.url("http", ""), 1, &documents))
        .env("FRONTEND_MAP__VALIDATION__DEADLINE_SECONDS", "1")
        .start();
    let mut ends: Vec<Value> = Vec::new();
    let mut run = |answers: usize| {
        FLAKY.store(answers, SeqCst);
        validate(&service, 0);
        until_so("the run is recorded", || {
            last(&service, "", 1)[0]["endedAt"] != *ends.last().unwrap_or(&Value::Null)
        });
        let run = last(&service, "&documentId=d1", 1)[0].clone();
        ends.push(run["endedAt"].clone());
        let dead = run["dead"].as_array().unwrap().iter();
        let since = |dead: &Value| {
            let end = ends.iter().position(|end| *end == dead["since"]).expect("the end of a run");
            (dead["documentId"].as_str().unwrap().to_owned(), end)
        };
        (dead.map(since).collect::<Vec<_>>(), run)
    };
    let dead = |list: &[(&str, usize)]| -> Vec<(String, usize)> {
        list.iter().map(|(id, since)| ((*id).to_owned(), *since)).collect()
    };
    assert_eq!(run(0).0, dead(&[("d0", 0), ("d1", 0)]));
    assert_eq!(run(1).0, dead(&[("d1", 0)]));
    // Nothing is known of URLs that were not checked: they are not dead, and have not recovered.
    let (listed, unchecked) = run(2);
    assert_eq!(listed, dead(&[]));
    assert_eq!((&unchecked["count"], &unchecked["byClass"]["error"]), (&json!(2), &json!(2)));
    assert_eq!(unchecked["pages"][0]["reason"], "not checked: deadline");
    assert_eq!(run(3).0, dead(&[("d0", 3), ("d1", 0)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_urls_beyond_ten_thousand_are_counted_alone() {
    let peer = FrontEnd::start(|_| answer("404 Not Found", "", 0)).await;
    let documents: Vec<String> = (0..10_002).map(|n| format!("{n:05}")).collect();
    let service = site(&peer.url("http", ""), 1, &documents).start();
    validate(&service, 0);
    let run = &last(&service, "&documentId=d10001", 1)[0];
    assert_eq!((&run["count"], &run["byClass"]["4xx"]), (&json!(10_002), &json!(10_002)));
    assert_eq!(run["truncated"], true);
    let listed: Vec<_> = run["dead"].as_array().unwrap().iter().collect();
    assert_eq!(listed.len(), 10_000);
    let ids = listed.iter().map(|dead| dead["documentId"].as_str().unwrap());
    assert!(ids.eq((0..10_000).map(|n| format!("d{n}"))), "the first ones in order");
    assert_eq!(run["pages"][0]["status"], 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_parameters_are_refused() {
    let service = site("http://127.0.0.1:1", 1, &slugs("a", 1)).start();
    for (query, message) in [
        ("", "`site` is required"),
        ("site=x", "`site` is not a configured site: \"x\""),
        (
            "site=main&contentType=api::x.x",
            "site \"main\" has no rule for this `contentType`: \"api::x.x\"",
        ),
        ("site=main&documentId=a!", "`documentId` is not a document ID: \"a!\""),
        ("site=main&documentId=a&documentId=a", "`documentId` is given more than once"),
    ] {
        let refused = http::get(service.addr(), &format!("/api/validations?{query}"));
        let error = refused.json()["error"].clone();
        assert_eq!((refused.status, error["message"].as_str()), (400, Some(message)), "{query}");
    }
}
