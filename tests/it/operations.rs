//! The three operations over content from a file, answer for answer: bodies byte for byte where the
//! contract settles them, headers, HEAD, 405, CORS.

use std::fmt::Write;
use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::support::http::{self, Response};
use crate::support::service::{Service, Setup};

const SETTINGS: &str = r#"
[server]
listen = "127.0.0.1:0"
cors_origins = ["https://admin.example.com", "http://localhost:1337"]

[cms]
source = "files"
path = "content.json"

[[site]]
key = "main"
front_end_url = "https://www.example.com/base/"
locales = ["en", "de", "fr"]

[[site.rule]]
content_type = "plugin::cms.page"
template = "/{locale}/{slug}"

[[site.rule]]
content_type = "plugin::cms.article"
template = "/{locale}/articles/{slug}"

[[site.rule]]
content_type = "api::faq.faq"
template = "/help/{slug}.html"

[[site.rule]]
content_type = "api::doc.doc"
template = "/docs/{*path}"

[[site.rule]]
content_type = "api::story.story"
template = "/{locale}/stories/{category.slug}/{slug}"

[[site.rule]]
content_type = "api::story.story"
template = "/{locale}/stories/{documentId}"

[[site]]
key = "events"
locales = ["en"]

[[site.rule]]
content_type = "plugin::cms.event"
template = "/{locale}/events/{slug}"

[[site.rule]]
content_type = "plugin::events.talk"
template = "/{locale}/talks/{slug}"

[[site]]
key = "talks"
front_end_url = "https://talks.example.com"
locales = ["en", "de"]

[[site.rule]]
content_type = "plugin::events.talk"
template = "/{locale}/t/{slug}"

[[site.rule]]
content_type = "api::shared.shared"
template = "/shared/{slug}"

[[site]]
key = "late"
front_end_url = "https://late.example.com"
locales = ["en"]

[[site.rule]]
content_type = "api::shared.shared"
template = "/late/{slug}"

[[site]]
key = "empty"
front_end_url = "https://empty.example.com"
locales = ["en"]
"#;

const CONTENT: &str = r#"{
  "plugin::cms.article": [
    {"documentId": "one", "locale": "de", "slug": "zebra"},
    {"documentId": "one", "locale": "en", "slug": "hello-world", "status": "published"},
    {"documentId": "one", "locale": "en", "slug": "hello-draft", "status": "draft"},
    {"documentId": "two", "locale": "en", "slug": "a b"},
    {"documentId": "three", "locale": "en", "slug": "Zed"},
    {"documentId": "four", "locale": "fr", "slug": "été"},
    {"documentId": "five", "locale": "en", "slug": "hello-world"},
    {"documentId": "six", "locale": "en", "title": "no slug"},
    {"documentId": "seven", "locale": "en", "slug": "a/b"},
    {"documentId": "eight", "locale": "xx", "slug": "elsewhere"},
    {"documentId": "nine", "locale": "en", "slug": "secret", "status": "draft"},
    {"documentId": "ten", "locale": "en", "slug": "unpublished", "publishedAt": null},
    {"documentId": "eleven", "locale": "en", "slug": 7}
  ],
  "plugin::cms.page": [{"documentId": "about", "locale": "en", "slug": "about"}],
  "plugin::cms.event": [
    {"documentId": "launch", "locale": "en", "slug": "launch"},
    {"documentId": "launch", "locale": "en", "slug": "launch-draft", "status": "draft"},
    {"documentId": "broken", "locale": "en", "slug": ""}
  ],
  "plugin::events.talk": [{"documentId": "talk", "locale": "en", "slug": "opening"}],
  "api::shared.shared": [{"documentId": "s", "slug": "x"}],
  "api::faq.faq": [
    {"documentId": "f1", "locale": "en", "slug": "refund"},
    {"documentId": "f1", "locale": "de", "slug": "refund"},
    {"documentId": "f2", "locale": "de", "slug": "anfang"},
    {"documentId": "f3", "slug": "not-localised"}
  ],
  "api::doc.doc": [{"documentId": "d", "locale": null, "path": "guide/first steps"}],
  "api::story.story": [
    {"documentId": "s1", "locale": "en", "slug": "x", "category": {"slug": "news"}},
    {"documentId": "s2", "locale": "en", "slug": "y", "category": null}
  ]
}"#;

const ORIGIN: &str = "https://admin.example.com";

fn service() -> Service {
    Setup::new(SETTINGS).file("content.json", CONTENT).start()
}

/// The status and the whole body, word for word.
#[track_caller]
fn assert_body(addr: SocketAddr, target: &str, status: u16, body: &str) -> Response {
    let answer = http::get(addr, target);
    assert_eq!((answer.status, answer.text()), (status, body), "{target}");
    assert_eq!(
        answer.header("content-type").as_deref(),
        Some("application/json"),
        "{target}"
    );
    assert_eq!(
        answer.header("x-content-type-options").as_deref(),
        Some("nosniff"),
        "{target}"
    );
    assert_eq!(
        answer.header("content-length"),
        Some(body.len().to_string()),
        "{target}"
    );
    answer
}

