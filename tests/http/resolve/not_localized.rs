//! A document that is not localized has one URL, in the site's first locale. A path with another
//! locale resolves to it.

use serde_json::{Value, json};

use super::until;
use crate::support::cms::Cms;
use crate::support::front_of_cms::{list, refusal};
use crate::support::http;
use crate::support::settings::{Settings, site};

const CONTENT: &str = r#"{
  "api::page.page": [
    {"documentId": "p1", "locale": "en", "slug": "about"},
    {"documentId": "p2", "locale": "de", "slug": "taken"},
    {"documentId": "p4", "locale": "de", "slug": "planned", "status": "draft"}
  ],
  "api::notice.notice": [
    {"documentId": "n1", "slug": "imprint"},
    {"documentId": "n2", "locale": null, "slug": "taken"},
    {"documentId": "n3", "locale": "en", "slug": "english"},
    {"documentId": "n4", "slug": "terms", "status": "draft"},
    {"documentId": "n5", "slug": "planned", "status": "draft"},
    {"documentId": "n6", "locale": "en", "slug": "localized", "status": "draft"}
  ]
}"#;

/// `main`, and `short` without a segment for the first locale.
fn settings() -> Settings {
    let main = rules(site("main"));
    rules(main.site("short").set("locale_prefix = \"except-default\"")).files(CONTENT)
}

fn rules(settings: Settings) -> Settings {
    settings
        .locales(&["en", "de"])
        .resolve("documents")
        .rule("api::page.page", "/{locale}/{slug}")
        .rule("api::notice.notice", "/{locale}/{slug}")
}

#[test]
fn resolve_of_another_locale_finds_a_document_that_is_not_localized() {
    let service = settings().start();
    for key in ["main", "short"] {
        let target = format!("/api/resolve?site={key}&pathname=/de/nothing");
        until(&service, &target, |response| response.status == 200);
    }
    for (key, pathname, id, canonical) in [
        ("main", "/en/imprint", Some("n1"), Some("/en/imprint")),
        ("main", "/de/imprint", Some("n1"), Some("/en/imprint")),
        ("main", "/de//imprint/", Some("n1"), Some("/en/imprint")),
        // A document that has the path owns it.
        ("main", "/de/taken", Some("p2"), Some("/de/taken")),
        ("main", "/en/taken", Some("n2"), Some("/en/taken")),
        // There is no fallback for documents that are localized.
        ("main", "/de/about", None, None),
        ("main", "/de/english", None, None),
        ("short", "/imprint", Some("n1"), Some("/imprint")),
        ("short", "/de/imprint", Some("n1"), Some("/imprint")),
    ] {
        let target = format!("/api/resolve?site={key}&pathname={pathname}");
        let response = http::get(service.addr(), &target);
        let data = &response.json()["data"];
        let url = canonical.map(|path| format!("https://www.example.com{path}"));
        let found = (&data["documentId"], &data["canonicalUrl"], &data["alternates"]["en"]);
        let own = if id.is_some_and(|id| id != "p2") { json!(url) } else { Value::Null };
        assert_eq!(found, (&json!(id), &json!(url), &own), "{target}");
        let uid = if id.is_some_and(|id| id.starts_with('n')) { "notice" } else { "page" };
        assert_eq!(data["matched"]["collectionType"], format!("api::{uid}.{uid}"), "{target}");
        let locale = if pathname.starts_with("/de") { "de" } else { "en" };
        assert_eq!(data["matched"]["params"]["locale"], locale, "{target}");
        let resolved_by = if id.is_some() { "documents" } else { "rules" };
        assert_eq!(response.header("x-resolved-by").as_deref(), Some(resolved_by), "{target}");
        let matched = http::get(service.addr(), &target.replace("resolve", "get-content-type"));
        assert_eq!(matched.json()["data"]["matched"], data["matched"], "{target}");
    }
}

#[test]
fn draft_that_is_not_localized_is_found_at_the_path_of_another_locale() {
    let service = settings().start();
    for (key, pathname, found) in [
        ("main", "/en/terms", Some(("n4", "/en/terms"))),
        ("main", "/de/terms", Some(("n4", "/en/terms"))),
        ("short", "/de/terms", Some(("n4", "/terms"))),
        // A draft that has the path itself.
        ("main", "/de/planned", Some(("p4", "/de/planned"))),
        ("main", "/en/planned", Some(("n5", "/en/planned"))),
        // There is no fallback for documents that are localized.
        ("main", "/de/localized", None),
    ] {
        let target = format!("/api/resolve?site={key}&pathname={pathname}&status=draft");
        let response = http::get(service.addr(), &target);
        let data = &response.json()["data"];
        let (id, path) = found.unzip();
        assert_eq!(
            (&data["documentId"], &data["canonicalPath"]),
            (&json!(id), &json!(path)),
            "{target}"
        );
        assert_eq!(data["isCanonical"], json!(path.map(|path| path == pathname)), "{target}");
        let uid = if id.is_some_and(|id| id.starts_with('n')) { "notice" } else { "page" };
        assert_eq!(data["matched"]["collectionType"], format!("api::{uid}.{uid}"), "{target}");
        let locale = if pathname.starts_with("/de") { "de" } else { "en" };
        assert_eq!(data["matched"]["params"]["locale"], locale, "{target}");
    }
}

/// Strapi refuses `fields` with the locale of a type that is not localized, and ignores the parameter.
#[test]
fn draft_of_a_type_without_localization_is_found_at_the_path_of_another_locale() {
    let cms = Cms::start(|target| match target.split('?').next() {
        Some("/api/notice") if target.contains("]=locale") => {
            let details = r#"{"key":"locale","path":null,"source":"query","param":"fields"}"#;
            refusal(400, "ValidationError", details)
        }
        Some("/api/notice") => list(&[("n4", r#","slug":"terms""#)], 100, 1),
        _ => list(&[], 100, 0),
    });
    let service = rules(site("main")).strapi(&cms).singular_endpoints().start();
    for pathname in ["/en/terms", "/de/terms"] {
        let target = format!("/api/resolve?site=main&pathname={pathname}&status=draft");
        let response = http::get(service.addr(), &target);
        let data = &response.json()["data"];
        let found = (&data["documentId"], &data["canonicalPath"], &data["isCanonical"]);
        let is_canonical = json!(pathname == "/en/terms");
        assert_eq!(found, (&json!("n4"), &json!("/en/terms"), &is_canonical), "{target}");
    }
}
