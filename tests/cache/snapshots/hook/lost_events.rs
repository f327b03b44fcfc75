//! Changes whose webhook is lost, or that make none: what else finds them.

use std::time::{Duration, Instant};

use crate::snapshots::{in_english, paths, sitemap, walks};
use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::refusal;
use crate::support::hook::{SECRET, post_body};
use crate::support::http;
use crate::support::metrics::scrape;
use crate::support::script::Script;
use crate::support::service::{Service, Setup};
use crate::support::settings::site;
use crate::support::wait::until_so;

pub(super) const UID: &str = "plugin::cms.article";

/// No walk comes by age while a test runs.
pub(super) fn rarely(setup: Setup) -> Setup {
    let setup = setup.env("FRONTEND_MAP__HOOKS__SECRET", SECRET);
    setup.env("FRONTEND_MAP__SNAPSHOTS__SOFT_SECONDS", "3600")
}

pub(super) fn start(cms: &Cms) -> Service {
    rarely(in_english(cms)).start()
}

pub(super) fn event(service: &Service, uid: &str, id: &str) {
    let body =
        format!(r#"{{"event":"entry.publish","uid":"{uid}","entry":{{"documentId":"{id}"}}}}"#);
    let response = post_body(service, body.as_bytes());
    assert!(response.starts_with("HTTP/1.1 202 "), "{response}");
}

pub(super) fn lists(service: &Service, expected: &[&str]) {
    until_so("the list", || paths(&sitemap(service)) == expected);
}

pub(super) fn put(content: &Content, id: &str, slug: &str, second: u32) {
    let date = format!("2026-01-01T00:00:{second:02}.000Z");
    content.put("en", id, &format!(r#","publishedAt":"{date}","slug":"{slug}""#));
}

#[test]
fn single_read_that_differs_from_the_snapshot_updates_it() {
    let content = Content::new(&[("en", "a", "old"), ("en", "b", "b"), ("en", "c", "c")]);
    let cms = content.start();
    let service = start(&cms);
    lists(&service, &["/en/articles/b", "/en/articles/c", "/en/articles/old"]);
    let read = |id: &str| {
        http::get(service.addr(), &format!("/api/frontend-url?uid={UID}&documentId={id}")).status
    };
    content.publish("en", "a", "new");
    assert_eq!(read("a"), 200);
    lists(&service, &["/en/articles/b", "/en/articles/c", "/en/articles/new"]);
    content.unpublish("en", "b");
    assert_eq!(read("b"), 404);
    lists(&service, &["/en/articles/c", "/en/articles/new"]);
    content.publish("en", "d", "d");
    assert_eq!(read("d"), 200);
    lists(&service, &["/en/articles/c", "/en/articles/d", "/en/articles/new"]);
    // An equal version, and one that is not there either.
    let before = cms.targets().len();
    assert_eq!([read("c"), read("x")], [200, 404]);
    event(&service, UID, "a");
    let by_id = |target: &&String| target.contains("filters[documentId]");
    until_so("the read of the event", || cms.targets()[before..].iter().filter(by_id).count() > 0);
    let named = cms.targets()[before..].iter().filter(by_id).cloned().collect::<Vec<_>>();
    assert!(named.iter().all(|target| !target.contains("=c&") && !target.contains("=x&")));
    assert_eq!(walks(&cms, "en"), 1);
}

#[test]
fn single_reads_report_a_lasting_difference_only_once_in_a_while() {
    let content = Content::new(&[("en", "a", "list")]);
    // The CMS contradicts itself.
    content.fail(|target| {
        let row = r#"{"data":{"documentId":"a","locale":"en","slug":"single"}}"#;
        target.contains("/articles/a?").then(|| Script::json(200, row))
    });
    let cms = content.start();
    let service = start(&cms);
    lists(&service, &["/en/articles/list"]);
    let target = format!("/api/frontend-url?uid={UID}&documentId=a");
    let reports = || service.log().matches("differs from the snapshot").count();
    let started = std::time::Instant::now();
    for _ in 0..50 {
        assert_eq!(http::get(service.addr(), &target).status, 200);
    }
    let most = 1 + usize::try_from(started.elapsed().as_secs()).expect("no year") / 5;
    assert!((1..=most).contains(&reports()), "{} of 50", reports());
}

#[test]
fn draft_that_differs_from_the_snapshot_changes_nothing() {
    let content = Content::new(&[("en", "a", "published")]);
    content.fail(|target| {
        let row = r#"{"data":{"documentId":"a","locale":"en","slug":"draft"}}"#;
        target.contains("status=draft").then(|| Script::json(200, row))
    });
    let cms = content.start();
    let service = start(&cms);
    lists(&service, &["/en/articles/published"]);
    let target = format!("/api/frontend-url?uid={UID}&documentId=a&status=draft");
    assert_eq!(http::get(service.addr(), &target).status, 200);
    assert!(!service.log().contains("differs from the snapshot"));
}

#[test]
fn change_right_before_an_outage_is_found_after_it_without_a_request() {
    let content = Content::new(&[("en", "a", "old")]);
    let cms = content.start();
    let service = start(&cms);
    lists(&service, &["/en/articles/old"]);
    content.publish("en", "a", "new");
    content.fail(|_| Some(refusal(503, "ServiceUnavailableError", "{}")));
    let target = format!("/api/frontend-url?uid={UID}&documentId=a");
    let stale = http::get(service.addr(), &target);
    assert_eq!(stale.json()["data"]["path"], "/en/articles/old");
    assert!(service.logs("the circuit breaker is open"));
    content.heal();
    // The refresher sends the probes.
    assert!(service.logs("the circuit breaker is closed"));
    lists(&service, &["/en/articles/new"]);
}

#[test]
fn change_right_before_an_outage_is_found_by_the_first_probe_after_it_without_a_walk() {
    // As a walk that has to wait for the share of the CMS, and as one that takes minutes.
    for walk in [refusal(500, "InternalServerError", "{}"), Script::silence()] {
        let content = Content::default();
        put(&content, "a", "old", 1);
        let cms = content.start();
        let service = start(&cms);
        lists(&service, &["/en/articles/old"]);
        event(&service, UID, "a");
        until_so("the first probe", || cms.probes() > 0);
        put(&content, "a", "new", 2);
        content.fail(|_| Some(refusal(503, "ServiceUnavailableError", "{}")));
        event(&service, UID, "b");
        assert!(service.logs("the circuit breaker is open"));
        let is_walk =
            |target: &str| target.contains("pageSize]=100") && !target.contains("filters[");
        content.fail(move |target| is_walk(target).then(|| walk.clone()));
        assert!(service.logs("the circuit breaker is closed"));
        let closed = Instant::now();
        lists(&service, &["/en/articles/new"]);
        // Without an outage, probes are half a minute apart, and a difference waits 5 s for its event.
        let took = closed.elapsed();
        assert!(took < Duration::from_secs(5), "{took:?}");
    }
}

#[test]
fn change_in_an_outage_during_which_the_settings_are_reloaded_is_found_after_it() {
    let content = Content::new(&[("en", "a", "old")]);
    let cms = content.start();
    let settings = site("main").rule(UID, "/{slug}").strapi(&cms);
    let service = rarely(settings.setup()).env("RUST_LOG", "debug").start();
    lists(&service, &["/old"]);
    content.publish("en", "a", "new");
    content.fail(|_| Some(refusal(503, "ServiceUnavailableError", "{}")));
    let target = format!("/api/frontend-url?uid={UID}&documentId=a");
    assert_eq!(http::get(service.addr(), &target).status, 200);
    assert!(service.logs("the circuit breaker is open"));
    // The new client of the CMS knows nothing of the outage.
    service.rewrite("settings.toml", &settings.more("[limits]\ncms_request_ms = 4000").toml());
    service.send_signal("HUP");
    assert!(service.logs("the settings are reloaded"));
    content.heal();
    lists(&service, &["/new"]);
}

/// The walk after an outage finds the second edit of a document whose first one a single read has found;
/// both are counted.
#[test]
fn edit_that_a_read_has_found_announces_no_other_edit() {
    let content = Content::new(&[("en", "a", "one")]);
    let cms = content.start();
    let service = start(&cms);
    lists(&service, &["/en/articles/one"]);
    content.publish("en", "a", "two");
    let target = format!("/api/frontend-url?uid={UID}&documentId=a");
    assert_eq!(http::get(service.addr(), &target).status, 200);
    lists(&service, &["/en/articles/two"]);
    content.publish("en", "a", "three");
    content.fail(|_| Some(refusal(503, "ServiceUnavailableError", "{}")));
    http::get(service.addr(), &target);
    assert!(service.logs("the circuit breaker is open"));
    content.heal();
    lists(&service, &["/en/articles/three"]);
    let series = format!("edits_unannounced_total{{site=\"main\",content_type=\"{UID}\"}}");
    until_so("both edits are counted", || scrape(service.admin()).of(&series) > 1.5);
}

#[test]
fn path_through_a_component_is_never_filtered() {
    let content = Content::default();
    content.put("en", "a", r#","slug":"a","seo":{"id":1,"slug":"s"}"#);
    let cms = content.start();
    let settings = site("main").rule(UID, "/{seo.slug}/{slug}").strapi(&cms);
    let service = rarely(settings.setup()).env("RUST_LOG", "debug").start();
    lists(&service, &["/s/a"]);
    for (round, uid) in [UID, "api::tag.tag", "api::category.category"].into_iter().enumerate() {
        event(&service, uid, "a");
        // A walk would show a first reference.
        until_so("a walk", || walks(&cms, "en") == round + 2);
    }
    content.put("en", "a", r#","slug":"b","seo":{"id":1,"slug":"s"}"#);
    event(&service, "api::tag.tag", "t");
    event(&service, UID, "a");
    lists(&service, &["/s/b"]);
    let filtered: Vec<String> =
        cms.targets().into_iter().filter(|target| target.contains("filters[seo]")).collect();
    assert!(filtered.is_empty(), "{filtered:?}");
    assert_eq!(walks(&cms, "en"), 4, "once for each type");
}
