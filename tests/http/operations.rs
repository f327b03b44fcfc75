//! `/api/get-content-type`, `/api/frontend-url` and `/api/build-sitemap` over content from a file:
//! bodies byte for byte where the contract settles them, headers, HEAD, 405, CORS.

mod build_sitemap;
mod every_response;
mod frontend_url;
mod frontend_urls;
mod get_content_type;
mod routes;

use std::net::SocketAddr;

use serde_json::Value;

use crate::support::http::{self, Response};
use crate::support::service::Service;
use crate::support::settings::{Settings, site};

const ORIGINS: &str = r#"cors_origins = ["https://admin.example.com", "http://localhost:1337"]"#;

fn settings() -> Settings {
    site("main")
        .front_end_url("https://www.example.com/base/")
        .locales(&["en", "de", "fr"])
        .rule("plugin::cms.page", "/{locale}/{slug}")
        .rule("plugin::cms.article", "/{locale}/articles/{slug}")
        .rule("api::faq.faq", "/help/{slug}.html")
        .rule("api::doc.doc", "/docs/{*path}")
        .rule("api::story.story", "/{locale}/stories/{category.slug}/{slug}")
        .rule("api::story.story", "/{locale}/stories/{documentId}")
        .site("events")
        .without_front_end_url()
        .rule("plugin::cms.event", "/{locale}/events/{slug}")
        .rule("plugin::events.talk", "/{locale}/talks/{slug}")
        .site("talks")
        .front_end_url("https://talks.example.com")
        .locales(&["en", "de"])
        .rule("plugin::events.talk", "/{locale}/t/{slug}")
        .rule("api::shared.shared", "/shared/{slug}")
        .site("late")
        .front_end_url("https://late.example.com")
        .rule("api::shared.shared", "/late/{slug}")
        .site("empty")
        .front_end_url("https://empty.example.com")
        .files(CONTENT)
}

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
  "plugin::events.talk": [
    {"documentId": "talk", "locale": "en", "slug": "opening"},
    {"documentId": "talk", "locale": "de", "slug": "anfang"}
  ],
  "api::shared.shared": [{"documentId": "s", "slug": "x"}],
  "api::faq.faq": [
    {"documentId": "f1", "locale": "en", "slug": "refund"},
    {"documentId": "f1", "locale": "de", "slug": "refund"},
    {"documentId": "f2", "locale": "de", "slug": "anfang"},
    {"documentId": "f3", "slug": "not-localized"}
  ],
  "api::doc.doc": [{"documentId": "d", "locale": null, "path": "guide/first steps"}],
  "api::story.story": [
    {"documentId": "s1", "locale": "en", "slug": "x", "category": {"slug": "news"}},
    {"documentId": "s2", "locale": "en", "slug": "y", "category": null}
  ]
}"#;

const ORIGIN: &str = "https://admin.example.com";

fn service() -> Service {
    settings().server(ORIGINS).start()
}

/// Asserts the status and the whole body, byte for byte.
#[track_caller]
fn assert_body(addr: SocketAddr, target: &str, status: u16, body: &str) -> Response {
    let response = http::get(addr, target);
    assert_eq!((response.status, response.text()), (status, body), "{target}");
    assert_eq!(response.header("content-type").as_deref(), Some("application/json"), "{target}");
    assert_eq!(response.header("x-content-type-options").as_deref(), Some("nosniff"), "{target}");
    assert_eq!(response.header("content-length"), Some(body.len().to_string()), "{target}");
    response
}

/// Asserts the whole body of an error but its message, and returns the message. `details` is JSON
/// text, or empty where the error has none.
#[track_caller]
fn assert_error(addr: SocketAddr, target: &str, status: u16, name: &str, details: &str) -> String {
    let message =
        http::get(addr, target).json()["error"]["message"].as_str().expect("a message").to_owned();
    let details =
        if details.is_empty() { String::new() } else { format!(r#","details":{details}"#) };
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
    let response = assert_body(addr, target, 200, &body);
    let header = response.header("x-skipped-documents").unwrap_or_else(|| "0".to_owned());
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