/// An error's whole body, whatever its message says; gives the message. `details` is JSON text, or
/// empty where the error has none.
#[track_caller]
fn assert_error(addr: SocketAddr, target: &str, status: u16, name: &str, details: &str) -> String {
    let message = http::get(addr, target).json()["error"]["message"]
        .as_str()
        .expect("a message")
        .to_owned();
    let details = if details.is_empty() {
        String::new()
    } else {
        format!(r#","details":{details}"#)
    };
    let quoted = Value::from(message.clone());
    let body = format!(
        r#"{{"data":null,"error":{{"status":{status},"name":"{name}","message":{quoted}{details}}}}}"#
    );
    assert_body(addr, target, status, &body);
    message
}

#[track_caller]
fn assert_urls(addr: SocketAddr, target: &str, urls: &[&str], skipped: usize) {
    let listed: Vec<String> = urls.iter().map(|url| format!("\"{url}\"")).collect();
    let body = format!(
        r#"{{"data":{{"count":{},"urls":[{}]}},"meta":{{}}}}"#,
        urls.len(),
        listed.join(",")
    );
    let answer = assert_body(addr, target, 200, &body);
    let header = answer
        .header("x-skipped-documents")
        .unwrap_or_else(|| "0".to_owned());
    assert_eq!(header, skipped.to_string(), "{target}");
}

const ARTICLE_URLS: &[&str] = &[
    "https://www.example.com/base/en/articles/7",
    "https://www.example.com/base/en/articles/Zed",
    "https://www.example.com/base/en/articles/a%20b",
    "https://www.example.com/base/en/articles/hello-world",
    "https://www.example.com/base/de/articles/zebra",
    "https://www.example.com/base/fr/articles/%C3%A9t%C3%A9",
];
const ARTICLES: &str = "/api/build-sitemap?site=main&contentType=plugin::cms.article";

// 4.1

#[test]
fn a_pathname_resolves_to_its_rule_and_values() {
    let service = service();
    let body = |pathname: &str, locale: &str, slug: &str| {
        format!(
            r#"{{"data":{{"site":"main","pathname":"{pathname}","locale":"{locale}","matched":{{"collectionType":"plugin::cms.article","rule":"/{{locale}}/articles/{{slug}}","params":{{"locale":"{locale}","slug":"{slug}"}}}}}},"meta":{{}}}}"#
        )
    };
    for (query, pathname, locale, slug) in [
        (
            "pathname=/en/articles/hello-world",
            "/en/articles/hello-world",
            "en",
            "hello-world",
        ),
        (
            "pathname=%2Fde%2Farticles%2Fhallo",
            "/de/articles/hallo",
            "de",
            "hallo",
        ),
        // Echoed untouched, though normalised for the match.
        (
            "pathname=//en//articles/x/?a=b%23c",
            "//en//articles/x/?a=b#c",
            "en",
            "x",
        ),
        // Decoded once as a parameter, once as a segment.
        (
            "pathname=/en/articles/a%2520b",
            "/en/articles/a%20b",
            "en",
            "a b",
        ),
        ("pathname=/en/articles/a+b", "/en/articles/a b", "en", "a b"),
        (
            "pathname=/en/articles/a%252Bb",
            "/en/articles/a%2Bb",
            "en",
            "a+b",
        ),
        (
            "pathname=/fr/articles/%C3%A9t%C3%A9",
            "/fr/articles/été",
            "fr",
            "été",
        ),
        // The path decides about the locale.
        (
            "pathname=/de/articles/x&locale=en",
            "/de/articles/x",
            "de",
            "x",
        ),
        (
            "pathname=/de/articles/x&locale=xx",
            "/de/articles/x",
            "de",
            "x",
        ),
        (
            "pathname=/de/articles/x&compact=FALSE&debug=1",
            "/de/articles/x",
            "de",
            "x",
        ),
    ] {
        let target = format!("/api/get-content-type?site=main&{query}");
        assert_body(service.addr(), &target, 200, &body(pathname, locale, slug));
    }
}

#[test]
fn compact_answers_with_the_content_type_alone() {
    let service = service();
    for compact in ["true", "TRUE", "1"] {
        let target =
            format!("/api/get-content-type?site=main&pathname=/en/articles/x&compact={compact}");
        assert_body(
            service.addr(),
            &target,
            200,
            r#"{"data":{"contentType":"plugin::cms.article"},"meta":{}}"#,
        );
    }
}

#[test]
fn the_most_specific_rule_wins_whatever_the_order_in_the_settings() {
    let service = service();
    for (pathname, locale, uid, params) in [
        (
            "/en/about",
            "en",
            "plugin::cms.page",
            json!({"locale": "en", "slug": "about"}),
        ),
        (
            "/en/articles",
            "en",
            "plugin::cms.page",
            json!({"locale": "en", "slug": "articles"}),
        ),
        (
            "/help/refund.html",
            "en",
            "api::faq.faq",
            json!({"locale": "en", "slug": "refund"}),
        ),
        (
            "/help/a.html.html",
            "en",
            "api::faq.faq",
            json!({"locale": "en", "slug": "a.html"}),
        ),
        (
            "/docs/a",
            "en",
            "api::doc.doc",
            json!({"locale": "en", "path": "a"}),
        ),
        (
            "/docs/a/b%20c/d",
            "en",
            "api::doc.doc",
            json!({"locale": "en", "path": "a/b c/d"}),
        ),
        (
            "/en/stories/news/x",
            "en",
            "api::story.story",
            json!({"locale": "en", "category.slug": "news", "slug": "x"}),
        ),
        (
            "/de/stories/s1",
            "de",
            "api::story.story",
            json!({"locale": "de", "documentId": "s1"}),
        ),
    ] {
        let target = format!(
            "/api/get-content-type?site=main&pathname={}",
            http::query(pathname)
        );
        let answer = http::get(service.addr(), &target);
        assert_eq!(answer.status, 200, "{pathname}: {}", answer.text());
        let data = &answer.json()["data"];
        assert_eq!(data["matched"]["collectionType"], uid, "{pathname}");
        assert_eq!(data["matched"]["params"], params, "{pathname}");
        assert_eq!(data["locale"], locale, "{pathname}");
        assert_eq!(data["pathname"], pathname);
    }
}

#[test]
fn where_the_path_has_no_locale_the_parameter_or_the_default_says_it() {
    let service = service();
    for (parameter, locale) in [
        ("", "en"),
        ("&locale=", "en"),
        ("&locale=de", "de"),
        ("&locale=xx", "en"),
        ("&locale=DE", "en"),
    ] {
        let target =
            format!("/api/get-content-type?site=main&pathname=/help/refund.html{parameter}");
        let data = &http::get(service.addr(), &target).json()["data"];
        assert_eq!(
            (&data["locale"], &data["matched"]["params"]["locale"]),
            (&json!(locale), &json!(locale)),
            "{target}"
        );
    }
}

#[test]
fn a_pathname_that_nothing_matches_is_a_404_with_its_normal_form() {
    let service = service();
    for (query, pathname, normal) in [
        (
            "/no/such/path/at/all",
            "/no/such/path/at/all",
            "/no/such/path/at/all",
        ),
        (
            "//no///such/path//at/all///",
            "//no///such/path//at/all///",
            "/no/such/path/at/all",
        ),
        (
            "/no/such/path/at/a?x=/y",
            "/no/such/path/at/a?x=/y",
            "/no/such/path/at/a",
        ),
        (
            "/no/such/path/at/a%23x?y",
            "/no/such/path/at/a#x?y",
            "/no/such/path/at/a",
        ),
        (
            "/no/such/path/at/%C3%BC+c",
            "/no/such/path/at/ü c",
            "/no/such/path/at/%C3%BC%20c",
        ),
        (
            "/no/such/path/at/%257Ex%2541",
            "/no/such/path/at/%7Ex%41",
            "/no/such/path/at/~xA",
        ),
        (
            "/no/such/path/at/%25c3%25bc",
            "/no/such/path/at/%c3%bc",
            "/no/such/path/at/%C3%BC",
        ),
        (
            "/no/such/path/at/a@b:c",
            "/no/such/path/at/a@b:c",
            "/no/such/path/at/a%40b%3Ac",
        ),
        (
            "/no/such/path/at/a%25252Fb",
            "/no/such/path/at/a%252Fb",
            "/no/such/path/at/a%252Fb",
        ),
        // Segments that never match stay as written.
        ("/en/articles/..", "/en/articles/..", "/en/articles/.."),
        (
            "/en/articles/%252e%252E",
            "/en/articles/%2e%2E",
            "/en/articles/%2e%2E",
        ),
        (
            "/en/articles/a%252fb",
            "/en/articles/a%2fb",
            "/en/articles/a%2fb",
        ),
        (
            "/en/articles/100%25",
            "/en/articles/100%",
            "/en/articles/100%",
        ),
        ("/en/articles/%25ff", "/en/articles/%ff", "/en/articles/%ff"),
        ("/", "/", "/"),
        ("///", "///", "/"),
        ("/?x", "/?x", "/"),
    ] {
        let target = format!("/api/get-content-type?site=main&pathname={query}");
        let details = format!(r#"{{"pathname":"{pathname}","normalizedPath":"{normal}"}}"#);
        let message = assert_error(service.addr(), &target, 404, "NotFoundError", &details);
        assert!(
            message
                .to_lowercase()
                .contains("no content type matches the given pathname"),
            "{message}"
        );
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn debug_lists_the_candidates_in_order_of_evaluation_with_the_reason_of_each() {
    // `articles` (static) before `{slug}`; `/` and the catch-all show every reason.
    let settings = r#"
[server]
listen = "127.0.0.1:0"
[cms]
source = "files"
path = "content.json"
[[site]]
key = "main"
locales = ["en", "de"]
[[site.rule]]
content_type = "api::page.page"
template = "/{locale}/{slug}"
[[site.rule]]
content_type = "api::article.article"
template = "/{locale}/articles/{slug}"
[[site.rule]]
content_type = "api::doc.doc"
template = "/docs/{*path}"
[[site.rule]]
content_type = "api::faq.faq"
template = "/docs/{slug}.html"
[[site]]
key = "bare"
locales = ["en"]
"#;
    let service = Setup::new(settings).file("content.json", "{}").start();
    let faq = |rest: &str| {
        format!(r#"{{"collectionType":"api::faq.faq","rule":"/docs/{{slug}}.html",{rest}}}"#)
    };
    let doc = |rest: &str| {
        format!(r#"{{"collectionType":"api::doc.doc","rule":"/docs/{{*path}}",{rest}}}"#)
    };
    let article = |rest: &str| {
        format!(
            r#"{{"collectionType":"api::article.article","rule":"/{{locale}}/articles/{{slug}}",{rest}}}"#
        )
    };
    let page = |rest: &str| {
        format!(r#"{{"collectionType":"api::page.page","rule":"/{{locale}}/{{slug}}",{rest}}}"#)
    };
    let count = r#""reason":"segment_count""#;
    let fault =
        |reason: &str, segment: usize| format!(r#""reason":"{reason}","segment":{segment}"#);
    let cases = [
        (
            "main",
            "/docs",
            [faq(count), doc(count), article(count), page(count)],
        ),
        (
            "main",
            "/xx/articles/y",
            [
                faq(count),
                doc(&fault("static_mismatch", 0)),
                article(&fault("unknown_locale", 0)),
                page(count),
            ],
        ),
        (
            "main",
            "/en/blog/y",
            [
                faq(count),
                doc(&fault("static_mismatch", 0)),
                article(&fault("static_mismatch", 1)),
                page(count),
            ],
        ),
        (
            "main",
            "/en/articles/..",
            [
                faq(count),
                doc(&fault("static_mismatch", 0)),
                article(&fault("constraint", 2)),
                page(count),
            ],
        ),
        (
            "main",
            "/docs/..",
            [
                faq(&fault("constraint", 1)),
                doc(&fault("constraint", 1)),
                article(count),
                page(&fault("unknown_locale", 0)),
            ],
        ),
        (
            "main",
            "/EN/x",
            [
                faq(&fault("static_mismatch", 0)),
                doc(&fault("static_mismatch", 0)),
                article(count),
                page(&fault("unknown_locale", 0)),
            ],
        ),
    ];
    for (site, pathname, candidates) in cases {
        let target = format!("/api/get-content-type?site={site}&pathname={pathname}&debug=1");
        let details = format!(
            r#"{{"pathname":"{pathname}","normalizedPath":"{pathname}","candidates":[{}]}}"#,
            candidates.join(",")
        );
        assert_error(service.addr(), &target, 404, "NotFoundError", &details);
    }
    let bare = "/api/get-content-type?site=bare&pathname=/x&debug=1";
    assert_error(
        service.addr(),
        bare,
        404,
        "NotFoundError",
        r#"{"pathname":"/x","normalizedPath":"/x","candidates":[]}"#,
    );
    let off = "/api/get-content-type?site=bare&pathname=/x&debug=true";
    assert_error(
        service.addr(),
        off,
        404,
        "NotFoundError",
        r#"{"pathname":"/x","normalizedPath":"/x"}"#,
    );
}

#[test]
fn debug_lists_at_most_50_candidates() {
    let mut settings = String::from(
        "[server]\nlisten = \"127.0.0.1:0\"\n[cms]\nsource = \"files\"\npath = \"content.json\"\n[[site]]\nkey = \"main\"\nlocales = [\"en\"]\n",
    );
    for number in 0..60 {
        write!(settings, "[[site.rule]]\ncontent_type = \"api::t{number}.t{number}\"\ntemplate = \"/t{number}/{{slug}}\"\n").expect("text grows");
    }
    let service = Setup::new(&settings).file("content.json", "{}").start();
    let answer = http::get(
        service.addr(),
        "/api/get-content-type?site=main&pathname=/x/y/z&debug=1",
    );
    assert_eq!(
        answer.json()["error"]["details"]["candidates"]
            .as_array()
            .map(Vec::len),
        Some(50)
    );
}

#[test]
fn a_400_names_the_parameter_and_echoes_at_most_128_characters() {
    let service = service();
    let long = "x".repeat(200);
    for (target, named) in [
        (
            "/api/get-content-type?pathname=/en/x".to_owned(),
            vec!["site"],
        ),
        (
            "/api/get-content-type?pathname=/en/x&site=nope".to_owned(),
            vec!["site", "nope"],
        ),
        (
            "/api/get-content-type?site=main".to_owned(),
            vec!["pathname"],
        ),
        (
            "/api/get-content-type?site=main&pathname=x".to_owned(),
            vec!["pathname"],
        ),
        (
            "/api/get-content-type?site=main&pathname=/x&compact=maybe".to_owned(),
            vec!["compact", "maybe"],
        ),
        (
            "/api/get-content-type?site=main&pathname=/x&locale=-".to_owned(),
            vec!["locale"],
        ),
        (
            "/api/get-content-type?site=main&pathname=/x&debug=%00".to_owned(),
            vec!["debug"],
        ),
        (
            "/api/get-content-type?site=main&site=main&pathname=/x".to_owned(),
            vec!["site"],
        ),
        ("/api/frontend-url?documentId=a".to_owned(), vec!["uid"]),
        (
            "/api/frontend-url?uid=plugin::cms.article".to_owned(),
            vec!["documentId"],
        ),
        (
            "/api/frontend-url?uid=plugin::cms.article&documentId=a.b".to_owned(),
            vec!["documentId"],
        ),
        (
            "/api/frontend-url?uid=plugin::cms.article&documentId=a&status=new".to_owned(),
            vec!["status", "new"],
        ),
        (
            "/api/frontend-url?uid=plugin::cms.article&documentId=a&site=nope".to_owned(),
            vec!["site", "nope"],
        ),
        (
            "/api/build-sitemap?contentType=plugin::cms.article".to_owned(),
            vec!["site"],
        ),
        (
            "/api/build-sitemap?site=main".to_owned(),
            vec!["contentType"],
        ),
        (
            "/api/build-sitemap?site=nope&contentType=plugin::cms.article".to_owned(),
            vec!["nope", "plugin::cms.article"],
        ),
        (
            "/api/build-sitemap?site=main&contentType=plugin::cms.event".to_owned(),
            vec!["main", "plugin::cms.event"],
        ),
        (
            "/api/build-sitemap?site=main&contentType=plugin::cms.article&xml=yes".to_owned(),
            vec!["xml", "yes"],
        ),
        (
            format!("/api/get-content-type?pathname=/x&site={long}"),
            vec!["site"],
        ),
        (
            format!(
                "/api/build-sitemap?site=main&contentType={}",
                "y".repeat(128)
            ),
            vec!["main", "yyyyyyyy"],
        ),
    ] {
        let message = assert_error(service.addr(), &target, 400, "ValidationError", "");
        for text in named {
            assert!(
                message.contains(text),
                "{target}: {text:?} is not named in {message:?}"
            );
        }
        assert!(
            !message.contains(&"x".repeat(129)),
            "{message:?} echoes too much"
        );
    }
}

// 4.2

#[test]
fn a_published_document_has_a_url_and_a_path() {
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
        // Not localised: one URL under the default locale, whatever was asked.
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
        // The site: the one named like the plugin, else configuration order, else the one asked for.
        (
            "uid=plugin::events.talk&documentId=talk&site=talks",
            "https://talks.example.com/en/t/opening",
            "/en/t/opening",
        ),
        (
            "uid=api::shared.shared&documentId=s",
            "https://talks.example.com/shared/x",
            "/shared/x",
        ),
        (
            "uid=api::shared.shared&documentId=s&site=late",
            "https://late.example.com/late/x",
            "/late/x",
        ),
    ] {
        let target = format!("/api/frontend-url?{query}");
        let answer = assert_body(
            service.addr(),
            &target,
            200,
            &format!(r#"{{"data":{{"url":"{url}","path":"{path}"}},"meta":{{}}}}"#),
        );
        assert_ne!(
            answer.header("cache-control").as_deref(),
            Some("no-store"),
            "{target}"
        );
    }
}

#[test]
fn status_draft_builds_from_the_draft_and_is_not_stored() {
    let service = service();
    let draft = "/api/frontend-url?uid=plugin::cms.article&documentId=one&status=draft";
    let body = r#"{"data":{"url":"https://www.example.com/base/en/articles/hello-draft","path":"/en/articles/hello-draft"},"meta":{}}"#;
    let answer = assert_body(service.addr(), draft, 200, body);
    assert_eq!(answer.header("cache-control").as_deref(), Some("no-store"));
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
        (
            unconfigured.status,
            unconfigured.header("cache-control").as_deref()
        ),
        (501, Some("no-store"))
    );
    assert_eq!(
        unconfigured.json()["error"]["details"],
        json!({"path": "/en/events/launch-draft"})
    );
}

#[test]
fn a_missing_rule_document_version_or_locale_is_a_404() {
    let service = service();
    for query in [
        "uid=api::nope.nope&documentId=one",
        "uid=plugin::cms.article&documentId=one&site=events",
        "uid=plugin::cms.article&documentId=nope",
        "uid=plugin::cms.article&documentId=ONE",
        "uid=plugin::cms.article&documentId=nine",
        "uid=plugin::cms.article&documentId=nine&status=published",
        "uid=plugin::cms.article&documentId=two&status=draft",
        "uid=plugin::cms.article&documentId=one&locale=fr",
        "uid=plugin::cms.article&documentId=one&locale=xx",
        "uid=plugin::cms.article&documentId=eight&locale=xx",
        "uid=plugin::cms.article&documentId=ten",
    ] {
        let answer = http::get(service.addr(), &format!("/api/frontend-url?{query}"));
        assert_eq!(
            (answer.status, &answer.json()["error"]["name"]),
            (404, &json!("NotFoundError")),
            "{query}"
        );
        assert!(
            !answer.text().contains("secret") && !answer.text().contains("unpublished\""),
            "{query}: {}",
            answer.text()
        );
    }
}

#[test]
fn a_document_without_a_url_is_a_404_with_reason_and_rule() {
    let service = service();
    for (query, reason, rule) in [
        (
            "uid=plugin::cms.article&documentId=six",
            "slug_missing",
            "/{locale}/articles/{slug}",
        ),
        (
            "uid=plugin::cms.article&documentId=seven",
            "slug_has_slash",
            "/{locale}/articles/{slug}",
        ),
        // The document before the base URL.
        (
            "uid=plugin::cms.event&documentId=broken",
            "slug_empty",
            "/{locale}/events/{slug}",
        ),
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
fn the_reason_is_that_of_the_first_rules_leftmost_placeholder() {
    let settings = r#"
[server]
listen = "127.0.0.1:0"
[cms]
source = "files"
path = "content.json"
[[site]]
key = "main"
front_end_url = "https://www.example.com"
locales = ["en"]
[[site.rule]]
content_type = "api::story.story"
template = "/a/{category.slug}/{slug}"
[[site.rule]]
content_type = "api::story.story"
template = "/b/{*path}"
"#;
    let content = r#"{"api::story.story": [
        {"documentId": "a", "slug": "", "category": {"slug": "x"}},
        {"documentId": "b", "slug": "", "category": null},
        {"documentId": "c", "slug": "", "category": {"slug": "a\\b/c"}},
        {"documentId": "d", "slug": "", "category": {"slug": [1]}},
        {"documentId": "e", "slug": "x", "path": "p/q"},
        {"documentId": "f", "slug": "x", "category": {"slug": "\u202e%2e%2e"}}
    ]}"#;
    let service = Setup::new(settings).file("content.json", content).start();
    for (id, reason) in [
        ("a", "slug_empty"),
        ("b", "category.slug_missing"),
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
fn without_a_base_url_the_path_is_under_details() {
    let service = service();
    for (query, path) in [
        (
            "uid=plugin::cms.event&documentId=launch",
            "/en/events/launch",
        ),
        // Two sites have a rule: the one named like the plugin is asked.
        (
            "uid=plugin::events.talk&documentId=talk",
            "/en/talks/opening",
        ),
    ] {
        let target = format!("/api/frontend-url?{query}");
        let details = format!(r#"{{"path":"{path}"}}"#);
        let message = assert_error(
            service.addr(),
            &target,
            501,
            "NotImplementedError",
            &details,
        );
        assert!(message.contains("FRONT_END_URL_EVENTS"), "{message}");
    }
    let sitemap = "/api/build-sitemap?site=events&contentType=plugin::cms.event";
    assert_error(service.addr(), sitemap, 501, "NotImplementedError", "");
}

// 4.3

#[test]
fn a_sitemap_lists_published_urls_in_locale_order_then_by_path() {
    let service = service();
    // Skipped: no slug, a slash, a locale that the site lacks, an explicit `publishedAt: null`.
    assert_urls(service.addr(), ARTICLES, ARTICLE_URLS, 4);
    assert_urls(
        service.addr(),
        "/api/build-sitemap?site=main&contentType=api::faq.faq",
        &[
            "https://www.example.com/base/help/not-localised.html",
            "https://www.example.com/base/help/refund.html",
            "https://www.example.com/base/help/anfang.html",
        ],
        0,
    );
    assert_urls(
        service.addr(),
        "/api/build-sitemap?site=talks&contentType=plugin::events.talk",
        &["https://talks.example.com/en/t/opening"],
        0,
    );
    assert_urls(
        service.addr(),
        "/api/build-sitemap?site=main&contentType=api::story.story",
        &[
            "https://www.example.com/base/en/stories/news/x",
            "https://www.example.com/base/en/stories/s2",
        ],
        0,
    );
    assert_urls(
        service.addr(),
        "/api/build-sitemap?site=main&contentType=api::doc.doc",
        &["https://www.example.com/base/docs/guide/first%20steps"],
        0,
    );
}

#[test]
fn skipped_documents_are_logged_by_reason() {
    let service = service();
    assert_eq!(http::get(service.addr(), ARTICLES).status, 200);
    for reason in ["slug_missing", "slug_has_slash", "locale_unknown"] {
        assert!(
            service.logs(reason),
            "{reason} is not in the log:\n{}",
            service.log()
        );
    }
}

#[test]
fn the_xml_holds_the_same_list() {
    let service = service();
    for content_type in [
        "plugin::cms.article",
        "api::faq.faq",
        "api::story.story",
        "plugin::cms.page",
    ] {
        let target = format!("/api/build-sitemap?site=main&contentType={content_type}");
        let list = http::get(service.addr(), &target).json()["data"]["urls"].clone();
        let answer = http::get(service.addr(), &format!("{target}&xml=true"));
        assert_eq!(answer.status, 200);
        assert_eq!(
            answer.header("content-type").as_deref(),
            Some("application/xml")
        );
        assert_eq!(
            answer.header("x-content-type-options").as_deref(),
            Some("nosniff")
        );
        assert_eq!(
            answer.header("x-skipped-documents"),
            http::get(service.addr(), &target).header("x-skipped-documents")
        );
        assert!(answer.body.is_ascii(), "D25: the XML is ASCII");
        assert!(
            answer
                .text()
                .starts_with(r#"<?xml version="1.0" encoding="UTF-8"?>"#),
            "{}",
            answer.text()
        );
        let document = roxmltree::Document::parse(answer.text()).expect("well-formed XML");
        let root = document.root_element();
        let name = |name| ("http://www.sitemaps.org/schemas/sitemap/0.9", name);
        assert!(root.has_tag_name(name("urlset")), "{}", answer.text());
        let mut urls = Vec::new();
        for url in root.children().filter(roxmltree::Node::is_element) {
            assert!(url.has_tag_name(name("url")));
            let children: Vec<_> = url.children().filter(roxmltree::Node::is_element).collect();
            assert_eq!(children.len(), 1, "one loc each");
            assert!(children[0].has_tag_name(name("loc")));
            urls.push(Value::from(children[0].text().expect("an address")));
        }
        assert_eq!(Value::from(urls), list, "{content_type}");
    }
}

#[test]
fn a_sitemap_without_urls_is_still_one() {
    let settings = SETTINGS.replace(
        "content_type = \"plugin::cms.page\"",
        "content_type = \"api::none.none\"",
    );
    let content = r#"{"plugin::cms.article": [{"documentId": "a", "locale": "en"}]}"#;
    let service = Setup::new(&settings).file("content.json", content).start();
    assert_urls(
        service.addr(),
        "/api/build-sitemap?site=main&contentType=api::none.none",
        &[],
        0,
    );
    assert_urls(service.addr(), ARTICLES, &[], 1);
    let answer = http::get(service.addr(), &format!("{ARTICLES}&xml=1"));
    assert_eq!(
        (
            answer.status,
            answer.header("x-skipped-documents").as_deref()
        ),
        (200, Some("1"))
    );
    let document = roxmltree::Document::parse(answer.text()).expect("well-formed XML");
    assert_eq!(
        document
            .root_element()
            .children()
            .filter(roxmltree::Node::is_element)
            .count(),
        0
    );
}

// All of them

const TARGETS: &[(&str, u16)] = &[
    (
        "/api/get-content-type?site=main&pathname=/en/articles/x",
        200,
    ),
    (
        "/api/get-content-type?site=main&pathname=/en/articles/x&compact=1",
        200,
    ),
    (
        "/api/get-content-type?site=main&pathname=/a/b/c/d/e&debug=1",
        404,
    ),
    ("/api/get-content-type?site=nope&pathname=/x", 400),
    (
        "/api/frontend-url?uid=plugin::cms.article&documentId=one",
        200,
    ),
    (
        "/api/frontend-url?uid=plugin::cms.article&documentId=one&status=draft",
        200,
    ),
    (
        "/api/frontend-url?uid=plugin::cms.article&documentId=six",
        404,
    ),
    (
        "/api/frontend-url?uid=plugin::cms.event&documentId=launch",
        501,
    ),
    (ARTICLES, 200),
    (
        "/api/build-sitemap?site=main&contentType=plugin::cms.article&xml=true",
        200,
    ),
    ("/api/build-sitemap?site=main", 400),
];

#[test]
fn head_answers_like_get_without_the_body() {
    let service = service();
    let headers = |answer: &Response| {
        let mut headers = answer.headers.clone();
        headers.retain(|(name, _)| name != "date");
        headers.sort();
        headers
    };
    for (target, status) in TARGETS.iter().copied().chain([("/nope", 404)]) {
        let get = http::get(service.addr(), target);
        let head = http::send(service.addr(), "HEAD", target, &[]);
        assert_eq!((get.status, head.status), (status, status), "{target}");
        assert_eq!(headers(&get), headers(&head), "{target}");
        assert!(
            get.header("content-length").is_some(),
            "{target}: {:?}",
            get.headers
        );
    }
}

#[test]
fn other_methods_are_405_with_allow() {
    let service = service();
    for (target, _) in TARGETS {
        for method in ["POST", "PUT", "PATCH", "DELETE", "TRACE", "PURGE"] {
            let answer = http::send(service.addr(), method, target, &[]);
            assert_eq!(answer.status, 405, "{method} {target}");
            let allow = answer.header("allow").unwrap_or_default();
            let mut allow: Vec<&str> = allow.split(',').map(str::trim).collect();
            allow.sort_unstable();
            assert_eq!(allow, ["GET", "HEAD", "OPTIONS"], "{method} {target}");
            let error = &answer.json()["error"];
            assert_eq!(
                (&error["status"], &error["name"]),
                (&json!(405), &json!("MethodNotAllowedError")),
                "{method} {target}"
            );
            assert_eq!(answer.json()["data"], Value::Null);
            assert_eq!(
                answer.header("x-content-type-options").as_deref(),
                Some("nosniff")
            );
        }
    }
}

#[test]
fn unknown_routes_are_404_in_the_envelope_for_every_method() {
    let service = service();
    for target in [
        "/",
        "/nope",
        "/api/get-content-type/",
        "/api//frontend-url",
        "/api/./build-sitemap",
    ] {
        for method in ["GET", "POST", "OPTIONS", "DELETE"] {
            let answer = http::send(
                service.addr(),
                method,
                target,
                &[("Origin", ORIGIN), ("Access-Control-Request-Method", "GET")],
            );
            assert_eq!(answer.status, 404, "{method} {target}");
            let json = answer.json();
            assert_eq!(
                (&json["data"], &json["error"]["name"]),
                (&Value::Null, &json!("NotFoundError")),
                "{method} {target}"
            );
        }
    }
}

#[test]
fn a_listed_origin_may_read_every_answer_and_no_other_may() {
    let service = service();
    for (target, status) in TARGETS {
        for origin in [ORIGIN, "http://localhost:1337"] {
            let answer = http::send(service.addr(), "GET", target, &[("Origin", origin)]);
            assert_eq!(
                (
                    answer.status,
                    answer.header("access-control-allow-origin").as_deref()
                ),
                (*status, Some(origin)),
                "{target}"
            );
            assert_eq!(
                answer.header("access-control-allow-credentials"),
                None,
                "{target}"
            );
            assert!(varies_by_origin(&answer), "{target}: {:?}", answer.headers);
        }
        for origin in [
            "https://evil.example",
            "null",
            "HTTPS://admin.example.com",
            "https://admin.example.com:443",
        ] {
            let answer = http::send(service.addr(), "GET", target, &[("Origin", origin)]);
            assert_eq!(answer.status, *status, "{target}");
            assert!(
                !answer
                    .headers
                    .iter()
                    .any(|(name, _)| name.starts_with("access-control-")),
                "{origin}: {:?}",
                answer.headers
            );
            assert!(varies_by_origin(&answer), "{target}: {:?}", answer.headers);
        }
        assert!(
            varies_by_origin(&http::get(service.addr(), target)),
            "{target} without an origin"
        );
    }
}

#[test]
fn a_preflight_is_200_without_a_body() {
    let service = service();
    for (target, _) in TARGETS {
        let preflight = |origin| {
            http::send(
                service.addr(),
                "OPTIONS",
                target,
                &[("Origin", origin), ("Access-Control-Request-Method", "GET")],
            )
        };
        let listed = preflight(ORIGIN);
        assert_eq!(
            (listed.status, listed.body.as_slice()),
            (200, &b""[..]),
            "{target}"
        );
        assert_eq!(
            listed.header("access-control-allow-origin").as_deref(),
            Some(ORIGIN),
            "{target}"
        );
        assert!(
            listed
                .header("access-control-allow-methods")
                .unwrap_or_default()
                .contains("GET"),
            "{target}"
        );
        let other = preflight("https://evil.example");
        assert_eq!(
            (other.status, other.body.as_slice()),
            (200, &b""[..]),
            "{target}"
        );
        assert!(
            !other
                .headers
                .iter()
                .any(|(name, _)| name.starts_with("access-control-")),
            "{:?}",
            other.headers
        );
        let plain = http::send(service.addr(), "OPTIONS", target, &[]);
        assert_eq!(
            (plain.status, plain.body.as_slice()),
            (200, &b""[..]),
            "{target}"
        );
        for answer in [listed, other, plain] {
            assert!(
                answer.header("allow").unwrap_or_default().contains("GET"),
                "{target}: {:?}",
                answer.headers
            );
            assert!(varies_by_origin(&answer), "{target}: {:?}", answer.headers);
            assert_eq!(
                answer.header("x-content-type-options").as_deref(),
                Some("nosniff"),
                "{target}"
            );
        }
    }
}

#[test]
fn without_listed_origins_nobody_gets_cors_headers() {
    let settings = SETTINGS.replace(
        "cors_origins = [\"https://admin.example.com\", \"http://localhost:1337\"]",
        "",
    );
    let service = Setup::new(&settings).file("content.json", CONTENT).start();
    for method in ["GET", "OPTIONS"] {
        let answer = http::send(
            service.addr(),
            method,
            ARTICLES,
            &[("Origin", ORIGIN), ("Access-Control-Request-Method", "GET")],
        );
        assert_eq!(answer.status, 200);
        assert!(
            !answer
                .headers
                .iter()
                .any(|(name, _)| name.starts_with("access-control-")),
            "{:?}",
            answer.headers
        );
    }
}

fn varies_by_origin(answer: &Response) -> bool {
    let vary = answer.header("vary").unwrap_or_default();
    vary.split(',')
        .any(|name| name.trim().eq_ignore_ascii_case("origin"))
}
