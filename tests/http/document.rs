//! `/api/document`: the URL of a document in each locale, or why it has none.

use serde_json::{Value, json};

use crate::support::api::{data, get};
use crate::support::content::Content;
use crate::support::front_end::{Answer, FrontEnd, answer};
use crate::support::http;
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

const CONTENT: &str = r#"{
  "api::news.news": [
    {"documentId": "n1", "locale": "en", "slug": "hello"},
    {"documentId": "n1", "locale": "de", "slug": null},
    {"documentId": "n1", "locale": "fr", "slug": "secret", "status": "draft"},
    {"documentId": "n2", "locale": "en", "slug": "hello"}
  ],
  "api::author.author": [{"documentId": "u1", "slug": "ada"}]
}"#;

fn settings(base: &str) -> Settings {
    site("main")
        .front_end_url(base)
        .locales(&["en", "de", "fr"])
        .rule("api::news.news", "/{locale}/{slug}")
        .rule("api::author.author", "/authors/{slug}")
        .files(CONTENT)
}

fn target(uid: &str, id: &str) -> String {
    format!("/api/document?uid={uid}&documentId={id}")
}

fn locales(service: &Service, uid: &str, id: &str) -> Value {
    data(service, &target(uid, id))["locales"].clone()
}

#[test]
fn document_has_a_url_or_a_reason_in_each_locale() {
    let service = settings("https://www.example.com").start();
    let response = get(&service, &target("api::news.news", "n1"));
    let expected = json!({"data": {
        "site": "main",
        "contentType": "api::news.news",
        "documentId": "n1",
        "locales": [
            {"locale": "en", "url": "https://www.example.com/en/hello", "path": "/en/hello", "formerPaths": []},
            {"locale": "de", "reason": "slug_missing", "rule": "/{locale}/{slug}"},
            {"locale": "fr", "reason": "no_version", "rule": null},
        ],
    }, "meta": {}});
    assert_eq!((response.status, response.json()), (200, expected));
    assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
    // One that is not localized has one row.
    assert_eq!(
        locales(&service, "api::author.author", "u1"),
        json!([{"locale": "en", "url": "https://www.example.com/authors/ada", "path": "/authors/ada", "formerPaths": []}])
    );
    let missing = locales(&service, "api::news.news", "none");
    assert!(missing.as_array().expect("a list").iter().all(|row| row["reason"] == "no_version"));
    let without_base = settings("https://x.example").without_front_end_url().start();
    let row = locales(&without_base, "api::author.author", "u1")[0].clone();
    assert_eq!((&row["url"], &row["path"]), (&Value::Null, &json!("/authors/ada")));
}

#[test]
fn document_that_does_not_own_its_path_names_the_owner() {
    let service = settings("https://www.example.com").start();
    // The owner is that of the list.
    until_so("the list is there", || data(&service, "/api/problems?site=main")["count"] == 2);
    let owner = |id: &str| locales(&service, "api::news.news", id)[0]["sharedPath"].clone();
    let expected =
        json!({"owner": {"contentType": "api::news.news", "documentId": "n1", "locale": "en"}});
    assert_eq!((owner("n1"), owner("n2")), (Value::Null, expected));
}

#[test]
fn document_refuses_what_is_no_document_of_a_site() {
    let service = settings("https://www.example.com").start();
    for (query, status, reason) in [
        ("uid=api::news.news", 400, Value::Null),
        ("uid=api::news.news&documentId=a%20b", 400, Value::Null),
        ("uid=api::news.news&documentId=n1&site=x", 400, Value::Null),
        ("uid=api::none.none&documentId=n1", 404, json!("no_rule")),
        ("uid=api::none.none&documentId=n1&site=main", 404, json!("no_rule")),
    ] {
        let response = get(&service, &format!("/api/document?{query}"));
        let details = response.json()["error"]["details"]["reason"].clone();
        assert_eq!((response.status, details), (status, reason), "{query}");
    }
}

fn missing(_: &str) -> Answer {
    answer("404 Not Found", "", 0)
}

const TOKEN: &str = "canary-0c1e-validate";

#[tokio::test(flavor = "multi_thread")]
async fn last_check_has_the_url_that_was_checked_and_needs_the_token() {
    let peer = FrontEnd::start(missing).await;
    let content = Content::new(&[("en", "a", "ada")]);
    let cms = content.start();
    let service = site("main")
        .front_end_url(&peer.url("http", ""))
        .rule("plugin::cms.article", "/{locale}/{slug}")
        .strapi(&cms)
        .env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", TOKEN)
        .start();
    let bearer = format!("Bearer {TOKEN}");
    let with = |target: &str| {
        http::send(service.addr(), "GET", target, &[("Authorization", &bearer)]).json()["data"]
            .clone()
    };
    let target = target("plugin::cms.article", "a");
    assert_eq!(with(&target)["locales"][0].get("lastCheck"), None, "there is no run yet");
    with("/api/build-sitemap?site=main&contentType=plugin::cms.article&validate=true");
    let check = || with(&target)["locales"][0].get("lastCheck").cloned();
    until_so("the run is recorded", || check().is_some());
    let found = check().expect("it is recorded");
    assert_eq!(found["url"], peer.url("http", "/en/ada").as_str());
    assert_eq!((&found["status"], &found["ok"]), (&json!(404), &json!(false)));
    assert!(found["at"].as_str().is_some_and(|at| at.ends_with('Z')), "{found}");
    for headers in [&[][..], &[("Authorization", "Bearer x")]] {
        let response = http::send(service.addr(), "GET", &target, headers);
        assert_eq!(response.json()["data"]["locales"][0].get("lastCheck"), None);
    }
    // The URL is another one now; that of the check stays.
    content.publish("en", "a", "lovelace");
    let row = with(&target)["locales"][0].clone();
    assert_eq!((&row["path"], &row["lastCheck"]), (&json!("/en/lovelace"), &found));
}
