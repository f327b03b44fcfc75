//! Pages of a site with several hosts: each belongs to the hosts of its locales.

use serde_json::json;

use super::{data, settings};
use crate::support::http;
use crate::support::service::Service;

const BASES: &str = r#"{ en = "https://example.com", de = "https://example.de/start" }"#;

const PAGES: &str = r#"
[[site.page]]
name = "search"
path = "/search"
[[site.page]]
name = "about"
path = { en = "/{locale}/about" }
"#;

fn service(bases: &str) -> Service {
    settings(PAGES)
        .front_end_url(bases)
        .set("trailing_slash = \"always\"\nlocale_prefix = \"except-default\"")
        .start()
}

#[test]
fn page_is_on_the_hosts_of_its_locales() {
    let service = service(BASES);
    for (host, locale, url) in [
        ("example.com", "en", "https://example.com/search/"),
        ("example.de", "de", "https://example.de/start/search/"),
    ] {
        let target = format!("/api/resolve?site=main&pathname=/search/&host={host}");
        let found = data(&service, &target);
        assert_eq!(
            json!([found["locale"], found["canonicalUrl"], found["isCanonical"]]),
            json!([locale, url, true])
        );
        assert_eq!(
            found["alternates"],
            json!({
                "en": "https://example.com/search/", "de": "https://example.de/start/search/",
                "x-default": "https://example.com/search/",
            })
        );
        let file = http::get(service.addr(), &format!("/sitemaps/main/{host}/pages-1.xml"));
        assert!(file.text().contains(&format!("<loc>{url}</loc>")), "{}", file.text());
        assert_eq!(file.text().contains("/about/"), host == "example.com");
        let index = http::get(service.addr(), &format!("/sitemaps/main/{host}/index.xml"));
        assert!(index.text().contains("/sitemaps/pages-1.xml</loc>"), "{}", index.text());
    }
    // The first locale has no segment, and the English document with the path has no URL.
    let about = data(&service, "/api/resolve?site=main&pathname=/about");
    assert_eq!((&about["page"], &about["isCanonical"]), (&json!("about"), &json!(false)));
    let target = "/api/frontend-url?uid=api::page.page&locale=en&documentId=p1";
    let response = http::get(service.addr(), target);
    assert_eq!(response.json()["error"]["details"]["reason"], "path_taken_by_page");
}

#[test]
fn files_need_a_base_url_for_each_locale_of_a_page() {
    let service = service(r#"{ en = "https://example.com" }"#);
    for file in ["index.xml", "pages-1.xml"] {
        let response = http::get(service.addr(), &format!("/sitemaps/main/{file}"));
        assert_eq!(response.status, 501, "{}", response.text());
    }
    let rows = data(&service, "/api/pages?site=main&contentType=pages");
    assert_eq!(rows["pages"][2]["url"], json!(null));
}
