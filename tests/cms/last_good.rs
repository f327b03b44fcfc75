//! `/api/frontend-url` while the CMS fails: the last good response about a published document, as
//! long as the limit allows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::{SITEMAP, articles, assert_failure, refusal, setup, urls};
use crate::support::http::{self, Response};
use crate::support::script::Script;
use crate::support::service::{Service, Setup};
use crate::support::settings::site;
use crate::support::wait::{until, until_so};

const SECRET: &str = "a-secret-of-the-test";

fn before(cms: &Cms) -> Setup {
    with_secret(setup(&articles().locales(&["en", "de"]).strapi(cms)))
}

/// With webhooks, and without requests at the start.
fn with_secret(setup: Setup) -> Setup {
    setup
        .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
        .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "false")
}

fn ask(service: &Service, query: &str) -> Response {
    let target = format!("/api/frontend-url?uid=plugin::cms.article&documentId={query}");
    http::get(service.addr(), &target)
}

fn fail(content: &Content) {
    content.fail(|_| Some(refusal(503, "ServiceUnavailableError", "{}")));
}

fn hint(service: &Service, event: &str) {
    let (length, bearer) = (event.len().to_string(), format!("Bearer {SECRET}"));
    let headers = [("Authorization", bearer.as_str()), ("Content-Length", &length)];
    let hint = http::send_with(service.addr(), "POST", "/hooks/cms", &headers, event);
    assert_eq!(hint.status, 202);
}

#[test]
fn last_good_response_is_served_and_marked_while_the_cms_fails() {
    let content = Content::new(&[("en", "a", "x"), ("de", "a", "z")]);
    let cms = content.start();
    let service = before(&cms).start();
    let good = ask(&service, "a");
    assert_eq!((good.status, good.header("cache-status"), good.header("age")), (200, None, None));
    fail(&content);
    let stale = ask(&service, "a");
    assert_eq!((stale.status, &stale.body), (200, &good.body));
    let mark = "frontend-map; hit; detail=\"the CMS fails\"";
    assert_eq!(stale.header("cache-status").as_deref(), Some(mark));
    assert!(stale.header("age").is_some_and(|age| age.parse::<u64>().is_ok()));
    // There is no last good answer about these.
    assert_failure(&ask(&service, "a&locale=de"), 503, "ServiceUnavailableError");
    assert_failure(&ask(&service, "b"), 503, "ServiceUnavailableError");
    content.heal();
    content.publish("en", "a", "y");
    let fresh = until("a fresh answer", || {
        Some(ask(&service, "a")).filter(|answer| answer.header("cache-status").is_none())
    });
    assert_eq!(fresh.json()["data"]["path"], "/en/articles/y");
}

#[test]
fn url_of_the_snapshot_is_served_and_marked_while_the_cms_fails() {
    let content = Content::new(&[("en", "a", "x"), ("de", "a", "z")]);
    content.put("en", "b", r#","slug":null"#);
    let cms = content.start();
    let setup = setup(&articles().locales(&["en", "de"]).strapi(&cms));
    let service = setup.env("FRONTEND_MAP__HOOKS__SECRET", SECRET).start();
    assert_eq!(http::get(service.addr(), SITEMAP).status, 200);
    let batch = "/api/frontend-urls?uid=plugin::cms.article&documentId=a";
    assert_eq!(http::get(service.addr(), batch).header("cache-status"), None);
    fail(&content);
    let mark = Some("frontend-map; hit; detail=\"the CMS fails\"");
    // Then an event says that anything may have changed.
    for _ in 0..2 {
        for (query, path) in [("a", "/en/articles/x"), ("a&locale=de", "/de/articles/z")] {
            let stale = ask(&service, query);
            assert_eq!(stale.status, 200, "{}", stale.text());
            assert_eq!(stale.json()["data"]["path"], path);
            assert_eq!(stale.header("cache-status").as_deref(), mark);
            assert!(stale.header("age").is_some_and(|age| age.parse::<u64>().is_ok()));
        }
        let no_url = ask(&service, "b");
        assert_eq!(no_url.status, 404);
        assert_eq!(no_url.json()["error"]["details"]["reason"], "slug_missing");
        assert_eq!(no_url.header("cache-status").as_deref(), mark);
        // It may have been published since.
        assert_failure(&ask(&service, "c"), 503, "ServiceUnavailableError");
        assert_failure(&ask(&service, "a&status=draft"), 503, "ServiceUnavailableError");
        let urls = http::get(service.addr(), batch);
        assert_eq!((urls.status, urls.header("cache-status").as_deref()), (200, mark));
        hint(&service, "");
    }
    // A document that was withdrawn has no URL, although the snapshot still has one.
    hint(
        &service,
        r#"{"event":"entry.unpublish","uid":"plugin::cms.article","entry":{"documentId":"a","publishedAt":"2026-01-01"}}"#,
    );
    assert_failure(&ask(&service, "a"), 503, "ServiceUnavailableError");
    assert_eq!(ask(&service, "b").status, 404);
    content.heal();
    until_so("a fresh response", || ask(&service, "a").header("cache-status").is_none());
}

#[test]
fn snapshot_from_before_a_withdrawal_of_any_document_is_not_used_until_a_walk() {
    let content = Content::new(&[("en", "a", "x"), ("de", "a", "z")]);
    let cms = content.start();
    let setup = setup(&articles().locales(&["en", "de"]).strapi(&cms));
    let service = setup.env("FRONTEND_MAP__HOOKS__SECRET", SECRET).start();
    assert_eq!(http::get(service.addr(), SITEMAP).status, 200);
    fail(&content);
    assert_eq!(ask(&service, "a").status, 200);
    // It may be about any document.
    hint(&service, r#"{"event":"entry.unpublish"}"#);
    assert_failure(&ask(&service, "a"), 503, "ServiceUnavailableError");
    assert_failure(&ask(&service, "a&locale=de"), 503, "ServiceUnavailableError");
    assert_eq!(http::get(service.addr(), SITEMAP).status, 200);
    content.unpublish("en", "a");
    content.heal();
    until_so("the walk", || {
        let list = http::get(service.addr(), SITEMAP);
        urls(&list) == ["https://www.example.com/de/articles/z"]
    });
    fail(&content);
    assert_eq!(ask(&service, "a&locale=de").json()["data"]["path"], "/de/articles/z");
    assert_failure(&ask(&service, "a"), 503, "ServiceUnavailableError");
}

#[test]
fn draft_is_never_served_as_a_last_good_answer() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = before(&cms).start();
    assert_eq!(ask(&service, "a&status=draft").status, 200);
    fail(&content);
    assert_failure(&ask(&service, "a&status=draft"), 503, "ServiceUnavailableError");
    assert_failure(&ask(&service, "a"), 503, "ServiceUnavailableError");
}

#[test]
fn deleted_document_has_no_last_good_answer() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = before(&cms).start();
    assert_eq!(ask(&service, "a").status, 200);
    content.unpublish("en", "a");
    assert_failure(&ask(&service, "a"), 404, "NotFoundError");
    fail(&content);
    assert_failure(&ask(&service, "a"), 503, "ServiceUnavailableError");
}

