//! Documents with a path of their own, in place of that of the template: `path_field` of a rule.

mod collisions;
mod drafts;
mod explained;
mod knowledge;
mod mistakes;
mod other_hosts;
mod updates;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::api::{data, get};
use crate::support::http;
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

const CONTENT: &str = r#"{
  "api::page.page": [
    {"documentId": "plain", "locale": "en", "slug": "plain", "customPath": null},
    {"documentId": "blank", "locale": "en", "slug": "blank", "customPath": "  "},
    {"documentId": "sale", "locale": "en", "slug": "sale", "customPath": "/summer/sale"},
    {"documentId": "sale", "locale": "de", "slug": "verkauf", "customPath": "Sommer schluß"},
    {"documentId": "child", "locale": "en", "slug": "a/b", "customPath": "summer/sale/shoes"},
    {"documentId": "news", "locale": "en", "slug": "takes", "customPath": "news/first"},
    {"documentId": "hidden", "locale": "en", "slug": "hidden", "customPath": "secret", "hidden": true},
    {"documentId": "bad", "locale": "en", "slug": "bad", "customPath": "a//b"},
    {"documentId": "root", "locale": "en", "slug": "root", "customPath": "/"},
    {"documentId": "kind", "locale": "en", "slug": "kind", "customPath": true}
  ],
  "api::news.news": [
    {"documentId": "n1", "locale": "en", "slug": "first"},
    {"documentId": "n2", "locale": "en", "slug": "second"}
  ],
  "api::note.note": [
    {"documentId": "o1", "slug": "one", "seo": {"path": "imprint.html"}},
    {"documentId": "o2", "slug": "two"}
  ]
}"#;

