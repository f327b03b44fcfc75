//! Webhooks that name a document: it is read by itself, and shows before any walk has ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::hook::{hint, with_secret};
use super::{ends, in_two_locales, paths, sitemap, soft, walks};
use crate::support::content::{Content, Query, selected};
use crate::support::front_of_cms::{list, refusal};
use crate::support::hook::{SECRET, post_body};
use crate::support::http;
use crate::support::service::Service;
use crate::support::wait::until_so;

const UID: &str = "plugin::cms.article";

/// What Strapi sends after a document has changed.
fn changed(service: &Service, id: &str) {
    let event = format!(
        r#"{{"event":"entry.publish","createdAt":"2026-01-01T00:00:00.000Z","model":"article","uid":"{UID}","entry":{{"id":7,"documentId":"{id}","locale":"en","slug":"not to be believed"}}}}"#
    );
    assert!(post_body(service, event.as_bytes()).starts_with("HTTP/1.1 202 "));
}

/// From now on walks fail, and single documents can be read: the CMS is there.
fn fail_lists(content: &Content) {
    content.fail(|target| {
        let is_of_all = Query::parse(target)?.ids.is_empty();
        is_of_all.then(|| refusal(500, "InternalServerError", "{}"))
    });
}

fn lists(service: &Service, expected: &[&str]) {
    until_so("the change", || paths(&sitemap(service)) == expected);
}

#[test]
fn named_document_is_updated_without_a_walk() {
    let content = Content::new(&[("en", "b", "m"), ("de", "b", "m")]);
    let cms = content.start();
    let setup = in_two_locales(&cms).env("FRONTEND_MAP__HOOKS__SECRET", SECRET);
    let service = setup.start();
    assert_eq!(paths(&sitemap(&service)), ["/en/articles/m", "/de/articles/m"]);
    fail_lists(&content);
    content.publish("en", "a", "x");
    changed(&service, "a");
    lists(&service, &["/en/articles/m", "/en/articles/x", "/de/articles/m"]);
    content.publish("en", "a", "c");
    content.publish("de", "a", "z");
    changed(&service, "a");
    lists(&service, &["/en/articles/c", "/en/articles/m", "/de/articles/m", "/de/articles/z"]);
    content.unpublish("en", "b");
    changed(&service, "b");
    lists(&service, &["/en/articles/c", "/de/articles/m", "/de/articles/z"]);
    let index = http::get(service.addr(), "/sitemaps/main/index.xml");
    let name = index.text().split("/sitemaps/").nth(1).and_then(|rest| rest.split('<').next());
    let file = http::get(service.addr(), &format!("/sitemaps/main/{}", name.expect("a file")));
    assert_eq!(file.text().matches("<loc>").count(), 3);
    assert!(!file.text().contains("/en/articles/m"), "{}", file.text());
    // The walks that should have followed have failed.
    assert_eq!(service.log().matches("a snapshot is built").count(), 1);
}

