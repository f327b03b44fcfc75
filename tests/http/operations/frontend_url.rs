//! `/api/frontend-url`: the public URL of one document.

use serde_json::json;

use super::{assert_body, assert_error, service, settings};
use crate::support::http;
use crate::support::settings::site;

#[test]
fn frontend_url_of_a_published_document_is_a_url_and_a_path() {
    let service = service();
    for (query, url, path) in [
        (
            "uid=plugin::cms.article&documentId=one",
            "https://www.example.com/base/en/articles/hello-world",
            "/en/articles/hello-world",
        ),
        (
            "uid=plugin::cms.article&documentId=one&status=published&locale=de",
            "https://www.example.com/base/de/articles/zebra",
            "/de/articles/zebra",
        ),
        (
            "uid=plugin::cms.article&documentId=four&locale=fr",
            "https://www.example.com/base/fr/articles/%C3%A9t%C3%A9",
            "/fr/articles/%C3%A9t%C3%A9",
        ),
        (
            "uid=plugin::cms.article&documentId=eleven",
            "https://www.example.com/base/en/articles/7",
            "/en/articles/7",
        ),
        (
            "uid=api::faq.faq&documentId=f1&locale=de",
            "https://www.example.com/base/help/refund.html",
            "/help/refund.html",
        ),
        // Not localized: one URL under the default locale, for each `locale`.
        (
            "uid=api::doc.doc&documentId=d",
            "https://www.example.com/base/docs/guide/first%20steps",
            "/docs/guide/first%20steps",
        ),
        (
            "uid=api::doc.doc&documentId=d&locale=fr",
            "https://www.example.com/base/docs/guide/first%20steps",
            "/docs/guide/first%20steps",
        ),
        (
            "uid=api::doc.doc&documentId=d&locale=null",
            "https://www.example.com/base/docs/guide/first%20steps",
            "/docs/guide/first%20steps",
        ),
        (
            "uid=plugin::cms.article&documentId=one&locale=null",
            "https://www.example.com/base/en/articles/hello-world",
            "/en/articles/hello-world",
        ),
        // Several rules: the first whose placeholders all have values.
        (
            "uid=api::story.story&documentId=s1",
            "https://www.example.com/base/en/stories/news/x",
            "/en/stories/news/x",
        ),
        (
            "uid=api::story.story&documentId=s2",
            "https://www.example.com/base/en/stories/s2",
            "/en/stories/s2",
        ),
        // The site: that of the parameter, else the only one with the locale, else the one named like
        // the plugin, else configuration order.
        (
            "uid=plugin::events.talk&documentId=talk&locale=de",
            "https://talks.example.com/de/t/anfang",
            "/de/t/anfang",
        ),
        (
            "uid=api::shared.shared&documentId=s&locale=de",
            "https://talks.example.com/shared/x",
            "/shared/x",
        ),
        (
            "uid=plugin::events.talk&documentId=talk&site=talks",
            "https://talks.example.com/en/t/opening",
            "/en/t/opening",
        ),
        ("uid=api::shared.shared&documentId=s", "https://talks.example.com/shared/x", "/shared/x"),
        (
            "uid=api::shared.shared&documentId=s&site=late",
            "https://late.example.com/late/x",
            "/late/x",
        ),
    ] {
        let target = format!("/api/frontend-url?{query}");
        let response = assert_body(
            service.addr(),
            &target,
            200,
            &format!(r#"{{"data":{{"url":"{url}","path":"{path}"}},"meta":{{}}}}"#),
        );
        assert_eq!(response.header("cache-control").as_deref(), Some("no-cache"), "{target}");
    }
}

#[test]
fn frontend_url_has_the_configured_cache_control_on_a_200_of_a_published_document() {
    let variable = "FRONTEND_MAP__SERVER__CACHE_CONTROL_URL";
    let service = settings().env(variable, "max-age=7").start();
    for (query, status, expected) in [
        ("uid=plugin::cms.article&documentId=one", 200, Some("max-age=7")),
        ("uid=plugin::cms.article&documentId=one&status=draft", 200, Some("no-store")),
        ("uid=plugin::cms.article&documentId=one&status=modified", 200, Some("no-store")),
        ("uid=plugin::cms.article&documentId=nope", 404, None),
        ("uid=plugin::cms.article&documentId=six", 404, None),
        ("uid=plugin::cms.event&documentId=launch", 501, None),
    ] {
        let response = http::get(service.addr(), &format!("/api/frontend-url?{query}"));
        let found = (response.status, response.header("cache-control"));
        assert_eq!(found, (status, expected.map(str::to_owned)), "{query}");
    }
}

#[test]
fn frontend_url_of_a_modified_document_is_that_of_its_draft() {
    let service = service();
    let target = |status: &str| {
        let query = "uid=plugin::cms.article&documentId=one";
        format!("/api/frontend-url?{query}&status={status}")
    };
    let [draft, modified] =
        ["draft", "modified"].map(|status| http::get(service.addr(), &target(status)));
    assert_eq!((modified.status, modified.text()), (200, draft.text()));
    assert!(modified.text().contains("hello-draft"), "{}", modified.text());
    drop(service);
    let variable = "FRONTEND_MAP__AUTH__DRAFT_TOKEN";
    let service = settings().env(variable, "secret-of-drafts").start();
    let refused = http::get(service.addr(), &target("modified"));
    let found = (refused.status, refused.header("cache-control"));
    assert_eq!(found, (401, Some("no-store".to_owned())));
}

#[test]
fn frontend_url_without_a_rule_names_the_site_that_was_requested() {
    let service = service();
    for (query, message) in [
        ("", r#"there is no frontend URL rule for content type "api::nope.nope""#),
        (
            "&site=events",
            r#"site "events" has no frontend URL rule for content type "api::nope.nope""#,
        ),
    ] {
        let target = format!("/api/frontend-url?uid=api::nope.nope&documentId=one{query}");
        let details = r#"{"reason":"no_rule"}"#;
        let found = assert_error(service.addr(), &target, 404, "NotFoundError", details);
        assert_eq!(found, message);
    }
}

#[test]
fn frontend_url_of_a_draft_is_built_from_the_draft_and_not_stored() {
    let service = service();
    let draft = "/api/frontend-url?uid=plugin::cms.article&documentId=one&status=draft";
    let body = r#"{"data":{"url":"https://www.example.com/base/en/articles/hello-draft","path":"/en/articles/hello-draft"},"meta":{}}"#;
    let response = assert_body(service.addr(), draft, 200, body);
    assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
    let missing = http::get(
        service.addr(),
        "/api/frontend-url?uid=plugin::cms.article&documentId=two&status=draft",
    );
    assert_eq!(
        (missing.status, missing.header("cache-control").as_deref()),
        (404, Some("no-store"))
    );
    let unconfigured = http::get(
        service.addr(),
        "/api/frontend-url?uid=plugin::cms.event&documentId=launch&status=draft",
    );
    assert_eq!(
        (unconfigured.status, unconfigured.header("cache-control").as_deref()),
        (501, Some("no-store"))
    );
    assert_eq!(unconfigured.json()["error"]["details"], json!({"path": "/en/events/launch-draft"}));
}

#[test]
fn frontend_url_without_a_rule_document_version_or_locale_is_404_with_a_reason() {
    let service = service();
    for (query, reason) in [
        ("uid=api::nope.nope&documentId=one", "no_rule"),
        ("uid=plugin::cms.article&documentId=one&site=events", "no_rule"),
        ("uid=api::nope.nope&documentId=one&locale=xx&status=draft", "no_rule"),
        ("uid=plugin::cms.article&documentId=nope", "no_version"),
        ("uid=plugin::cms.article&documentId=ONE", "no_version"),
        ("uid=plugin::cms.article&documentId=nine", "no_version"),
        ("uid=plugin::cms.article&documentId=nine&status=published", "no_version"),
        ("uid=plugin::cms.article&documentId=two&status=draft", "no_version"),
        ("uid=plugin::cms.article&documentId=one&locale=fr", "no_version"),
        ("uid=plugin::cms.article&documentId=one&locale=xx", "locale_unknown"),
        ("uid=plugin::cms.article&documentId=eight&locale=xx", "locale_unknown"),
    ] {
        let target = format!("/api/frontend-url?{query}");
        let details = format!(r#"{{"reason":"{reason}"}}"#);
        let message = assert_error(service.addr(), &target, 404, "NotFoundError", &details);
        assert!(!message.contains("secret"), "{query}: {message}");
    }
    let target = "/api/frontend-url?uid=plugin::cms.article&documentId=ten";
    let details = r#"{"reason":"not_published","rule":"/{locale}/articles/{slug}"}"#;
    assert_error(service.addr(), target, 404, "NotFoundError", details);
}

#[test]
fn frontend_url_of_a_document_without_a_url_is_404_with_reason_and_rule() {
    let service = service();
    for (query, reason, rule) in [
        ("uid=plugin::cms.article&documentId=six", "slug_missing", "/{locale}/articles/{slug}"),
        ("uid=plugin::cms.article&documentId=seven", "slug_has_slash", "/{locale}/articles/{slug}"),
        // The document before the base URL.
        ("uid=plugin::cms.event&documentId=broken", "slug_empty", "/{locale}/events/{slug}"),
    ] {
        let details = format!(r#"{{"reason":"{reason}","rule":"{rule}"}}"#);
        assert_error(
            service.addr(),
            &format!("/api/frontend-url?{query}"),
            404,
            "NotFoundError",
            &details,
        );
    }
}

#[test]
fn frontend_url_reason_is_that_of_the_first_rules_leftmost_placeholder() {
    let content = r#"{"api::story.story": [
        {"documentId": "a", "slug": "", "category": {"slug": "x"}},
        {"documentId": "b", "slug": "", "category": null},
        {"documentId": "c", "slug": "", "category": {"slug": "a\\b/c"}},
        {"documentId": "d", "slug": "", "category": {"slug": [1]}},
        {"documentId": "e", "slug": "x", "path": "p/q"},
        {"documentId": "f", "slug": "x", "category": {"slug": "\u202e%2e%2e"}}
    ]}"#;
    let service = site("main")
        .rule("api::story.story", "/a/{category.slug}/{slug}")
        .rule("api::story.story", "/b/{*path}")
        .files(content)
        .start();
    for (id, reason) in [
        ("a", "slug_empty"),
        ("b", "category_missing"),
        ("c", "category.slug_backslash"),
        ("d", "category.slug_not_string"),
        ("f", "category.slug_bidi_or_invisible"),
    ] {
        let target = format!("/api/frontend-url?uid=api::story.story&documentId={id}");
        let details = format!(r#"{{"reason":"{reason}","rule":"/a/{{category.slug}}/{{slug}}"}}"#);
        assert_error(service.addr(), &target, 404, "NotFoundError", &details);
    }
    let target = "/api/frontend-url?uid=api::story.story&documentId=e";
    assert_body(
        service.addr(),
        target,
        200,
        r#"{"data":{"url":"https://www.example.com/b/p/q","path":"/b/p/q"},"meta":{}}"#,
    );
}

#[test]
fn frontend_url_without_a_base_url_is_501_with_the_path_in_details() {
    let service = service();
    for (query, path) in [
        ("uid=plugin::cms.event&documentId=launch", "/en/events/launch"),
        // Two sites have a rule: the one named like the plugin counts.
        ("uid=plugin::events.talk&documentId=talk", "/en/talks/opening"),
    ] {
        let target = format!("/api/frontend-url?{query}");
        let details = format!(r#"{{"path":"{path}"}}"#);
        let message = assert_error(service.addr(), &target, 501, "NotImplementedError", &details);
        assert!(message.contains("FRONT_END_URL_EVENTS"), "{message}");
    }
    let sitemap = "/api/build-sitemap?site=events&contentType=plugin::cms.event";
    assert_error(service.addr(), sitemap, 501, "NotImplementedError", "");
}
