//! `[[site.page]]`: the pages of a site outside the CMS.

mod changes;
mod hosts;
mod validation;

use serde_json::json;

use crate::support::http;
use crate::support::service::Service;
use crate::support::settings::{Settings, site};

const CONTENT: &str = r#"{"api::page.page": [
    {"documentId": "p1", "locale": "en", "slug": "about"},
    {"documentId": "p2", "locale": "en", "slug": "contact"},
    {"documentId": "p3", "locale": "de", "slug": "contact"},
    {"documentId": "p4", "locale": "en", "slug": "help/first"}]}"#;

const PAGES: &str = r#"
[[site.page]]
name = "contact"
path = { en = "/en/contact", de = "/de/kontakt" }
lastmod = 2024-03-06
[[site.page]]
name = "search"
path = "/{locale}/search"
sitemap = false
[[site.page]]
name = "help"
path = "/en/help"
"#;

fn settings(pages: &str) -> Settings {
    site("main")
        .front_end_url("https://example.com")
        .locales(&["en", "de"])
        .resolve("documents")
        .rule("api::page.page", "/{locale}/{*slug}")
        .more(pages)
        .files(CONTENT)
}

fn data(service: &Service, target: &str) -> serde_json::Value {
    let response = http::get(service.addr(), target);
    assert_eq!(response.status, 200, "{target}: {}", response.text());
    response.json()["data"].clone()
}

#[test]
fn resolve_names_the_page_with_its_other_versions() {
    // The CMS does not exist.
    let service = settings(PAGES).strapi_at("http://127.0.0.1:9").without_endpoints().start();
    let target = "/api/resolve?site=main&pathname=/de/kontakt/";
    for status in ["", "&status=draft"] {
        let response = http::get(service.addr(), &format!("{target}{status}"));
        assert_eq!(response.status, 200, "{}", response.text());
        assert_eq!(response.header("x-resolved-by").as_deref(), Some("pages"));
        assert_eq!(
            response.json()["data"],
            json!({
                "site": "main", "pathname": "/de/kontakt/", "locale": "de", "matched": null,
                "kind": "page", "page": "contact",
                "redirect": {
                    "to": "https://example.com/de/kontakt", "path": "/de/kontakt", "status": 308,
                    "documentId": null, "locale": "de", "since": null
                },
                "resolvedBy": "pages", "documentId": null,
                "canonicalPath": "/de/kontakt", "canonicalUrl": "https://example.com/de/kontakt",
                "isCanonical": false, "resource": null,
                "lastModified": "2024-03-06T00:00:00.000Z", "breadcrumbs": [],
                "alternates": {
                    "en": "https://example.com/en/contact",
                    "de": "https://example.com/de/kontakt",
                    "x-default": "https://example.com/en/contact",
                },
            })
        );
    }
    // By the rules, as before.
    let found = data(&service, "/api/get-content-type?site=main&pathname=/de/kontakt");
    assert_eq!(found["matched"]["collectionType"], "api::page.page");
}

#[test]
fn document_with_the_path_of_a_page_has_no_url() {
    let service = settings(PAGES).start();
    let target = "/api/frontend-url?uid=api::page.page&locale=en&documentId=p2";
    let response = http::get(service.addr(), target);
    assert_eq!(response.status, 404);
    assert_eq!(
        response.json()["error"]["details"],
        json!({"reason": "path_taken_by_page", "rule": "/{locale}/{*slug}"})
    );
    let german = data(&service, "/api/frontend-url?uid=api::page.page&locale=de&documentId=p3");
    assert_eq!(german["path"], "/de/contact");
    let target = "/api/build-sitemap?site=main&contentType=api::page.page";
    let list = http::get(service.addr(), target);
    assert_eq!(list.header("x-skipped-documents").as_deref(), Some("1"));
    assert_eq!(
        list.json()["data"]["urls"],
        json!([
            "https://example.com/en/about",
            "https://example.com/en/help/first",
            "https://example.com/de/contact"
        ])
    );
    let problems = data(&service, "/api/problems?site=main");
    assert_eq!(
        problems["problems"],
        json!([{
            "kind": "no_url", "contentType": "api::page.page", "documentId": "p2",
            "locale": "en", "reason": "path_taken_by_page", "rule": "/{locale}/{*slug}",
        }])
    );
    let child = data(&service, "/api/resolve?site=main&pathname=/en/help/first");
    assert_eq!(
        child["breadcrumbs"],
        json!([{"path": "/en/help", "url": "https://example.com/en/help", "page": "help"}])
    );
}

