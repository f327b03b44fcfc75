//! The rows of hostile responses after a valid response of the CMS.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::support::cms::Cms;
use crate::support::content::Query;
use crate::support::front_of_cms::{
    ID, RESOLVE, SITEMAP, articles, assert_no_token, list, one_url, setup, urls,
};
use crate::support::http::{self, Response};
use crate::support::script::Script;
use crate::support::service::Service;
use crate::support::tls::TRUSTED_ROOT;
use crate::support::wait::until;

/// Plays one row with a good snapshot; `cold` is the answer without one.
pub(super) fn play(row: &Value, cold: &Response) {
    let sick = Arc::new(AtomicBool::new(false));
    let (service, cms) = start(row, &sick);
    let target = if row["group"] == "one" { one_url() } else { SITEMAP.to_owned() };
    let good = http::get(service.addr(), &target);
    assert_eq!(good.status, 200, "{}: {}", row["name"], good.text());
    sick.store(true, Ordering::Relaxed);
    service.rewrite("hosts", "");
    let answer = match row["expect_warm"].as_str().expect("an expectation") {
        _ if row["group"] == "one" => one(row, &service, &good, cold),
        "stale 200" => stale(&service, &good),
        // A row that may be refused may be answered from the snapshot as well.
        _ if cold.status != 200 => stale(&service, &good),
        "fresh 200" | "fresh or stale 200" => fresh(&service, &good, cold),
        other => panic!("{}: cannot expect {other:?}", row["name"]),
    };
    eprintln!("{} warm: {} {:?}", row["name"], answer.status, answer.header("cache-status"));
    assert_no_token(&service, &answer);
    assert_eq!(http::get(service.addr(), RESOLVE).status, 200);
    drop(cms);
}

/// The service and its CMS, which is healthy until `sick`.
fn start(row: &Value, sick: &Arc<AtomicBool>) -> (Service, Cms) {
    let reply = &row["reply"];
    let is_sick = Arc::clone(sick);
    let (secure, nameless) = (reply["tcp"] == "tls-self-signed", reply["tcp"] == "dns-fail");
    // A connection from before the name stopped resolving must not answer.
    let script = if nameless { Script::reset() } else { Script::from_row(reply) };
    let answers = move |target: &str| {
        if is_sick.load(Ordering::Relaxed) { script.clone() } else { healthy(target).and_close() }
    };
    let cms = if secure { Cms::secure(answers, sick.clone()) } else { Cms::start(answers) };
    let scheme = if secure { "https" } else { "http" };
    let named = nameless && may_mount();
    let host = if named { "cms.test" } else { "127.0.0.1" };
    let setup = setup(&articles().strapi_at(&format!("{scheme}://{host}:{}", cms.addr().port())))
        .env("FRONTEND_MAP__HOOKS__SECRET", "a-secret-of-the-test")
        .env("SSL_CERT_FILE", TRUSTED_ROOT)
        .file("hosts", "127.0.0.1 cms.test\n");
    (if named { setup.behind(&WITH_HOSTS) } else { setup }.start(), cms)
}

/// Runs the binary with the file `hosts` beside its settings as `/etc/hosts`.
const WITH_HOSTS: [&str; 6] = [
    "unshare",
    "--map-root-user",
    "--mount",
    "sh",
    "-c",
    r#"mount --bind hosts /etc/hosts && exec "$0" "$@""#,
];

/// Whether this machine permits that; containers may not. Otherwise the connection is reset: the same
/// failure by another cause.
fn may_mount() -> bool {
    let words = [&WITH_HOSTS[1..5], &["mount --bind /etc/hosts /etc/hosts"]].concat();
    let ended = std::process::Command::new(WITH_HOSTS[0]).args(words).output();
    ended.is_ok_and(|ended| ended.status.success())
}

/// A document that no row of the corpus has.
fn healthy(target: &str) -> Script {
    let more = r#","locale":"en","slug":"good-copy""#;
    match Query::parse(target) {
        Some(query) => list(&[(ID, more)], query.size, 1),
        None => Script::json(200, &format!(r#"{{"data":{{"documentId":"{ID}"{more}}}}}"#)),
    }
}

fn hint(service: &Service) {
    let headers = [("Authorization", "Bearer a-secret-of-the-test"), ("Content-Length", "0")];
    assert_eq!(http::send(service.addr(), "POST", "/hooks/cms", &headers).status, 202);
}

/// Expects the snapshot, in the end marked as stale.
fn stale(service: &Service, good: &Response) -> Response {
    hint(service);
    until("a snapshot that says that the CMS fails", || {
        let answer = http::get(service.addr(), SITEMAP);
        assert_eq!((answer.status, &answer.body), (200, &good.body), "{}", answer.text());
        assert_eq!(answer.header("etag"), good.header("etag"));
        let status = answer.header("cache-status").expect("a snapshot says so");
        assert!(status.starts_with("frontend-map; hit; ttl="), "{status}");
        status.ends_with("; detail=\"the CMS fails\"").then_some(answer)
    })
}

/// Expects the snapshot, until it equals the answer to a first request.
fn fresh(service: &Service, good: &Response, cold: &Response) -> Response {
    hint(service);
    until("a fresh snapshot", || {
        let answer = http::get(service.addr(), SITEMAP);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let is_fresh = answer.body == cold.body;
        assert!(is_fresh || answer.body == good.body, "neither: {:?}", urls(&answer));
        let skipped = answer.header("x-skipped-documents") == cold.header("x-skipped-documents");
        (is_fresh && skipped).then_some(answer)
    })
}

/// A single document is requested each time; its last good version is for a CMS that fails.
fn one(row: &Value, service: &Service, good: &Response, cold: &Response) -> Response {
    let stale = row["expect_warm"] == "stale 200";
    let expected = if stale { good } else { cold };
    let answer = http::get(service.addr(), &one_url());
    assert_eq!((answer.status, &answer.body), (expected.status, &expected.body), "{}", row["name"]);
    let mark = answer.header("cache-status");
    let failing = "frontend-map; hit; detail=\"the CMS fails\"";
    assert_eq!(mark.as_deref(), stale.then_some(failing), "{}", row["name"]);
    answer
}
