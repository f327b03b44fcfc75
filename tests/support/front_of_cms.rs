//! The service in front of a scripted CMS: one site, one rule, and responses in Strapi's shape.

use serde_json::Value;

use super::cms::Cms;
use super::http::Response;
use super::script::Script;
use super::service::{Service, Setup};
use super::settings::{Settings, site};

pub(crate) const ID: &str = "abcdefghijklmnopqrstuvwx";
pub(crate) const TOKEN: &str = "canary-7f3a9c-token";
pub(crate) const SITEMAP: &str = "/api/build-sitemap?site=main&contentType=plugin::cms.article";
pub(crate) const RESOLVE: &str = "/api/get-content-type?site=main&pathname=/en/articles/x";

pub(crate) fn one_url() -> String {
    format!("/api/frontend-url?uid=plugin::cms.article&documentId={ID}")
}

/// One site with a rule for articles.
pub(crate) fn articles() -> Settings {
    site("main").rule("plugin::cms.article", "/{locale}/articles/{slug}")
}

/// With the token of the CMS, and logging all it can.
pub(crate) fn setup(settings: &Settings) -> Setup {
    settings.env("FRONTEND_MAP__CMS__TOKEN", TOKEN).env("RUST_LOG", "trace")
}

pub(crate) fn in_front_of(cms: &Cms) -> Service {
    setup(&articles().strapi(cms)).start()
}

/// A list of rows `(documentId, more of the row)`, in JSON. Without a total it is a response to
/// `withCount=false`.
pub(crate) fn list(
    rows: &[(&str, &str)],
    page_size: usize,
    total: impl Into<Option<usize>>,
) -> Script {
    let row = |(id, more): &(&str, &str)| format!(r#"{{"id":1,"documentId":"{id}"{more}}}"#);
    let rows: Vec<String> = rows.iter().map(row).collect();
    let total = total.into().map(|total| format!(r#","pageCount":1,"total":{total}"#));
    let total = total.unwrap_or_default();
    let paging = format!(r#"{{"page":1,"pageSize":{page_size}{total}}}"#);
    let rows = rows.join(",");
    Script::json(200, &format!(r#"{{"data":[{rows}],"meta":{{"pagination":{paging}}}}}"#))
}

pub(crate) fn refusal(status: u16, name: &str, details: &str) -> Script {
    let error =
        format!(r#"{{"status":{status},"name":"{name}","message":"x","details":{details}}}"#);
    Script::json(status, &format!(r#"{{"data":null,"error":{error}}}"#))
}

pub(crate) fn urls(response: &Response) -> Vec<String> {
    assert_eq!(response.status, 200, "{}", response.text());
    let urls = response.json()["data"]["urls"].as_array().expect("a list").clone();
    urls.iter().map(|url| url.as_str().expect("text").to_owned()).collect()
}

/// The token is in no log line, body or header.
pub(crate) fn assert_no_token(service: &Service, response: &Response) {
    assert!(!service.log().contains(TOKEN), "the token is in the log");
    assert!(!response.text().contains(TOKEN), "the token is in the body");
    let leaks = response.headers.iter().any(|(_, value)| value.contains(TOKEN));
    assert!(!leaks, "the token is in a header");
}

pub(crate) fn assert_failure(response: &Response, status: u16, name: &str) {
    assert_eq!(response.status, status, "{}", response.text());
    let body = response.json();
    assert_eq!((&body["data"], &body["error"]["status"]), (&Value::Null, &Value::from(status)));
    assert_eq!(body["error"]["name"], name);
}
