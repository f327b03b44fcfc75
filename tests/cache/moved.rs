//! Paths that documents had before: `kind: "redirect"` of `/api/resolve`, and what does not know them.

mod edits;
mod hosts;
mod import;
mod large;
mod list;
mod model;
mod not_localized;
mod over_http;
mod responses;
mod settings;

use serde_json::Value;

use crate::support::http::{self, Response};
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

const APPLIED: &str = "the settings are reloaded";

/// A site with a base URL and one rule for pages with this template.
fn settings(template: &str) -> Settings {
    site("main")
        .front_end_url("https://www.example.com/base")
        .locales(&["en", "de"])
        .resolve("documents")
        .rule("api::page.page", template)
}

/// `(documentId, locale, slug)` each; without a locale, the document is not localized.
type Row<'a> = (&'a str, &'a str, &'a str);

/// A content file with these pages.
fn pages(rows: &[Row<'_>]) -> String {
    format!(r#"{{"api::page.page": {}}}"#, documents(rows))
}

fn documents(rows: &[Row<'_>]) -> String {
    let row = |(id, locale, slug): &Row<'_>| match *locale {
        "" => format!(r#"{{"documentId": "{id}", "slug": "{slug}"}}"#),
        _ => format!(r#"{{"documentId": "{id}", "locale": "{locale}", "slug": "{slug}"}}"#),
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!("[{}]", rows.join(", "))
}

/// A service whose documents are known.
fn start(settings: &Settings, content: &str) -> Service {
    let service = settings.clone().files(content).start();
    known(&service);
    service
}

/// Waits until the documents of all types are known: each rule of these tests matches one of these
/// paths, which no document has.
fn known(service: &Service) {
    for prefix in ["", "/en", "/de", "/en/p", "/en/pages", "/en/news", "/en/stories", "/en/tales"] {
        let pathname = format!("{prefix}/no-such");
        until_so(&pathname, || resolve(service, &pathname).status != 503);
    }
    until_so("/en/blog", || resolve(service, "/en/blog/no-such.html").status != 503);
}

/// Reads the settings and the content again.
fn reload(service: &Service) {
    let count = || service.log().matches(APPLIED).count();
    let before = count();
    service.send_signal("HUP");
    until_so(APPLIED, || count() > before);
    known(service);
}

/// Other content, in use.
fn edit(service: &Service, content: &str) {
    service.rewrite("content.json", content);
    reload(service);
}

/// Other settings, in use.
fn apply(service: &Service, settings: &Settings) {
    service.rewrite("settings.toml", &settings.toml());
    reload(service);
}

fn resolve(service: &Service, pathname: &str) -> Response {
    http::get(service.addr(), &format!("/api/resolve?site=main&pathname={pathname}"))
}

fn data(response: &Response) -> Value {
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()["data"].clone()
}

/// What a pathname leads to: `document <id>`, `redirect <path>`, `none`, `gone`, or the status of an
/// error, with ` gone` behind it if its details say so.
fn leads_to(service: &Service, pathname: &str) -> String {
    let response = resolve(service, pathname);
    let json = response.json();
    if response.status != 200 {
        let gone = json["error"]["details"]["gone"]["since"].is_string();
        return format!("{}{}", response.status, if gone { " gone" } else { "" });
    }
    let data = &json["data"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match text(&data["kind"]).as_str() {
        "document" => format!("document {}", text(&data["documentId"])),
        "redirect" => format!("redirect {}", text(&data["redirect"]["path"])),
        "none" if data["gone"]["since"].is_string() => "gone".to_owned(),
        other => other.to_owned(),
    }
}

#[track_caller]
fn assert_leads(service: &Service, expected: &[(&str, &str)]) {
    let found: Vec<_> = expected.iter().map(|(path, _)| leads_to(service, path)).collect();
    let wanted: Vec<_> = expected.iter().map(|(_, leads)| *leads).collect();
    let paths: Vec<_> = expected.iter().map(|(path, _)| *path).collect();
    assert_eq!(found, wanted, "{paths:?}");
}