#[test]
fn pages_are_in_a_sitemap_file_and_in_the_table_of_pages() {
    let service = settings(PAGES).start();
    let index = http::get(service.addr(), "/sitemaps/main/index.xml");
    let file = "<sitemap><loc>https://example.com/sitemaps/pages-1.xml</loc><lastmod>2024-03-06T00:00:00.000Z</lastmod></sitemap></sitemapindex>";
    assert!(index.text().ends_with(file), "{}", index.text());
    let links = concat!(
        r#"<xhtml:link rel="alternate" hreflang="en" href="https://example.com/en/contact"/>"#,
        r#"<xhtml:link rel="alternate" hreflang="de" href="https://example.com/de/kontakt"/>"#,
        r#"<xhtml:link rel="alternate" hreflang="x-default" href="https://example.com/en/contact"/>"#
    );
    let file = http::get(service.addr(), "/sitemaps/main/pages-1.xml");
    assert_eq!(file.status, 200);
    for (loc, rest) in [
        ("en/contact", format!("<lastmod>2024-03-06T00:00:00.000Z</lastmod>{links}")),
        ("de/kontakt", format!("<lastmod>2024-03-06T00:00:00.000Z</lastmod>{links}")),
        ("en/help", String::new()),
    ] {
        let url = format!("<url><loc>https://example.com/{loc}</loc>{rest}</url>");
        assert!(file.text().contains(&url), "{url} is missing in {}", file.text());
    }
    assert_eq!(file.text().matches("<url>").count(), 3);
    let list = data(&service, "/api/build-sitemap?site=main&contentType=pages");
    assert_eq!(list["count"], 3);
    let rows = data(&service, "/api/pages?site=main&contentType=pages&unlisted=true");
    let row = |path: &str, locale: &str, page: &str, modified: Option<&str>, listed: bool| {
        json!({
            "path": path, "url": format!("https://example.com{path}"), "locale": locale,
            "page": page, "lastModified": modified, "listed": listed,
        })
    };
    let date = Some("2024-03-06T00:00:00.000Z");
    assert_eq!(
        rows["pages"],
        json!([
            row("/en/contact", "en", "contact", date, true),
            row("/en/help", "en", "help", None, true),
            row("/en/search", "en", "search", None, false),
            row("/de/kontakt", "de", "contact", date, true),
            row("/de/search", "de", "search", None, false),
        ])
    );
    let later = data(&service, "/api/pages?site=main&since=2024-03-07T00:00:00Z");
    let paths: Vec<&str> = later["pages"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| row["path"].as_str().expect("text"))
        .collect();
    assert_eq!(paths, ["/en/about", "/en/help/first", "/de/contact", "/en/help"]);
}

#[test]
fn commands_write_and_explain_pages() {
    let setup = settings(PAGES).setup();
    let pages = setup.run(&["pages", "--site", "main", "--content-type", "pages"]);
    assert_eq!(pages.status, Some(0), "{}", pages.stderr);
    assert_eq!(pages.stdout.matches(r#""page":"#).count(), 3, "{}", pages.stdout);
    let out = setup.path().join("out");
    let out = out.to_str().expect("a path in UTF-8");
    let files = setup.run(&["sitemap", "--site", "main", "--out", out]);
    assert_eq!(files.status, Some(0), "{}", files.stderr);
    for name in ["pages-1.xml", "index.xml"] {
        let text = std::fs::read_to_string(setup.path().join("out").join(name));
        assert!(text.expect("the file was written").contains(if name == "index.xml" {
            "pages-1.xml"
        } else {
            "/en/contact"
        }));
    }
    let explained = setup.run(&["explain", "--site", "main", "/en/contact"]);
    let text = "page contact, outside the CMS: no document has a URL with this path";
    assert!(explained.stdout.contains(text), "{} {}", explained.stdout, explained.stderr);
    let checked = setup.run(&["check"]);
    let note = "note: site main: a rule can build the path of the page contact";
    assert!(checked.stdout.contains(note), "{} {}", checked.stdout, checked.stderr);
}

#[test]
fn mistake_in_a_page_is_a_problem_with_its_place_and_its_cure() {
    for (page, expected) in [
        ("name = \"a b\"\npath = \"/a\"", "page 1 (a b): a name must have 1 to 64 letters"),
        ("name = \"a\"\npath = \"a\"", "page 1 (a), path: "),
        ("name = \"a\"\npath = \"/a%20b\"", "page 1 (a), path: "),
        ("name = \"a\"\npath = \"/a/\"", "page 1 (a), path: "),
        ("name = \"a\"\npath = \"/{slug}\"", "`{slug}` needs a document, and a page has none"),
        ("name = \"a\"\npath = {}", "page 1 (a): `path` needs a path for at least one locale"),
        (
            "name = \"a\"\npath = { den = \"/a\" }",
            "page 1 (a), path.den: the site has no locale `den`",
        ),
        (
            "name = \"a\"\npath = \"/a\"\nlastmod = \"2024-13-01\"",
            "page 1 (a), lastmod: \"2024-13-01\" is not a date such as 2024-03-06",
        ),
        (
            "name = \"a\"\npath = \"/a\"\nsitmap = true",
            "`sitmap` is not a setting; did you mean `sitemap`?",
        ),
        (
            "name = \"a\"\npath = \"/a\"\n[[site.page]]\nname = \"a\"\npath = \"/b\"",
            "page 2 (a): page 1 has the same name: rename one of them",
        ),
        (
            "name = \"a\"\npath = \"/a\"\n[[site.page]]\nname = \"b\"\npath = { de = \"/a\" }",
            "page 2 (b): the page `a` has the path /a on the same host",
        ),
    ] {
        let ended = settings(&format!("[[site.page]]\n{page}")).run(&["check"]);
        assert_eq!(ended.status, Some(78), "{page}: {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{expected} is missing in\n{}", ended.stderr);
    }
}
