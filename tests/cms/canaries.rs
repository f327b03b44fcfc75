//! The token and drafts never leak: a CMS that lists a draft among published documents.
//!
//! `support` searches each response and each log of the whole suite for both; this test provokes a
//! leak in each operation.

use crate::support::canary::DRAFT;
use crate::support::cms::Cms;
use crate::support::front_of_cms::{RESOLVE, SITEMAP, articles, list, setup, urls};
use crate::support::http;
use crate::support::script::Script;

/// A list with a draft in it, and a draft where a published version was asked for.
fn leaky(target: &str) -> Script {
    let draft = format!(r#","locale":"en","slug":"{DRAFT}","publishedAt":null"#);
    if target.starts_with("/api/cms/articles?") {
        let good = r#","locale":"en","slug":"good","publishedAt":"2026-01-01T00:00:00.000Z""#;
        return list(&[("a", good), ("b", &draft)], 100, 2);
    }
    Script::json(200, &format!(r#"{{"data":{{"id":1,"documentId":"b"{draft}}},"meta":{{}}}}"#))
}

#[test]
fn token_and_drafts_do_not_leak_from_any_operation() {
    let cms = Cms::start(leaky);
    let url = format!("http://{}", cms.addr());
    let setup = setup(&articles().strapi_at(&url)).env("FRONTEND_MAP__LOG__ACCESS", "true");
    let service = setup.env("FRONTEND_MAP__LOG__FORMAT", "json").start();
    assert_eq!(
        urls(&http::get(service.addr(), SITEMAP)),
        ["https://www.example.com/en/articles/good"]
    );
    let draft = "/api/frontend-url?uid=plugin::cms.article&documentId=b";
    assert_eq!(http::get(service.addr(), draft).status, 404);
    for target in [
        RESOLVE,
        "/api/resolve?site=main&pathname=/en/articles/good",
        &format!("{SITEMAP}&xml=true"),
        "/sitemaps/main/index.xml",
        "/api/frontend-url?uid=plugin::cms.article&documentId=none",
        "/nowhere",
    ] {
        http::get(service.addr(), target);
    }
    for target in ["/", "/metrics", "/readyz", "/rules"] {
        assert_eq!(http::get(service.admin(), target).status, 200, "{target}");
    }
    assert!(service.logs("/nowhere"), "each request has its line");
}
