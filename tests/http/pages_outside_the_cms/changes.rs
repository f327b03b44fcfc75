//! Documents that get the path of a page, and lose it again, while a webhook reports each change.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{PAGES, data, settings};
use crate::support::cms::Cms;
use crate::support::content::{Content, Query};
use crate::support::hook::{SECRET, post_body};
use crate::support::http::{self, Response};
use crate::support::service::{Service, Setup};
use crate::support::wait::until_so;

const UID: &str = "api::page.page";
const LIST: &str = "/api/build-sitemap?site=main&contentType=api::page.page";

/// The documents are not read before they are requested.
fn setup(cms: &Cms, field: &str) -> Setup {
    settings(PAGES).with(field).strapi(cms).env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
}

fn changed(service: &Service, id: &str) {
    let event = json!({
        "event": "entry.publish", "uid": UID, "entry": {"documentId": id, "locale": "en"},
    });
    assert!(post_body(service, event.to_string().as_bytes()).starts_with("HTTP/1.1 202 "));
}

fn batch(service: &Service, documents: &[(&str, &str)]) -> Response {
    let item =
        |(id, locale): &(&str, &str)| json!({"uid": UID, "documentId": id, "locale": locale});
    let items: Vec<Value> = documents.iter().map(item).collect();
    let body = json!({"documents": items}).to_string();
    let length = body.len().to_string();
    let headers = [("Content-Length", length.as_str())];
    http::send_with(service.addr(), "POST", "/api/frontend-urls?site=main", &headers, &body)
}

/// The path of each result, or its reason.
fn found(response: &Response) -> Vec<String> {
    assert_eq!(response.status, 200, "{}", response.text());
    let results = response.json()["data"]["results"].as_array().expect("a list").clone();
    let text = |one: &Value| one.get("path").or(one.get("reason")).expect("one of both").clone();
    results.iter().map(|one| text(one).as_str().expect("text").to_owned()).collect()
}

#[test]
fn rename_to_the_path_of_a_page_and_away_is_seen_without_a_walk() {
    let content = Content::new(&[("en", "a", "about"), ("en", "b", "contact-us")]);
    let cms = content.start();
    let service = setup(&cms, "").env("RUST_LOG", "info").start();
    let owner = |path: &str| {
        let found = data(&service, &format!("/api/resolve?site=main&pathname={path}"));
        [found["kind"].clone(), found["page"].clone(), found["documentId"].clone()]
    };
    let page = [json!("page"), json!("contact"), Value::Null];
    let none = [json!("none"), Value::Null, Value::Null];
    assert_eq!(data(&service, LIST)["count"], 2);
    assert_eq!(owner("/en/contact-us"), [json!("document"), Value::Null, json!("b")]);
    for (slug, before) in [("contact", "contact-us"), ("search", "contact"), ("help", "search")] {
        content.publish("en", "b", slug);
        changed(&service, "b");
        until_so("the document has lost its URL", || data(&service, LIST)["count"] == 1);
        let is_seen = || data(&service, "/api/problems?site=main")["count"] == 1;
        until_so("the problem is listed", is_seen);
        let url = format!("/api/frontend-url?uid={UID}&locale=en&documentId=b");
        let details = http::get(service.addr(), &url).json()["error"]["details"].clone();
        let reason = json!({"reason": "path_taken_by_page", "rule": "/{locale}/{*slug}"});
        assert_eq!(details, reason);
        assert_eq!(found(&batch(&service, &[("b", "en")])), ["path_taken_by_page"]);
        if before == "contact-us" {
            assert_eq!(owner("/en/contact-us"), none);
        }
        assert_eq!(owner("/en/contact"), page);
    }
    content.publish("en", "b", "write-to-us");
    changed(&service, "b");
    let has_url = || owner("/en/write-to-us")[2] == "b";
    until_so("the document has a URL again", has_url);
    assert_eq!(data(&service, LIST)["count"], 2);
    assert_eq!(data(&service, "/api/problems?site=main")["count"], 0);
    assert_eq!(service.log().matches("a snapshot is built").count(), 1);
}

