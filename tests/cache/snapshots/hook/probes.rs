//! Probes of the CMS for changes that no webhook has announced.

use super::hint;
use super::lost_events::{UID, event, lists, put, rarely, start};
use crate::snapshots::{in_english, paths, sitemap, walks};
use crate::support::content::Content;
use crate::support::front_of_cms::refusal;
use crate::support::http;
use crate::support::metrics::scrape;
use crate::support::script::Script;
use crate::support::service::Service;
use crate::support::settings::site;
use crate::support::wait::until_so;

/// What a proxy responds instead of the CMS.
const MAINTENANCE: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<h1>Soon</h1>";

#[test]
fn probe_finds_a_change_without_an_event_and_reads_its_document_alone() {
    let content = Content::default();
    for (n, id) in ["a", "b", "c"].into_iter().enumerate() {
        put(&content, id, id, u32::try_from(n).expect("few"));
    }
    let cms = content.start();
    let service = start(&cms);
    lists(&service, &["/en/articles/a", "/en/articles/b", "/en/articles/c"]);
    assert_eq!(cms.probes(), 0, "walks are as frequent as the settings say");
    event(&service, UID, "a");
    until_so("the first probe", || cms.probes() > 0);
    put(&content, "a", "announced", 19);
    event(&service, UID, "a");
    lists(&service, &["/en/articles/announced", "/en/articles/b", "/en/articles/c"]);
    put(&content, "b", "renamed", 20);
    lists(&service, &["/en/articles/announced", "/en/articles/c", "/en/articles/renamed"]);
    assert!(service.logs("documents have changed without a webhook"));
    assert_eq!(walks(&cms, "en"), 1);
    // No walk will find the edit whose event was lost.
    until_so("it is counted", || unannounced(&service) > 0.5);
    assert!(unannounced(&service) < 1.5, "it is counted alone");
}

/// How many edits no event has announced.
fn unannounced(service: &Service) -> f64 {
    let series = format!("edits_unannounced_total{{site=\"main\",content_type=\"{UID}\"}}");
    scrape(service.admin()).of(&series)
}

#[test]
fn probe_finds_an_import_with_old_dates_and_the_type_is_walked() {
    let content = Content::default();
    put(&content, "a", "a", 30);
    let cms = content.start();
    let service = start(&cms);
    lists(&service, &["/en/articles/a"]);
    event(&service, UID, "a");
    until_so("the first probe", || cms.probes() > 0);
    for n in 0..30 {
        put(&content, &format!("i{n}"), &format!("i{n}"), 1);
    }
    until_so("the list", || paths(&sitemap(&service)).len() == 31);
    assert!(service.logs("a content type has changed without a webhook"));
    assert_eq!(walks(&cms, "en"), 2);
}

