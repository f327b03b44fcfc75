//! Own paths that other documents have too.

use serde_json::{Value, json};

use super::{data, known, settings};
use crate::support::service::Setup;

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
    let service = known(Setup::new(&settings("")).file("content.json", CONTENT).start());
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
    let service = known(Setup::new(&settings("")).file("content.json", CONTENT).start());
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
    let service = known(Setup::new(&settings("")).file("content.json", CONTENT).start());
    let list = data(&service, "/api/build-sitemap?site=main&contentType=api::page.page");
    let base = "https://www.example.com/base";
    let expected = ["/en/deutsch", "/en/news/n", "/en/same"].map(|path| format!("{base}{path}"));
    assert_eq!(list["urls"], json!(expected));
}
