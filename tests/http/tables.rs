//! The tables of a site, `/api/pages` and `/api/problems`, over content from a file and from a
//! scripted CMS, and the commands that write the
//! same or compare two settings.

mod commands;
mod diff;
mod pages;
mod problems;

use serde_json::Value;

use crate::support::http::{self, Response};
use crate::support::service::Service;
use crate::support::settings::{Settings, site};

const CONTENT: &str = r#"{
  "api::article.article": [
    {"documentId": "a1", "locale": "en", "slug": "zoo", "title": "Zoo", "updatedAt": "2026-01-02T03:04:05.678Z"},
    {"documentId": "a1", "locale": "de", "slug": "été", "title": "Été", "updatedAt": "2026-02-02T03:04:05.6785Z"},
    {"documentId": "a2", "locale": "en", "slug": "a b", "updatedAt": null},
    {"documentId": "a3", "locale": "en", "slug": "hidden", "hidden": true, "title": "Secret"},
    {"documentId": "a4", "locale": "en", "title": "No slug\u001b"},
    {"documentId": "a5", "locale": "de", "slug": "a/b", "title": 5},
    {"documentId": "a6", "locale": "fr", "slug": "ailleurs"},
    {"documentId": "a7", "locale": "en", "slug": "draft", "status": "draft"},
    {"documentId": "a8", "locale": "en", "slug": "zoo", "title": "Second zoo"}
  ],
  "api::help.help": [
    {"documentId": "h1", "slug": "not-localized", "section": "a", "updatedAt": "2026-03-01T00:00:00Z"},
    {"documentId": "h2", "locale": "de", "slug": "b", "section": null},
    {"documentId": "h3", "slug": null}
  ],
  "api::page.page": [
    {"documentId": "p1", "locale": "en", "path": "en/articles/zoo", "section": "main"},
    {"documentId": "p2", "locale": "en", "path": "p//q", "section": "main"},
    {"documentId": "p3", "locale": "en", "path": "elsewhere", "section": "other"},
    {"documentId": "p4", "locale": "en", "path": "p/q", "section": "main"}
  ]
}"#;

fn settings() -> Settings {
    let main = site("main")
        .front_end_url("https://www.example.com/base")
        .locales(&["en", "de"])
        .rule("api::article.article", "/{locale}/articles/{slug}")
        .with("title = \"title\"\nexclude_when = { hidden = true }")
        .rule("api::help.help", "/help/{section?}/{slug}.html")
        .rule("api::page.page", "/{*path}")
        .with("where = { section = \"main\" }\nsitemap = false");
    main.site("nourl").without_front_end_url().rule("api::page.page", "/{*path}").files(CONTENT)
}

/// With links to the admin panel of the CMS.
fn linked() -> Settings {
    settings().cms("admin_url = \"https://cms.example.com/admin/\"")
}

/// With a header that asks for lines.
fn lines(service: &Service, target: &str) -> Response {
    http::send(service.addr(), "GET", target, &[("Accept", "application/x-ndjson")])
}

/// Each line as JSON.
fn parsed(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}
