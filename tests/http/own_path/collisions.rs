//! Own paths that other documents have too.

use serde_json::{Value, json};

use super::{data, get, known, settings};
use crate::support::settings::site;
use crate::support::wait::until_so;

/// `en/pages/one` of the template, and the same path as an own one; the same own path twice; and one
/// own path of two content types.
const CONTENT: &str = r#"{
  "api::page.page": [
    {"documentId": "a", "locale": "en", "slug": "one"},
    {"documentId": "b", "locale": "en", "slug": "x", "customPath": "pages/one", "hidden": true},
    {"documentId": "d", "locale": "en", "slug": "d", "customPath": "same"},
    {"documentId": "c", "locale": "en", "slug": "c", "customPath": "/same"},
    {"documentId": "e", "locale": "en", "slug": "e", "customPath": "same", "hidden": true},
    {"documentId": "f", "locale": "en", "slug": "f", "customPath": "news/n"},
    {"documentId": "g", "locale": "en", "slug": "g", "customPath": "deutsch"}],
  "api::news.news": [
    {"documentId": "n", "locale": "en", "slug": "n"}],
  "api::note.note": [
    {"documentId": "o", "locale": "en", "slug": "o", "seo": {"path": "en/same"}},
    {"documentId": "q", "locale": "en", "slug": "q", "seo": {"path": "deutsch/pages/p"}}]
}"#;

#[test]
fn document_whose_own_path_it_is_owns_a_path() {
    let service = known(&settings().files(CONTENT));
    for (path, owner) in [
        ("/en/pages/one", "b"),
        ("/en/same", "c"),
        ("/en/news/n", "f"),
        ("/en/deutsch", "g"),
        ("/deutsch/pages/p", "q"),
    ] {
        let target = format!("/api/resolve?site=main&pathname={path}");
        assert_eq!(data(&service, &target)["documentId"], owner, "{path}");
    }
    let target = "/api/get-content-type?site=main&pathname=/deutsch/pages/p";
    assert_eq!(data(&service, target)["matched"]["collectionType"], "api::note.note");
}

#[test]
fn problems_list_the_shared_paths_in_the_order_of_ownership() {
    let service = known(&settings().files(CONTENT));
    let problems = data(&service, "/api/problems?site=main");
    let rows = problems["problems"].as_array().expect("a list");
    let shared: Vec<Value> = rows
        .iter()
        .filter(|row| row["kind"] == "shared_path")
        .map(|row| {
            let others = row["others"].as_array().expect("a list").iter();
            let documents = std::iter::once(&row["owner"]).chain(others);
            let ids: Vec<&Value> = documents.map(|own| &own["documentId"]).collect();
            json!([row["path"], ids])
        })
        .collect();
    let expected = [
        json!(["/en/news/n", ["f", "n"]]),
        json!(["/en/pages/one", ["b", "a"]]),
        json!(["/en/same", ["c", "d", "e", "o"]]),
    ];
    assert_eq!(shared, expected, "{problems}");
}

#[test]
fn sitemap_has_a_shared_path_once_and_leaves_out_that_of_an_owner_that_is_not_listed() {
    let service = known(&settings().files(CONTENT));
    let list = data(&service, "/api/build-sitemap?site=main&contentType=api::page.page");
    let base = "https://www.example.com/base";
    let expected = ["/en/deutsch", "/en/news/n", "/en/same"].map(|path| format!("{base}{path}"));
    assert_eq!(list["urls"], json!(expected));
}

/// `own` and `plain` are not localized: the German paths lead to them, unless a document has those.
fn hidden(status: &str) -> String {
    let with = |rows: &[&str]| {
        let rows = rows.iter().map(|row| format!("{{{row}, \"status\": \"{status}\"}}"));
        rows.collect::<Vec<_>>().join(",")
    };
    let a = with(&[
        r#""documentId": "own", "path": "x", "own": "c/own""#,
        r#""documentId": "free", "path": "y", "own": "c/free""#,
        r#""documentId": "german", "locale": "de", "path": "c/plain""#,
    ]);
    let b = with(&[r#""documentId": "hidden", "locale": "de", "path": "c/own""#]);
    let c = with(&[
        r#""documentId": "plain", "slug": "plain""#,
        r#""documentId": "bare", "slug": "bare""#,
    ]);
    format!(r#"{{"api::a.a": [{a}], "api::b.b": [{b}], "api::c.c": [{c}]}}"#)
}

#[test]
fn path_of_a_document_that_a_more_specific_rule_hides_leads_to_no_other_document() {
    for status in ["published", "draft"] {
        // The rule of `c` is more specific than the others, which list documents at such paths.
        let service = site("main")
            .locales(&["en", "de"])
            .resolve("documents")
            .rule("api::a.a", "/{locale}/{*path}")
            .with("path_field = \"own\"")
            .rule("api::b.b", "/{locale}/{*path}")
            .rule("api::c.c", "/{locale}/c/{slug}")
            .files(&hidden(status))
            .start();
        let is_known = |path: &str| {
            let target = format!("/api/resolve?site=main&pathname={path}");
            get(&service, &target).status == 200
        };
        until_so("the documents are known", || {
            ["/de/c/none", "/de/x/none"].map(is_known) == [true; 2]
        });
        for (path, id, canonical) in [
            ("/en/c/own", Some("own"), Some("/en/c/own")),
            ("/de/c/free", Some("free"), Some("/en/c/free")),
            ("/de/c/bare", Some("bare"), Some("/en/c/bare")),
            // In the sitemap, as the path of a document that the rule of another type hides.
            ("/de/c/own", None, None),
            ("/de/c/plain", None, None),
        ] {
            let target = format!("/api/resolve?site=main&pathname={path}&status={status}");
            let found = data(&service, &target);
            let shown = (&found["documentId"], &found["canonicalPath"]);
            assert_eq!(shown, (&json!(id), &json!(canonical)), "{target}");
            let kind = if id.is_some() { "document" } else { "none" };
            assert_eq!(found["kind"], kind, "{target}");
        }
        if status == "published" {
            let pages = data(&service, "/api/pages?site=main&locale=de");
            let rows = pages["pages"].as_array().expect("a list");
            let paths: Vec<_> = rows.iter().map(|row| row["path"].as_str()).collect();
            assert_eq!(paths, [Some("/de/c/plain"), Some("/de/c/own")]);
        }
    }
}