fn settings() -> Settings {
    site("main")
        .front_end_url("https://www.example.com/base")
        .locales(&["en", r#"{ code = "de", segment = "deutsch" }"#])
        .resolve("documents")
        .rule("api::page.page", "/{locale}/pages/{slug}")
        .with("path_field = \"customPath\"\nexclude_when = { hidden = true }")
        .rule("api::news.news", "/{locale}/news/{slug}")
        .rule("api::note.note", "/notes/{slug}")
        .with("path_field = \"seo.path\"")
        .files(CONTENT)
}

/// Once the documents are known.
fn known(settings: &Settings) -> Service {
    let service = settings.start();
    // No rule matches, so that a document of each type with a path field could own it.
    let is_known = || get(&service, "/api/resolve?site=main&pathname=/x/y/z").status == 404;
    until_so("the documents with own paths", is_known);
    until_so("the news", || {
        get(&service, "/api/resolve?site=main&pathname=/deutsch/news/x").status == 200
    });
    service
}

#[test]
fn own_path_wins_over_every_rule_in_both_operations() {
    let service = known(&settings());
    for (path, uid, id, rule) in [
        ("/en/summer/sale", "api::page.page", "sale", "/{locale}/pages/{slug}"),
        ("/en/summer/sale/", "api::page.page", "sale", "/{locale}/pages/{slug}"),
        ("/deutsch/Sommer%20schlu%C3%9F", "api::page.page", "sale", "/{locale}/pages/{slug}"),
        ("/en/news/first", "api::page.page", "news", "/{locale}/pages/{slug}"),
        ("/en/secret", "api::page.page", "hidden", "/{locale}/pages/{slug}"),
        ("/imprint.html", "api::note.note", "o1", "/notes/{slug}"),
    ] {
        let locale = if path.starts_with("/deutsch") { "de" } else { "en" };
        let query = format!("site=main&pathname={}", http::query(path));
        let matched = data(&service, &format!("/api/get-content-type?{query}"));
        let expected = json!({
            "site": "main", "pathname": path, "locale": locale,
            "matched": {"collectionType": uid, "rule": rule, "params": {"locale": locale}},
        });
        assert_eq!(matched, expected, "{path}");
        let resolved = data(&service, &format!("/api/resolve?{query}"));
        for member in ["site", "pathname", "locale", "matched"] {
            assert_eq!(resolved[member], expected[member], "{path}");
        }
        assert_eq!((&resolved["kind"], &resolved["documentId"]), (&json!("document"), &json!(id)));
        for operation in ["get-content-type", "resolve"] {
            let response = get(&service, &format!("/api/{operation}?{query}"));
            assert_eq!(response.header("x-resolved-by").as_deref(), Some("documents"));
        }
    }
    let compact = "/api/get-content-type?site=main&pathname=/en/summer/sale&compact=true";
    assert_eq!(data(&service, compact), json!({"contentType": "api::page.page"}));
}

#[test]
fn path_of_the_template_is_not_a_path_of_the_document() {
    let service = known(&settings());
    for (path, expected) in [
        ("/en/pages/plain", Some("plain")),
        ("/en/pages/blank", Some("blank")),
        ("/notes/two", Some("o2")),
        ("/en/pages/sale", None),
        ("/en/pages/bad", None),
        ("/en/pages/root", None),
        ("/notes/one", None),
    ] {
        let resolved = data(&service, &format!("/api/resolve?site=main&pathname={path}"));
        assert_eq!(resolved["documentId"].as_str(), expected, "{path}");
        assert_eq!(resolved["kind"], if expected.is_some() { "document" } else { "none" });
    }
    // Of the news, `n1` has lost its path to the page with this own path, and `n2` has its path.
    let taken = data(&service, "/api/resolve?site=main&pathname=/en/news/first");
    assert_eq!(taken["documentId"], "news");
    let news = data(&service, "/api/resolve?site=main&pathname=/en/news/second");
    assert_eq!(news["documentId"], "n2");
}

#[test]
fn resolution_has_canonical_path_alternates_and_breadcrumbs() {
    let service = known(&settings());
    let resolved = data(&service, "/api/resolve?site=main&pathname=/en/summer/sale/shoes/");
    assert_eq!(resolved["canonicalPath"], "/en/summer/sale/shoes");
    assert_eq!(resolved["canonicalUrl"], "https://www.example.com/base/en/summer/sale/shoes");
    assert_eq!(resolved["isCanonical"], false);
    let parents = resolved["breadcrumbs"].as_array().expect("a list");
    let parents: Vec<_> = parents.iter().map(|own| own["documentId"].as_str()).collect();
    assert_eq!(parents, [Some("sale")]);
    let sale = data(&service, "/api/resolve?site=main&pathname=/en/summer/sale");
    let expected = json!({
        "en": "https://www.example.com/base/en/summer/sale",
        "de": "https://www.example.com/base/deutsch/Sommer%20schlu%C3%9F",
        "x-default": "https://www.example.com/base/en/summer/sale",
    });
    assert_eq!((&sale["alternates"], &sale["isCanonical"]), (&expected, &json!(true)));
}

#[test]
fn document_has_its_own_url_or_a_reason_with_the_name_of_the_field() {
    let service = known(&settings());
    let batch: Vec<String> = ["sale", "plain", "bad", "root", "kind"].map(str::to_owned).into();
    let url = |id: &str, locale: &str| {
        let query = format!("uid=api::page.page&documentId={id}&locale={locale}");
        get(&service, &format!("/api/frontend-url?{query}")).json()
    };
    assert_eq!(url("sale", "en")["data"]["path"], "/en/summer/sale");
    assert_eq!(url("sale", "de")["data"]["path"], "/deutsch/Sommer%20schlu%C3%9F");
    assert_eq!(url("child", "en")["data"]["path"], "/en/summer/sale/shoes");
    assert_eq!(url("plain", "en")["data"]["path"], "/en/pages/plain");
    for (id, reason) in [
        ("bad", "customPath_empty_segment"),
        ("root", "customPath_empty"),
        ("kind", "customPath_not_string"),
    ] {
        let expected = json!({"reason": reason, "rule": "/{locale}/pages/{slug}"});
        assert_eq!(url(id, "en")["error"]["details"], expected, "{id}");
    }
    let note = get(&service, "/api/frontend-url?uid=api::note.note&documentId=o1").json();
    assert_eq!(note["data"]["url"], "https://www.example.com/base/imprint.html");
    let targets: Vec<Value> = batch
        .iter()
        .map(|id| json!({"uid": "api::page.page", "documentId": id, "locale": "en"}))
        .collect();
    let body = json!({"documents": targets}).to_string();
    let length = body.len().to_string();
    let headers = [("Content-Length", length.as_str())];
    let response =
        http::send_with(service.addr(), "POST", "/api/frontend-urls?site=main", &headers, &body);
    assert_eq!(response.status, 200, "{}", response.text());
    for (id, result) in batch.iter().zip(response.json()["data"]["results"].as_array().unwrap()) {
        let single = url(id, "en");
        assert_eq!(result["path"], single["data"]["path"], "{result}");
        assert_eq!(result["reason"], single["error"]["details"]["reason"], "{result}");
    }
}

#[test]
fn lists_files_and_tables_have_the_own_paths() {
    let service = known(&settings().set("trailing_slash = \"always\""));
    let list = data(&service, "/api/build-sitemap?site=main&contentType=api::page.page");
    let base = "https://www.example.com/base";
    let expected = [
        "/en/news/first/",
        "/en/pages/blank/",
        "/en/pages/plain/",
        "/en/summer/sale/",
        "/en/summer/sale/shoes/",
        "/deutsch/Sommer%20schlu%C3%9F/",
    ];
    assert_eq!(list["urls"], json!(expected.map(|path| format!("{base}{path}"))));
    let pages = data(&service, "/api/pages?site=main&contentType=api::page.page&unlisted=true");
    let pages = pages["pages"].as_array().expect("a list").clone();
    let paths: BTreeSet<&str> = pages.iter().filter_map(|page| page["path"].as_str()).collect();
    assert_eq!(paths, expected.into_iter().chain(["/en/secret/"]).collect());
    for page in pages {
        assert_eq!(page["rule"], "/{locale}/pages/{slug}");
        let target =
            format!("/api/get-content-type?site=main&pathname={}", page["path"].as_str().unwrap());
        assert_eq!(data(&service, &target)["matched"]["params"], page["params"], "{page}");
        let is_own = !page["path"].as_str().unwrap().contains("/pages/");
        assert_eq!(page["params"].get("slug").is_none(), is_own, "{page}");
    }
    let note = data(&service, "/api/build-sitemap?site=main&contentType=api::note.note");
    assert_eq!(
        note["urls"],
        json!([format!("{base}/imprint.html/"), format!("{base}/notes/two/")])
    );
}

#[test]
fn locale_is_left_out_for_the_default_locale() {
    let settings = settings().set("locale_prefix = \"except-default\"");
    let service = known(&settings);
    for (path, locale) in [("/summer/sale", "en"), ("/deutsch/Sommer%20schlu%C3%9F", "de")] {
        for operation in ["get-content-type", "resolve"] {
            let target = format!("/api/{operation}?site=main&pathname={}", http::query(path));
            assert_eq!(data(&service, &target)["matched"]["params"], json!({"locale": locale}));
        }
    }
    let refused = CONTENT.replace("\"summer/sale/shoes\"", "\"deutsch/shoes\"");
    let service = known(&settings.files(&refused));
    let target = "/api/frontend-url?uid=api::page.page&documentId=child";
    let details = get(&service, target).json()["error"]["details"].clone();
    assert_eq!(details["reason"], "customPath_not_allowed");
}

#[test]
fn later_rule_does_not_build_a_path_in_place_of_an_unusable_own_path() {
    let service = known(&settings().rule("api::page.page", "/{locale}/other/{documentId}"));
    let target = "/api/frontend-url?uid=api::page.page&documentId=bad";
    let details = get(&service, target).json()["error"]["details"].clone();
    assert_eq!(details["reason"], "customPath_empty_segment");
}

#[test]
fn document_that_is_not_localized_is_found_in_other_locales() {
    let content = r#"{"api::page.page": [
        {"documentId": "one", "slug": "one", "customPath": "about"},
        {"documentId": "two", "locale": "de", "slug": "zwei", "customPath": "taken"},
        {"documentId": "six", "slug": "six", "customPath": "taken"}],
      "api::news.news": [], "api::note.note": []}"#;
    let service = known(&settings().files(content));
    for (path, id, locale, is_canonical) in [
        ("/en/about", "one", "en", true),
        ("/deutsch/about", "one", "de", false),
        ("/deutsch/taken", "two", "de", true),
        ("/en/taken", "six", "en", true),
    ] {
        let query = format!("site=main&pathname={}", http::query(path));
        let resolved = data(&service, &format!("/api/resolve?{query}"));
        assert_eq!((&resolved["documentId"], &resolved["locale"]), (&json!(id), &json!(locale)));
        assert_eq!(resolved["isCanonical"], is_canonical, "{path}");
        let matched = data(&service, &format!("/api/get-content-type?{query}"));
        assert_eq!(matched["matched"], resolved["matched"], "{path}");
    }
}

