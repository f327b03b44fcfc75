//! Paths of page trees, from content without a schema.

use crate::support::http;
use crate::support::settings::site;

#[test]
fn path_of_a_page_has_its_ancestors_or_is_missing() {
    let parent = |text: &str| format!(r#""slug": "c", "parent": {text}"#);
    let rows = [
        (parent("null"), "/c"),
        (parent("{}"), "/c"),
        (parent(r#"{"documentId": "p", "slug": "p"}"#), "/p/c"),
        // There is an ancestor, but its `documentId` or its slug is missing.
        (parent(r#"{"slug": "p"}"#), "path_missing"),
        (parent(r#"{"documentId": "p"}"#), "path_missing"),
        (parent(r#"{"documentId": "p", "slug": "p", "parent": {"slug": "q"}}"#), "path_missing"),
        (parent(r#"{"documentId": "d3", "slug": "p"}"#), "/p/c"),
        (parent(r#"{"documentId": "d7", "slug": "p"}"#), "path_ancestor_cycle"),
    ];
    let documents = rows.iter().enumerate();
    let documents: Vec<String> = documents
        .map(|(at, (fields, _))| format!(r#"{{"documentId": "d{at}", "locale": "en", {fields}}}"#))
        .collect();
    let content = format!(r#"{{"api::p.p": [{}]}}"#, documents.join(","));
    let service = site("main")
        .rule("api::p.p", "/{*path}")
        .with(r#"params.path = { field = "slug", ancestors = "parent", depth = 2 }"#)
        .files(&content)
        .start();
    for (at, (fields, expected)) in rows.iter().enumerate() {
        let target = format!("/api/frontend-url?uid=api::p.p&documentId=d{at}");
        let response = http::get(service.addr(), &target).json();
        let found = [&response["data"]["path"], &response["error"]["details"]["reason"]];
        let found: Vec<&str> = found.iter().filter_map(|text| text.as_str()).collect();
        assert_eq!(found, [*expected], "{fields}");
    }
}
