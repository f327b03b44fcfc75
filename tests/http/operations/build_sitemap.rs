//! `/api/build-sitemap`: the public URLs of one content type.

use serde_json::{Value, json};

use super::{ARTICLE_URLS, ARTICLES, assert_urls, service};
use crate::support::http;
use crate::support::settings::site;

#[test]
fn build_sitemap_lists_published_urls_in_locale_order_then_by_path() {
    let service = service();
    // Skipped: no slug, a slash, an explicit `publishedAt: null`. A version in a locale that the site
    // does not have belongs to other sites.
    assert_urls(service.addr(), ARTICLES, ARTICLE_URLS, 3);
    assert_urls(
        service.addr(),
        "/api/build-sitemap?site=main&contentType=api::faq.faq",
        &[
            "https://www.example.com/base/help/not-localized.html",
            "https://www.example.com/base/help/refund.html",
            "https://www.example.com/base/help/anfang.html",
        ],
        0,
    );
    assert_urls(
        service.addr(),
        "/api/build-sitemap?site=talks&contentType=plugin::events.talk",
        &["https://talks.example.com/en/t/opening", "https://talks.example.com/de/t/anfang"],
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
fn build_sitemap_logs_skipped_documents_by_reason() {
    let service = service();
    assert_eq!(http::get(service.addr(), ARTICLES).status, 200);
    for reason in ["slug_missing", "slug_has_slash", "not_published"] {
        assert!(service.logs(reason), "{reason} is not in the log:\n{}", service.log());
    }
    assert!(!service.log().contains("locale_unknown"), "{}", service.log());
}

#[test]
fn build_sitemap_xml_has_the_same_list() {
    let service = service();
    for content_type in
        ["plugin::cms.article", "api::faq.faq", "api::story.story", "plugin::cms.page"]
    {
        let target = format!("/api/build-sitemap?site=main&contentType={content_type}");
        let list = http::get(service.addr(), &target).json()["data"]["urls"].clone();
        let response = http::get(service.addr(), &format!("{target}&xml=true"));
        assert_eq!(response.status, 200);
        assert_eq!(response.header("content-type").as_deref(), Some("application/xml"));
        assert_eq!(response.header("x-content-type-options").as_deref(), Some("nosniff"));
        assert_eq!(
            response.header("x-skipped-documents"),
            http::get(service.addr(), &target).header("x-skipped-documents")
        );
        assert!(response.body.is_ascii(), "D25: the XML is ASCII");
        assert!(
            response.text().starts_with(r#"<?xml version="1.0" encoding="UTF-8"?>"#),
            "{}",
            response.text()
        );
        let document = roxmltree::Document::parse(response.text()).expect("well-formed XML");
        let root = document.root_element();
        let name = |name| ("http://www.sitemaps.org/schemas/sitemap/0.9", name);
        assert!(root.has_tag_name(name("urlset")), "{}", response.text());
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
fn value_that_cannot_be_read_costs_its_field_alone() {
    let content = r#"{"plugin::cms.article": [
        {"documentId": "a", "locale": "en", "slug": "\ud800"},
        {"documentId": "b", "locale": "en", "slug": 1e999},
        {"documentId": "c", "locale": "en", "slug": "c", "title": "Noodles \ud83c"},
        {"documentId": "d", "locale": "en", "slug": "d", "title": 1e999, "changed": "\udfff"}
    ]}"#;
    let settings = site("main")
        .resolve("documents")
        .rule("plugin::cms.article", "/{locale}/articles/{slug}")
        .with(r#"title = "title""#)
        .with(r#"modified = "changed""#);
    let service = settings.files(content).start();
    let expected = ["c", "d"].map(|slug| format!("https://www.example.com/en/articles/{slug}"));
    assert_urls(service.addr(), ARTICLES, &expected.each_ref().map(String::as_str), 2);
    let problems = http::get(service.addr(), "/api/problems?site=main").json();
    let rows = problems["data"]["problems"].as_array().expect("a list");
    let reasons = rows.iter().map(|row| (&row["documentId"], &row["reason"]));
    assert_eq!(
        reasons.collect::<Vec<_>>(),
        [(&json!("a"), &json!("slug_not_string")), (&json!("b"), &json!("slug_not_string"))]
    );
    let document = "/api/frontend-url?uid=plugin::cms.article&documentId=a&site=main";
    let response = http::get(service.addr(), document);
    assert_eq!(response.status, 404);
    assert_eq!(response.json()["error"]["details"]["reason"], "slug_not_string");
    let page = http::get(service.addr(), "/api/resolve?site=main&pathname=/en/articles/c").json();
    assert_eq!(
        (&page["data"]["kind"], &page["data"]["documentId"]),
        (&json!("document"), &json!("c"))
    );
}

#[test]
fn build_sitemap_without_urls_is_an_empty_list() {
    let settings = site("main")
        .rule("api::none.none", "/{locale}/{slug}")
        .rule("plugin::cms.article", "/{locale}/articles/{slug}");
    let content = r#"{"plugin::cms.article": [{"documentId": "a", "locale": "en"}]}"#;
    let service = settings.files(content).start();
    assert_urls(service.addr(), "/api/build-sitemap?site=main&contentType=api::none.none", &[], 0);
    assert_urls(service.addr(), ARTICLES, &[], 1);
    let response = http::get(service.addr(), &format!("{ARTICLES}&xml=1"));
    assert_eq!(
        (response.status, response.header("x-skipped-documents").as_deref()),
        (200, Some("1"))
    );
    let document = roxmltree::Document::parse(response.text()).expect("well-formed XML");
    assert_eq!(document.root_element().children().filter(roxmltree::Node::is_element).count(), 0);
}