#[test]
fn own_path_that_is_that_of_a_page_gives_a_document_no_url() {
    let content = Content::new(&[("en", "a", "about")]);
    content.put("en", "b", r#","slug":"b","customPath":"b/own""#);
    content.put("en", "a", r#","slug":"about","customPath":null"#);
    let cms = content.start();
    let service = setup(&cms, "path_field = \"customPath\"").env("RUST_LOG", "info").start();
    assert_eq!(data(&service, LIST)["count"], 2);
    for own in ["contact", "/contact"] {
        content.put("en", "b", &format!(r#","slug":"b","customPath":"{own}""#));
        changed(&service, "b");
        let is_seen = || found(&batch(&service, &[("b", "en")])) == ["path_taken_by_page"];
        until_so("the page has taken the path", is_seen);
        let resolved = data(&service, "/api/resolve?site=main&pathname=/en/contact");
        assert_eq!(resolved["page"], "contact");
        // No path of the template in its place.
        let resolved = data(&service, "/api/resolve?site=main&pathname=/en/b");
        assert_eq!(resolved["kind"], "none");
        content.put("en", "b", r#","slug":"b","customPath":"contact/own""#);
        changed(&service, "b");
        until_so("the document has a path again", || {
            found(&batch(&service, &[("b", "en")])) == ["/en/contact/own"]
        });
        let resolved = data(&service, "/api/resolve?site=main&pathname=/en/contact/own");
        assert_eq!(resolved["documentId"], "b");
        let parent = json!([
            {"path": "/en/contact", "url": "https://example.com/en/contact", "page": "contact"},
        ]);
        assert_eq!(resolved["breadcrumbs"], parent);
    }
    assert_eq!(service.log().matches("a snapshot is built").count(), 1);
}

#[test]
fn batch_has_the_same_results_with_and_without_a_snapshot() {
    let content = Content::default();
    for (id, fields) in [
        ("plain", r#","slug":"plain","customPath":null"#),
        ("blank", r#","slug":"blank","customPath":" ""#),
        ("own", r#","slug":"own","customPath":"/summer/sale""#),
        ("bad", r#","slug":"bad","customPath":"a//b""#),
        ("taken", r#","slug":"contact","customPath":null"#),
        ("taken-own", r#","slug":"x","customPath":"help""#),
    ] {
        content.put("en", id, fields);
    }
    content.put("de", "own", r#","slug":"eigen","customPath":"kontakt""#);
    // The walk at the start waits for the first batch.
    let is_first = Arc::new(AtomicBool::new(true));
    let is_walk = |target: &str| Query::parse(target).is_some_and(|query| query.ids.is_empty());
    let of_walk = Arc::clone(&is_first);
    content.fail(move |target| {
        while is_walk(target) && of_walk.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(5));
        }
        None
    });
    let cms = content.start();
    let service = setup(&cms, "path_field = \"customPath\"").start();
    let wanted = [
        ("plain", "en"),
        ("blank", "en"),
        ("own", "en"),
        ("own", "de"),
        ("bad", "en"),
        ("taken", "en"),
        ("taken-own", "en"),
        ("plain", "de"),
    ];
    let expected = [
        "/en/plain",
        "/en/blank",
        "/en/summer/sale",
        "path_taken_by_page",
        "customPath_empty_segment",
        "path_taken_by_page",
        "path_taken_by_page",
        "no_version",
    ];
    let cold = batch(&service, &wanted);
    assert_eq!(cold.header("age"), None, "no snapshot was used");
    assert_eq!(found(&cold), expected);
    is_first.store(false, Ordering::Relaxed);
    until_so("the walk ends", || batch(&service, &wanted).header("age").is_some());
    let warm = batch(&service, &wanted);
    assert_eq!(warm.json()["data"], cold.json()["data"]);
    let rule = &warm.json()["data"]["results"][5]["rule"];
    assert_eq!(rule, "/{locale}/{*slug}");
}