#[test]
fn webhook_removes_the_last_good_response_of_its_document() {
    let named = r#"{"uid":"plugin::cms.article","entry":{"documentId":"a"}}"#;
    for (event, others) in [(named, 200), ("", 503)] {
        let content = Content::new(&[("en", "a", "x"), ("en", "b", "y")]);
        let cms = content.start();
        let service = before(&cms).start();
        assert_eq!([ask(&service, "a").status, ask(&service, "b").status], [200, 200]);
        fail(&content);
        hint(&service, event);
        assert_failure(&ask(&service, "a"), 503, "ServiceUnavailableError");
        assert_eq!(ask(&service, "b").status, others);
    }
}

#[test]
fn webhook_of_any_type_removes_last_good_responses_with_values_of_relations() {
    let content = Content::new(&[]);
    let row = r#"{"data":{"documentId":"a","locale":"en","slug":"x","category":{"slug":"c"}}}"#;
    content.fail(|_| Some(Script::json(200, row)));
    let cms = content.start();
    let settings = site("main").rule("plugin::cms.article", "/{category.slug}/{slug}").strapi(&cms);
    let service = with_secret(settings.setup()).start();
    assert_eq!(ask(&service, "a").json()["data"]["path"], "/c/x");
    fail(&content);
    assert_eq!(ask(&service, "a").status, 200);
    hint(&service, r#"{"uid":"plugin::cms.category","entry":{"documentId":"c"}}"#);
    assert_failure(&ask(&service, "a"), 503, "ServiceUnavailableError");
}

#[test]
fn late_response_does_not_replace_a_newer_one() {
    for (slug, status) in [(Some("y"), 200), (None, 503)] {
        let content = Content::new(&[("en", "a", "x")]);
        let cms = content.start();
        let service = before(&cms).start();
        let (held, waits) = (Arc::new(AtomicBool::new(true)), AtomicBool::new(true));
        let is_held = Arc::clone(&held);
        // The first request gets the state of its time, but late.
        content.fail(move |_| {
            waits.swap(false, Ordering::Relaxed).then(|| {
                until_so("it is released", || !is_held.load(Ordering::Relaxed));
                Script::json(200, r#"{"data":{"documentId":"a","locale":"en","slug":"x"}}"#)
            })
        });
        std::thread::scope(|scope| {
            let first = scope.spawn(|| ask(&service, "a"));
            until_so("the first request", || cms.targets().len() == 1);
            match slug {
                Some(slug) => content.publish("en", "a", slug),
                None => content.unpublish("en", "a"),
            }
            let second = if slug.is_some() { 200 } else { 404 };
            assert_eq!(ask(&service, "a").status, second);
            held.store(false, Ordering::Relaxed);
            assert_eq!(first.join().expect("an answer").status, 200);
        });
        fail(&content);
        let stale = ask(&service, "a");
        assert_eq!(stale.status, status);
        if let Some(slug) = slug {
            assert_eq!(stale.json()["data"]["path"], format!("/en/articles/{slug}"));
        }
    }
}

#[test]
fn last_good_response_past_its_limit_is_not_served() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = before(&cms).env("FRONTEND_MAP__LIMITS__LAST_GOOD_MS", "1").start();
    assert_eq!(ask(&service, "a").status, 200);
    fail(&content);
    until_so("a millisecond has passed", || ask(&service, "a").status == 503);
}
