//! Snapshots that are built at the start, and a stop while a walk is in flight.

use super::{in_english, sitemap};
use crate::support::cms::Cms;
use crate::support::content::{Content, Query};
use crate::support::front_of_cms::refusal;
use crate::support::http;
use crate::support::service::Setup;
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

/// Two sites, three content types.
fn sites(cms: &Cms) -> Setup {
    site("main")
        .front_end_url("https://x.example")
        .rule("api::a.a", "/a/{slug}")
        .rule("api::b.b", "/b/{slug}")
        .site("more")
        .front_end_url("https://x.example")
        .rule("api::a.a", "/a/{slug}")
        .rule("api::c.c", "/c/{slug}")
        .strapi(cms)
        .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true")
}

/// How many walks over an endpoint have begun.
fn walks(cms: &Cms, endpoint: &str) -> usize {
    let path = format!("/api/{endpoint}?");
    let first = |target: &&String| {
        let query = Query::parse(target).expect("only lists are asked for");
        target.starts_with(&path) && query.after.is_empty() && query.size > 1
    };
    cms.targets().iter().filter(first).count()
}

#[test]
fn start_builds_each_copy_once_without_a_request() {
    let content = Content::new(&[("en", "d", "x")]);
    content.fail(|target| {
        target.starts_with("/api/bs?").then(|| refusal(429, "RateLimitError", "{}"))
    });
    let cms = content.start();
    // The keeper looks at least every soft limit.
    let service = sites(&cms).env("FRONTEND_MAP__SNAPSHOTS__SOFT_SECONDS", "1").start();
    // It has looked again since the others were built: they were due, but there was no request for them.
    until_so("the one that fails is tried again", || walks(&cms, "bs") >= 4);
    assert_eq!((walks(&cms, "as"), walks(&cms, "cs")), (1, 1), "one for both sites");
    content.heal();
    until_so("all are built", || service.log().matches("a snapshot is built").count() == 4);
    let answer = http::get(service.addr(), "/api/build-sitemap?site=main&contentType=api::b.b");
    assert!(answer.header("cache-status").is_some_and(|status| status.contains("hit")));
    assert_eq!(answer.json()["data"]["urls"][0], "https://x.example/b/x");
}

#[test]
fn start_without_at_start_walks_nothing() {
    let content = Content::new(&[("en", "d", "x")]);
    let cms = content.start();
    let service = in_english(&cms).env("FRONTEND_MAP__SNAPSHOTS__SOFT_SECONDS", "1").start();
    assert_eq!(sitemap(&service).status, 200);
    assert_eq!(cms.targets().len(), 2, "nothing was asked before");
}

#[test]
fn each_type_is_failing_when_the_cms_is_away_at_the_start() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let of = |name: &str| format!("api::{name}.{name}");
    let with = |settings: Settings, pair: &[&str]| {
        let settings = settings.site(pair[0]);
        pair.iter().fold(settings, |settings, name| settings.rule(&of(name), "/{slug}"))
    };
    let settings = names.chunks(2).fold(Settings::new(), with).strapi_at("http://127.0.0.1:9");
    let service = settings.env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true").start();
    until_so("all of them are failing", || {
        let ready = http::get(service.admin(), "/readyz").json();
        let types = ready["contentTypes"].as_array().expect("a list").clone();
        assert_eq!(types.len(), names.len());
        types.iter().all(|own| own["failing"] == true && own["urls"].is_null())
    });
}

#[test]
fn stop_does_not_wait_for_a_walk_in_flight() {
    let content = Content::new(&[("en", "d", "x")]);
    content.close();
    let cms = content.start();
    // The CMS never answers, and may take longer than a test waits.
    let mut service = sites(&cms).env("FRONTEND_MAP__LIMITS__CMS_REQUEST_MS", "600000").start();
    until_so("walks are under way", || cms.targets().len() >= 3);
    assert_eq!(service.signal("TERM"), Some(0));
    assert!(service.logs("stopped"), "{}", service.log());
}
