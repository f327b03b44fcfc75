//! Incremental updates: a change of the path field is seen like one of a slug.

use serde_json::Value;

use super::get;
use crate::support::content::Content;
use crate::support::hook::{SECRET, post_body};
use crate::support::service::Service;
use crate::support::settings::site;
use crate::support::wait::until_so;

const UID: &str = "api::page.page";

fn put(content: &Content, id: &str, own: &str) {
    content.put("en", id, &format!(r#","slug":"{id}","customPath":{own}"#));
}

fn changed(service: &Service, id: &str) {
    let event = format!(
        r#"{{"event":"entry.publish","model":"page","uid":"{UID}","entry":{{"documentId":"{id}","locale":"en"}}}}"#
    );
    assert!(post_body(service, event.as_bytes()).starts_with("HTTP/1.1 202 "));
}

fn owner(service: &Service, path: &str) -> Option<String> {
    let response = get(service, &format!("/api/resolve?site=main&pathname={path}"));
    let found: Value = response.json();
    found["data"]["documentId"].as_str().map(str::to_owned)
}

#[test]
fn change_of_the_path_field_is_seen_without_a_walk() {
    let content = Content::default();
    put(&content, "a", "null");
    put(&content, "b", "\"/offers/b\"");
    let cms = content.start();
    let service = site("main")
        .resolve("documents")
        .rule(UID, "/{locale}/pages/{slug}")
        .with("path_field = \"customPath\"")
        .strapi(&cms)
        .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
        .env("RUST_LOG", "info")
        .start();
    until_so("the pages are known", || owner(&service, "/en/pages/a").is_some());
    assert_eq!(owner(&service, "/en/offers/b").as_deref(), Some("b"));
    for (id, value, path, before) in [
        ("a", "\"offers/a\"", "/en/offers/a", "/en/pages/a"),
        ("b", "\"sale\"", "/en/sale", "/en/offers/b"),
        ("b", "\" \"", "/en/pages/b", "/en/sale"),
    ] {
        put(&content, id, value);
        changed(&service, id);
        until_so("the new path", || owner(&service, path).as_deref() == Some(id));
        assert_eq!(owner(&service, before), None);
    }
    put(&content, "a", "\"a//b\"");
    changed(&service, "a");
    until_so("the document has lost its path", || owner(&service, "/en/offers/a").is_none());
    let problems = get(&service, "/api/problems?site=main").text().to_owned();
    assert!(problems.contains("customPath_empty_segment"), "{problems}");
    assert_eq!(service.log().matches("a snapshot is built").count(), 1);
}
