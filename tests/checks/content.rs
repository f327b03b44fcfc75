//! Judged pages: `validate --content` and `content=true` with a scripted frontend that has every fault.

mod hostile;
mod over_http;
mod planted;
mod robots;

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::support::front_end::{Answer, FrontEnd, with_body};
use crate::support::service::Setup;
use crate::support::settings::site;

const HTML: &str = "Content-Type: text/html; charset=utf-8\r\n";

/// A frontend whose script knows its own base URL.
async fn front_end(script: impl Fn(&str, &str) -> Answer + Send + Sync + 'static) -> FrontEnd {
    let base: Arc<OnceLock<String>> = Arc::default();
    let own = Arc::clone(&base);
    let peer = FrontEnd::start(move |target: &str| script(own.get().unwrap(), target)).await;
    base.set(peer.url("http", "")).unwrap();
    peer
}

/// A page without a fault: `slug` is that of the version in both languages.
fn page(base: &str, target: &str) -> String {
    let slug = target.rsplit('/').next().unwrap();
    let locale = &target[1..3];
    let links = ["en", "de"].map(|code| {
        format!("<link rel=alternate hreflang={code} href={base}/{code}/posts/{slug}>")
    });
    format!(
        "<!doctype html><html lang={locale}><head><title>Title of {slug}</title>\
         <link rel=canonical href={base}{target}>{}\
         <link rel=alternate hreflang=x-default href={base}/en/posts/{slug}></head>\
         <body><h1>Title of {slug}</h1></body></html>",
        links.concat()
    )
}

fn not_found() -> Answer {
    with_body("404 Not Found", HTML, "<title>Not found</title>")
}

/// A site with a post for each slug, in both languages with the same slug.
fn posts(base: &str, slugs: impl Iterator<Item = String>) -> Setup {
    let post = |(n, slug): (usize, String)| {
        ["en", "de"].map(|locale| {
            serde_json::json!({
                "documentId": format!("d{n}"), "locale": locale, "slug": slug,
                "title": format!("Title of {slug}"),
            })
        })
    };
    let posts: Vec<Value> = slugs.enumerate().flat_map(post).collect();
    let content = serde_json::json!({"api::post.post": posts}).to_string();
    site("main")
        .front_end_url(base)
        .locales(&["en", "de"])
        .rule("api::post.post", "/{locale}/posts/{slug}")
        .with("title = \"title\"")
        .files(&content)
        .setup()
}

/// The report of `validate --content`, and the exit status.
fn judge(setup: &Setup) -> (Value, Option<i32>) {
    let args = ["validate", "--site", "main", "--content", "--format", "json", "--out", "report"];
    let ended = setup.run(&args);
    let report = std::fs::read_to_string(setup.path().join("report"));
    let report = report.unwrap_or_else(|error| panic!("{error}: {}", ended.stderr));
    (serde_json::from_str(&report).unwrap(), ended.status)
}

/// The kinds of the faults of each page, by the path.
fn faults<'r>(report: &'r Value, base: &str) -> Vec<(&'r str, Vec<&'r str>)> {
    let results = report["contentTypes"][0]["results"].as_array().unwrap();
    let faults = |result: &'r Value| {
        let url = result["url"].as_str().unwrap();
        let faults = result["faults"].as_array().into_iter().flatten();
        let kinds = faults.map(|fault| fault["kind"].as_str().unwrap()).collect();
        (url.strip_prefix(base).unwrap(), kinds)
    };
    results.iter().map(faults).collect()
}