#[test]
fn schema_that_fails_is_requested_once_a_minute() {
    let content = Content::default();
    content.put("en", "a", r#","slug":"a","category":{"documentId":"c","slug":"c"}"#);
    let is_schema = |target: &str| target.contains("content-type-builder");
    content
        .fail(move |target| is_schema(target).then(|| refusal(500, "InternalServerError", "{}")));
    let cms = content.start();
    let settings = site("main").rule(UID, "/{category.slug}/{slug}").strapi(&cms);
    let service = rarely(settings.setup()).env("RUST_LOG", "debug").start();
    lists(&service, &["/c/a"]);
    event(&service, UID, "a");
    until_so("the second probe, after half a minute", || cms.probes() > 1);
    let requests = cms.targets().iter().filter(|target| is_schema(target)).count();
    // Two of the probe, and one of the update of the event, each with its retry.
    assert!((1..=6).contains(&requests), "{requests} requests");
}

#[test]
fn first_probe_finds_a_change_since_the_walk() {
    let content = Content::default();
    put(&content, "a", "a", 1);
    put(&content, "b", "b", 2);
    let cms = content.start();
    let service = start(&cms);
    lists(&service, &["/en/articles/a", "/en/articles/b"]);
    put(&content, "b", "renamed", 3);
    event(&service, UID, "a");
    lists(&service, &["/en/articles/a", "/en/articles/renamed"]);
    assert_eq!(walks(&cms, "en"), 1);
}

#[test]
fn import_before_the_first_probe_is_found_by_the_next_walk() {
    let content = Content::default();
    put(&content, "a", "a", 1);
    let cms = content.start();
    let setup = rarely(in_english(&cms)).env("FRONTEND_MAP__SNAPSHOTS__SOFT_SECONDS", "5");
    let service = setup.start();
    lists(&service, &["/en/articles/a"]);
    // More than a probe reads, and in the database before there is a probe to compare with.
    for n in 0..60 {
        put(&content, &format!("i{n}"), &format!("i{n}"), 2);
    }
    event(&service, UID, "a");
    until_so("the list", || paths(&sitemap(&service)).len() == 61);
    assert!(cms.probes() > 0);
}

#[test]
fn import_before_the_first_probe_is_found_by_the_number_of_versions() {
    let content = Content::default();
    put(&content, "a", "a", 1);
    let cms = content.start();
    let service = start(&cms);
    lists(&service, &["/en/articles/a"]);
    for n in 0..60 {
        put(&content, &format!("i{n}"), &format!("i{n}"), 1);
    }
    event(&service, UID, "a");
    until_so("the first probe", || cms.probes() > 0);
    until_so("the list", || paths(&sitemap(&service)).len() == 61);
    assert!(cms.probes() == 1, "the first probe was enough");
}

#[test]
fn probe_reads_a_single_type() {
    let content = Content::default();
    put(&content, "homepage", "welcome", 1);
    let cms = content.start();
    let homepage = "[[content_type]]\nuid = \"api::homepage.homepage\"\nkind = \"single\"\n\
                    endpoint = \"homepage\"";
    let settings = site("main").rule("api::homepage.homepage", "/{slug}").strapi(&cms);
    let service = rarely(settings.without_endpoints().more(homepage).setup()).start();
    let has = |path: &str| {
        let target = "/api/build-sitemap?site=main&contentType=api::homepage.homepage";
        until_so(path, || paths(&http::get(service.addr(), target)) == [path]);
    };
    has("/welcome");
    let reads = || cms.targets().iter().filter(|target| is_single(target)).count();
    event(&service, "api::other.other", "x");
    until_so("the first probe", || reads() > 0);
    put(&content, "homepage", "hello", 2);
    has("/hello");
    assert!(service.logs("documents have changed without a webhook"));
}

/// A read of the date alone.
fn is_single(target: &str) -> bool {
    target.contains("/api/homepage?") && target.contains("publishedAt") && !target.contains("slug")
}

#[test]
fn rows_without_a_date_hide_no_change_of_a_type_without_drafts() {
    let content = Content::default();
    // Imported, and first in the order of PostgreSQL.
    for n in 0..30 {
        content.put("en", &format!("i{n:02}"), &format!(r#","slug":"i{n:02}""#));
    }
    let updated = |slug: &str, second: u32| {
        let date = format!("2026-01-01T00:00:{second:02}.000Z");
        content.put("en", "x", &format!(r#","updatedAt":"{date}","slug":"{slug}""#));
    };
    updated("x", 1);
    content.fail(|target| {
        let schema = r#"{"data":{"uid":"x","schema":{"draftAndPublish":false,"attributes":{}}}}"#;
        target.contains("content-type-builder").then(|| Script::json(200, schema))
    });
    let cms = content.start();
    let service = start(&cms);
    until_so("the list", || paths(&sitemap(&service)).len() == 31);
    event(&service, UID, "i00");
    until_so("the first probe", || cms.probes() > 0);
    updated("renamed", 2);
    let renamed = "/en/articles/renamed".to_owned();
    until_so("the change", || paths(&sitemap(&service)).contains(&renamed));
    assert_eq!(walks(&cms, "en"), 1);
}

#[test]
fn second_change_of_a_named_document_needs_no_event() {
    let content = Content::default();
    for (n, id) in ["a", "b", "c"].into_iter().enumerate() {
        put(&content, id, id, u32::try_from(n).expect("few"));
    }
    let cms = content.start();
    let service = start(&cms);
    lists(&service, &["/en/articles/a", "/en/articles/b", "/en/articles/c"]);
    put(&content, "a", "first", 20);
    put(&content, "b", "first-b", 21);
    event(&service, UID, "a");
    event(&service, UID, "b");
    lists(&service, &["/en/articles/c", "/en/articles/first", "/en/articles/first-b"]);
    until_so("the first probe", || cms.probes() > 0);
    put(&content, "a", "second", 23);
    content.unpublish("en", "b");
    lists(&service, &["/en/articles/c", "/en/articles/second"]);
    assert_eq!(walks(&cms, "en"), 1);
}

#[test]
fn edit_with_its_event_is_read_twice_and_causes_no_walk() {
    let content = Content::default();
    put(&content, "a", "a", 1);
    let cms = content.start();
    let service = start(&cms);
    lists(&service, &["/en/articles/a"]);
    event(&service, UID, "a");
    let reads = || cms.targets().iter().filter(|one| one.contains("filters[documentId]")).count();
    // The read of the event, and that after the first probe.
    until_so("the first probe", || cms.probes() > 0 && reads() > 1);
    put(&content, "a", "b", 2);
    event(&service, UID, "a");
    lists(&service, &["/en/articles/b"]);
    let before = reads();
    until_so("the read after the second probe", || cms.probes() > 1 && reads() > before);
    assert_eq!(walks(&cms, "en"), 1);
    assert!(!service.log().contains("changed without a webhook"));
}

#[test]
fn probe_with_an_unusable_response_is_sent_again_soon() {
    let content = Content::default();
    put(&content, "a", "a", 1);
    content.fail(|target| is_probe(target).then(|| Script::raw(MAINTENANCE)));
    let cms = content.start();
    let service = start(&cms);
    lists(&service, &["/en/articles/a"]);
    event(&service, UID, "a");
    until_so("the first probe", || cms.probes() > 0);
    content.heal();
    until_so("the next probe", || cms.probes() > 1);
}

#[test]
fn refused_probe_is_sent_again_after_a_walk() {
    let content = Content::default();
    put(&content, "a", "a", 1);
    content.fail(|target| is_probe(target).then(|| refusal(403, "ForbiddenError", "{}")));
    let cms = content.start();
    let service = start(&cms);
    lists(&service, &["/en/articles/a"]);
    event(&service, UID, "a");
    until_so("the first probe", || cms.probes() > 0);
    content.heal();
    hint(&service);
    until_so("the walk", || walks(&cms, "en") > 1);
    until_so("the next probe", || cms.probes() > 1);
}

#[test]
fn type_that_refuses_locales_refuses_one_request_a_minute() {
    let content = Content::default();
    content.put("", "a", r#","publishedAt":"2026-01-01T00:00:01.000Z","slug":"a""#);
    let refuses = |target: &str| target.contains("=locale");
    content.fail(move |target| {
        refuses(target).then(|| refusal(400, "ValidationError", r#"{"key":"locale"}"#))
    });
    let cms = content.start();
    let service = start(&cms);
    lists(&service, &["/en/articles/a"]);
    content.put("", "a", r#","publishedAt":"2026-01-01T00:00:02.000Z","slug":"b""#);
    event(&service, UID, "a");
    lists(&service, &["/en/articles/b"]);
    until_so("the first probe", || cms.probes() > 0);
    assert_eq!(cms.targets().iter().filter(|target| refuses(target)).count(), 1);
}

fn is_probe(target: &str) -> bool {
    target.contains("sort=publishedAt:desc")
}