#[test]
fn path_without_a_locale_has_that_of_the_parameter_or_of_its_owner() {
    let content = r#"{"api::page.page": [], "api::news.news": [], "api::note.note": [
        {"documentId": "both", "locale": "en", "slug": "a", "seo": {"path": "both"}},
        {"documentId": "both", "locale": "de", "slug": "b", "seo": {"path": "both"}},
        {"documentId": "both", "locale": "fr", "slug": "c", "seo": {"path": "autre"}}]}"#;
    let locales = ["en", r#"{ code = "de", segment = "deutsch" }"#, "fr"];
    let service = known(&settings().locales(&locales).files(content));
    for (path, parameter, expected) in [
        ("/both", "", "en"),
        ("/both", "&locale=de", "de"),
        ("/autre", "", "fr"),
        // No version in an earlier locale can have the path.
        ("/autre", "&locale=en", "fr"),
        ("/autre", "&locale=es", "fr"),
    ] {
        for operation in ["get-content-type", "resolve"] {
            let target = format!("/api/{operation}?site=main&pathname={path}{parameter}");
            let found = data(&service, &target);
            assert_eq!(found["locale"], expected, "{target}");
            assert_eq!(found["matched"]["params"], json!({"locale": expected}), "{target}");
        }
    }
}

#[test]
fn own_path_belongs_to_the_host_of_its_locale() {
    let content = r#"{"api::page.page": [
        {"documentId": "p", "locale": "en", "slug": "a", "customPath": "x"},
        {"documentId": "p", "locale": "de", "slug": "b", "customPath": "x"}],
      "api::news.news": [],
      "api::note.note": [
        {"documentId": "n", "locale": "en", "slug": "a", "seo": {"path": "y"}},
        {"documentId": "n", "locale": "de", "slug": "b", "seo": {"path": "y"}},
        {"documentId": "m", "locale": "de", "slug": "c", "seo": {"path": "z"}}]}"#;
    let bases = r#"{ en = "https://example.com", de = "https://example.de" }"#;
    let service = known(&settings().front_end_url(bases).files(content));
    for (path, host, url, locale) in [
        ("/en/x", "", "https://example.com/en/x", "en"),
        ("/deutsch/x", "example.de", "https://example.de/deutsch/x", "de"),
        ("/y", "", "https://example.com/y", "en"),
        ("/y", "example.com", "https://example.com/y", "en"),
        ("/y", "example.de", "https://example.de/y", "de"),
        ("/z", "", "https://example.de/z", "de"),
        ("/z", "example.de", "https://example.de/z", "de"),
    ] {
        let query = format!("site=main&pathname={path}&host={host}&locale=en");
        let found = data(&service, &format!("/api/resolve?{query}"));
        assert_eq!((&found["canonicalUrl"], &found["locale"]), (&json!(url), &json!(locale)));
        let matched = data(&service, &format!("/api/get-content-type?{query}"));
        assert_eq!(matched["matched"], found["matched"], "{path} {host}");
    }
    let elsewhere = get(&service, "/api/resolve?site=main&pathname=/z&host=example.com");
    assert_eq!(elsewhere.status, 404, "{}", elsewhere.text());
}
