//! A service that starts while the CMS is down knows what an earlier one has stored.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::{
    LIST, PAGES, RESOLVE, TEMPLATE, content, folder, list, settings, state, take_down, until_state,
    until_stored, urls, with_store, written,
};
use crate::support::hook::post_body;
use crate::support::http::{self, Response};
use crate::support::service::Service;
use crate::support::wait::{until, until_so};

fn batch(service: &Service) -> Response {
    let body = json!({"documents": [
        {"uid": "api::article.article", "documentId": "d1", "locale": "de"},
        {"uid": "api::article.article", "documentId": "d2", "locale": "en"},
    ]});
    let body = body.to_string();
    let length = body.len().to_string();
    http::send_with(
        service.addr(),
        "POST",
        "/api/frontend-urls",
        &[("Content-Type", "application/json"), ("Content-Length", &length)],
        &body,
    )
}

/// The bodies of the operations that are served from snapshots.
fn operations(service: &Service) -> Vec<String> {
    let mut all: Vec<Response> =
        [LIST, PAGES, RESOLVE].map(|target| http::get(service.addr(), target)).into();
    all.push(batch(service));
    for response in &all {
        assert_eq!(response.status, 200, "{}", response.text());
    }
    all.iter().map(|response| response.text().to_owned()).collect()
}

fn age(response: &Response) -> u64 {
    response.header("age").and_then(|age| age.parse().ok()).expect("an age in seconds")
}

#[test]
fn operations_are_served_from_the_store_while_the_cms_is_down() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let mut first = with_store(&settings, &store).start();
    until_stored(&first);
    let before = operations(&first);
    assert_eq!(urls(&list(&first)).len(), 3);
    until_so("the snapshot has an age", || age(&list(&first)) >= 1);
    assert_eq!(first.signal("TERM"), Some(0));
    let mode = std::fs::metadata(&store).expect("the store is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    take_down(&content);
    let second = with_store(&settings, &store).start();
    assert_eq!(operations(&second), before, "at once, without waiting");
    assert_eq!(http::get(second.addr(), "/readyz").status, 200);
    let response = list(&second);
    assert!(age(&response) >= 1, "its age counts from the walk of the first process");
    until_so("the list says that the CMS fails", || {
        list(&second).header("cache-status").is_some_and(|status| status.contains("fails"))
    });
    assert!(second.logs("a snapshot is taken from the store"));

    content.publish("en", "d3", "three");
    content.heal();
    until_so("a walk replaces the stored snapshot", || urls(&list(&second)).len() == 4);
}

#[test]
fn store_holds_no_token_and_no_content_beyond_paths() {
    let (content, (_folder, store)) = (content(), folder());
    content.put("en", "d4", r#","slug":"four","title":"canary-title""#);
    let cms = content.start();
    let settings = settings(TEMPLATE).with("title = \"title\"").strapi(&cms);
    let token = "canary-7f3a9c-token";
    let mut service = with_store(&settings, &store).env("FRONTEND_MAP__CMS__TOKEN", token).start();
    until_stored(&service);
    assert!(http::get(service.addr(), PAGES).text().contains("four"));
    assert_eq!(service.signal("TERM"), Some(0));
    let bytes = std::fs::read(&store).expect("the store");
    for secret in [token, crate::support::hook::SECRET, "canary"] {
        let is_there = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
        assert!(!is_there, "{secret} is in the store");
    }
}

#[test]
fn copy_beyond_the_hard_limit_is_not_served() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let mut first = with_store(&settings, &store).start();
    until_stored(&first);
    until_so("the snapshot is older than two seconds", || age(&list(&first)) >= 2);
    first.signal("TERM");
    take_down(&content);
    let short = |setup: crate::support::service::Setup| {
        setup
            .env("FRONTEND_MAP__SNAPSHOTS__SOFT_SECONDS", "1")
            .env("FRONTEND_MAP__SNAPSHOTS__HARD_SECONDS", "2")
    };
    let second = short(with_store(&settings, &store)).start();
    assert_eq!(list(&second).status, 503);
    assert!(!second.log().contains("a snapshot is taken from the store"));
}

#[test]
fn copy_that_other_rules_made_is_not_served() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let mut first = with_store(&settings(TEMPLATE).strapi(&cms), &store).start();
    until_stored(&first);
    first.signal("TERM");
    take_down(&content);
    let mut second = with_store(&settings("/{locale}/news/{slug}").strapi(&cms), &store).start();
    assert_eq!(list(&second).status, 503);
    second.signal("TERM");
    // It is still there for the rules that made it.
    let third = with_store(&settings(TEMPLATE).strapi(&cms), &store).start();
    assert_eq!(urls(&list(&third)).len(), 3);
}

#[test]
fn reload_with_other_rules_does_not_serve_the_stored_copy() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let service = with_store(&settings(TEMPLATE).strapi(&cms), &store).start();
    until_stored(&service);
    take_down(&content);
    service.rewrite("settings.toml", &settings("/{locale}/news/{slug}").strapi(&cms).toml());
    service.send_signal("HUP");
    assert!(service.logs("the settings are reloaded"));
    assert_eq!(list(&service).status, 503);
    // Back to the rules of the stored snapshot.
    service.rewrite("settings.toml", &settings(TEMPLATE).strapi(&cms).toml());
    service.send_signal("HUP");
    until_so("the stored snapshot is served again", || list(&service).status == 200);
    assert_eq!(urls(&list(&service)).len(), 3);
}

#[test]
fn incremental_update_is_stored() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let mut first = with_store(&settings, &store).start();
    until_stored(&first);
    content.publish("en", "d2", "changed");
    let event = r#"{"event":"entry.publish","uid":"api::article.article","entry":{"documentId":"d2","publishedAt":"2024-03-06T22:19:54.649Z"}}"#;
    assert!(post_body(&first, event.as_bytes()).starts_with("HTTP/1.1 202"));
    until_so("the update is stored", || written(&first) >= 2.0);
    let expected = urls(&list(&first));
    assert!(expected.contains(&"https://www.example.com/en/articles/changed".to_owned()));
    // Without a chance to write anything more.
    first.signal("KILL");
    take_down(&content);
    let second = with_store(&settings, &store).start();
    assert_eq!(urls(&list(&second)), expected);
}

#[test]
fn second_process_serves_from_memory_and_takes_the_store_when_it_is_released() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let mut first = with_store(&settings, &store).start();
    until_stored(&first);
    take_down(&content);
    let second = with_store(&settings, &store).start();
    assert_eq!(state(&second), json!({"state": "in-use", "problem": null}));
    assert!(second.logs("another process has the store"));
    assert_eq!(list(&second).status, 503, "it knows nothing yet");
    assert_eq!(first.signal("TERM"), Some(0));
    until_state(&second, "open");
    let response = until("the snapshot of the first process", || {
        Some(list(&second)).filter(|response| response.status == 200)
    });
    assert_eq!(urls(&response).len(), 3);
    content.heal();
    until_so("it stores its own walks", || written(&second) >= 1.0);
}

#[test]
fn service_without_a_store_says_so() {
    let content = content();
    let cms = content.start();
    let service = settings(TEMPLATE).strapi(&cms).start();
    assert!(service.logs("no [store] path is set"));
    assert!(state(&service).is_null());
}