#[test]
fn named_document_without_a_locale_is_listed_once() {
    let content = Content::new(&[("en", "b", "m")]);
    let cms = content.start();
    let setup = in_two_locales(&cms).env("FRONTEND_MAP__HOOKS__SECRET", SECRET);
    let service = setup.start();
    assert_eq!(paths(&sitemap(&service)), ["/en/articles/m"]);
    content.fail(|target| match Query::parse(target) {
        Some(_) => Some(refusal(500, "InternalServerError", "{}")),
        None => Some(list(&[("a", r#","locale":null,"slug":"x""#)], 100, 1)),
    });
    changed(&service, "a");
    lists(&service, &["/en/articles/m", "/en/articles/x"]);
}

/// Ignores `locale=*` in lists of single documents, like a broken proxy: these versions are `en`.
fn ignore_all_locales(content: &Content, ignored: &Arc<AtomicBool>) {
    let (own, ignored) = (content.clone(), Arc::clone(ignored));
    content.fail(move |target| {
        let (_, query) = target.split_once('?')?;
        let ids = selected(query);
        let is_broken = ignored.load(Ordering::Relaxed) && !ids.is_empty();
        (is_broken && query.contains("locale=%2A")).then(|| own.some(&ids, "en"))
    });
}

#[test]
fn response_with_one_locale_drops_no_other_version() {
    let content = Content::new(&[("en", "a", "x"), ("de", "a", "x"), ("de", "b", "y")]);
    let cms = content.start();
    let setup = in_two_locales(&cms).env("FRONTEND_MAP__HOOKS__SECRET", SECRET);
    let service = setup.start();
    let all = ["/en/articles/x", "/de/articles/x", "/de/articles/y"];
    assert_eq!(paths(&sitemap(&service)), all);
    let ignored = Arc::new(AtomicBool::new(true));
    ignore_all_locales(&content, &ignored);
    content.publish("en", "a", "z");
    changed(&service, "a");
    lists(&service, &["/en/articles/z", "/de/articles/x", "/de/articles/y"]);
    content.publish("de", "b", "w");
    changed(&service, "b");
    lists(&service, &["/en/articles/z", "/de/articles/w", "/de/articles/x"]);
    // Versions that are unpublished leave the list, whether the proxy is broken or not.
    content.unpublish("de", "a");
    changed(&service, "a");
    lists(&service, &["/en/articles/z", "/de/articles/w"]);
    content.unpublish("de", "b");
    changed(&service, "b");
    lists(&service, &["/en/articles/z"]);
    content.publish("de", "a", "v");
    ignored.store(false, Ordering::Relaxed);
    changed(&service, "a");
    lists(&service, &["/en/articles/z", "/de/articles/v"]);
    let walks = service.log().matches("a snapshot is built").count();
    assert_eq!(walks, 1, "no walk: {}", service.log());
}

#[test]
fn response_with_all_known_locales_needs_no_other_request() {
    let content = Content::new(&[("en", "a", "x"), ("de", "a", "x"), ("en", "b", "y")]);
    let cms = content.start();
    let setup = in_two_locales(&cms).env("FRONTEND_MAP__HOOKS__SECRET", SECRET);
    let service = setup.start();
    assert_eq!(paths(&sitemap(&service)).len(), 3);
    for (id, slug) in [("a", "z"), ("b", "w")] {
        let before = cms.targets().len();
        content.publish("en", id, slug);
        changed(&service, id);
        until_so("the change", || {
            sitemap(&service).text().contains(&format!("/en/articles/{slug}"))
        });
        assert_eq!(cms.targets().len() - before, 1, "{:?}", cms.targets());
    }
}

#[test]
fn withdrawn_document_costs_one_request_for_each_locale_besides_its_own() {
    let content = Content::new(&[("en", "a", "x"), ("de", "a", "x"), ("en", "b", "y")]);
    let cms = content.start();
    let setup = in_two_locales(&cms).env("FRONTEND_MAP__HOOKS__SECRET", SECRET);
    let service = setup.start();
    assert_eq!(paths(&sitemap(&service)).len(), 3);
    let before = cms.targets().len();
    content.unpublish("en", "a");
    content.unpublish("de", "a");
    changed(&service, "a");
    lists(&service, &["/en/articles/y"]);
    assert_eq!(cms.targets().len() - before, 3, "{:?}", cms.targets());
}

#[test]
fn path_of_two_documents_goes_to_the_other_one_without_a_walk() {
    let content = Content::new(&[("en", "a", "x"), ("en", "b", "x"), ("en", "c", "y")]);
    let cms = content.start();
    let service = with_secret(&cms).start();
    let both = ["/en/articles/x", "/en/articles/y"];
    assert_eq!(paths(&sitemap(&service)), both);
    fail_lists(&content);
    content.unpublish("en", "a");
    changed(&service, "a");
    // Rounds follow each other: this change is visible after the first one.
    content.publish("en", "c", "z");
    changed(&service, "c");
    lists(&service, &["/en/articles/x", "/en/articles/z"]);
    content.publish("en", "a", "v");
    content.publish("en", "b", "v");
    changed(&service, "a");
    changed(&service, "b");
    lists(&service, &["/en/articles/v", "/en/articles/z"]);
    content.unpublish("en", "b");
    changed(&service, "b");
    content.unpublish("en", "a");
    changed(&service, "a");
    lists(&service, &["/en/articles/z"]);
    assert!(!service.log().contains("a walk failed"), "{}", service.log());
}

#[test]
fn problems_follow_an_update_without_a_walk() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = with_secret(&cms).start();
    assert_eq!(paths(&sitemap(&service)), ["/en/articles/x"]);
    fail_lists(&content);
    let becomes = |expected: &[&str]| {
        until_so("the problems", || {
            let found = http::get(service.addr(), "/api/problems?site=main").json();
            let rows = found["data"]["problems"].as_array().expect("a list").clone();
            let kind = |row: &Value| match row["reason"].as_str() {
                Some(reason) => format!("{} {reason}", row["documentId"].as_str().expect("text")),
                None => {
                    format!("{} {}", row["owner"]["documentId"], row["others"][0]["documentId"])
                }
            };
            assert_eq!(found["data"]["count"], rows.len());
            rows.iter().map(kind).collect::<Vec<_>>() == expected
        });
        let without_url = expected.iter().filter(|row| row.contains("slug_")).count();
        let skipped = sitemap(&service).header("x-skipped-documents");
        assert_eq!(skipped, Some(without_url.to_string()));
    };
    content.publish("en", "b", "");
    changed(&service, "b");
    becomes(&["b slug_empty"]);
    content.publish("en", "c", "x");
    changed(&service, "c");
    becomes(&["b slug_empty", r#""a" "c""#]);
    content.publish("en", "b", "..");
    changed(&service, "b");
    becomes(&["b slug_dot_segment", r#""a" "c""#]);
    content.unpublish("en", "a");
    changed(&service, "a");
    becomes(&["b slug_dot_segment"]);
    content.publish("en", "b", "y");
    changed(&service, "b");
    becomes(&[]);
    lists(&service, &["/en/articles/x", "/en/articles/y"]);
    assert!(!service.log().contains("a walk failed"), "{}", service.log());
}

#[test]
fn update_survives_a_walk_that_began_before_it() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = with_secret(&cms).start();
    assert_eq!(paths(&sitemap(&service)), ["/en/articles/x"]);
    // The walk is held up where it asks for the last total; the next one fails.
    let (held, broken) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
    let (waits, is_broken) = (Arc::clone(&held), Arc::clone(&broken));
    content.fail(move |target| {
        let query = Query::parse(target)?;
        if query.size == 1 {
            until_so("the test lets it go on", || !waits.load(Ordering::Relaxed));
            return None;
        }
        is_broken.load(Ordering::Relaxed).then(|| refusal(500, "InternalServerError", "{}"))
    });
    hint(&service);
    until_so("the second walk", || walks(&cms, "en") == 2);
    until_so("its last request", || ends(&cms, "en") == 2);
    content.publish("en", "b", "y");
    changed(&service, "b");
    let both = ["/en/articles/x", "/en/articles/y"];
    lists(&service, &both);
    broken.store(true, Ordering::Relaxed);
    held.store(false, Ordering::Relaxed);
    until_so("the walk lands", || service.log().matches("a snapshot is built").count() == 2);
    assert_eq!(paths(&sitemap(&service)), both);
}

#[test]
fn walk_that_began_after_an_update_wins() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    // The walk is a refresh of a snapshot beyond its soft limit.
    let service = soft(with_secret(&cms), 1)
        .env("FRONTEND_MAP__SNAPSHOTS__CHECK_SECONDS", "1")
        .env("FRONTEND_MAP__SNAPSHOTS__CMS_SHARE", "1.0")
        .start();
    assert_eq!(paths(&sitemap(&service)), ["/en/articles/x"]);
    // The document is read while it is as it was, and its answer is held up.
    let (held, broken) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
    let (waits, is_broken) = (Arc::clone(&held), Arc::clone(&broken));
    content.fail(move |target| {
        if Query::parse(target).is_some() {
            return is_broken
                .load(Ordering::Relaxed)
                .then(|| refusal(500, "InternalServerError", "{}"));
        }
        until_so("the test lets it go", || !waits.load(Ordering::Relaxed));
        Some(list(&[("a", r#","locale":"en","slug":"x""#)], 100, 1))
    });
    changed(&service, "a");
    until_so("the document is asked for", || {
        cms.targets().iter().any(|target| Query::parse(target).is_none())
    });
    content.publish("en", "a", "y");
    lists(&service, &["/en/articles/y"]);
    broken.store(true, Ordering::Relaxed);
    held.store(false, Ordering::Relaxed);
    assert!(service.logs("documents were updated"));
    assert_eq!(paths(&sitemap(&service)), ["/en/articles/y"]);
}

#[test]
fn webhook_body_beyond_the_document_never_reaches_the_cms() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = with_secret(&cms).start();
    assert_eq!(sitemap(&service).status, 200);
    for event in [
        r#"{"uid":"plugin::cms.article","entry":{"documentId":"../canary"}}"#,
        r#"{"uid":"plugin::cms.article","entry":{"documentId":"canary?x"}}"#,
        r#"{"uid":"plugin::cms.article","entry":{"documentId":""}}"#,
        r#"{"uid":"plugin::cms.article","entry":{"documentId":["canary"]}}"#,
        r#"{"uid":"plugin::cms.article","entry":[]}"#,
        r#"{"uid":"plugin::cms.article"}"#,
        "[]",
    ] {
        let before = walks(&cms, "en");
        assert!(post_body(&service, event.as_bytes()).starts_with("HTTP/1.1 202 "), "{event}");
        until_so("a walk", || walks(&cms, "en") > before);
    }
    // A type that no rule reads costs nothing.
    let event = r#"{"uid":"plugin::cms.canary","entry":{"documentId":"canary"}}"#;
    assert!(post_body(&service, event.as_bytes()).starts_with("HTTP/1.1 202 "));
    hint(&service);
    let before = walks(&cms, "en");
    until_so("a walk", || walks(&cms, "en") > before);
    assert!(!cms.targets().iter().any(|target| target.contains("canary")), "{:?}", cms.targets());
}

#[test]
fn walk_that_an_update_cannot_be_put_into_is_withheld_and_repeated() {
    let content = Content::new(&[("en", "a", "x"), ("en", "b", "y")]);
    let cms = content.start();
    let service = with_secret(&cms).start();
    assert_eq!(paths(&sitemap(&service)), ["/en/articles/x", "/en/articles/y"]);
    // The second walk is held up where it asks for the last total, the third at its beginning.
    let (second, third) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(true)));
    let (waits, waits_then) = (Arc::clone(&second), Arc::clone(&third));
    content.fail(move |target| {
        let is_total = Query::parse(target)?.size == 1;
        if !is_total && waits.load(Ordering::Relaxed) {
            return None;
        }
        let gate = if is_total { &waits } else { &waits_then };
        until_so("the test lets it go on", || !gate.load(Ordering::Relaxed));
        None
    });
    hint(&service);
    until_so("its last request", || ends(&cms, "en") == 2);
    // A document lacks a key that decides, so that only a walk can determine its URL.
    content.put("en", "a", "");
    changed(&service, "a");
    assert!(service.logs("documents were updated"));
    content.unpublish("en", "b");
    changed(&service, "b");
    lists(&service, &["/en/articles/x"]);
    second.store(false, Ordering::Relaxed);
    until_so("the third walk", || walks(&cms, "en") == 3);
    assert_eq!(paths(&sitemap(&service)), ["/en/articles/x"], "nothing comes back");
    assert_eq!(service.log().matches("a snapshot is built").count(), 1);
    content.publish("en", "a", "z");
    third.store(false, Ordering::Relaxed);
    lists(&service, &["/en/articles/z"]);
    assert_eq!(walks(&cms, "en"), 3);
}
