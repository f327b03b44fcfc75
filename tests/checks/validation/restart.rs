//! The last run of URL checks after a restart: from the store, with its times, by the same settings.

use std::path::Path;

use serde_json::Value;

use crate::support::front_end::{Answer, FrontEnd, answer};
use crate::support::http::{self, Response};
use crate::support::metrics::scrape;
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use crate::support::url_checks::slugs;
use crate::support::wait::until_so;

/// Each document and page has one of these results.
fn mixed(target: &str) -> Answer {
    match target.as_bytes().last() {
        Some(b'0') => answer("200 OK", "", 0),
        Some(b'1') => answer("301 Moved", "Location: /x?y=1\r\n", 0),
        Some(b'2') => answer("302 Found", "", 0),
        Some(b'3') => answer("404 Not Found", "", 0),
        Some(b'4') => answer("503 Service Unavailable", "", 0),
        _ => Answer::Reset,
    }
}

fn settings(base: &str, template: &str) -> Settings {
    site("main")
        .front_end_url(base)
        .locales(&["en", "de"])
        .rule("api::a.a", template)
        .more("[[site.page]]\nname = \"home\"\npath = \"/home\"")
        .more("[validation]\nreuse_seconds = 0")
}

/// A service with this store, and with 200 documents in two locales.
fn start(settings: &Settings, store: &Path) -> Service {
    let document = |slug: &String| {
        ["en", "de"].map(|locale| {
            serde_json::json!({"documentId": format!("d{slug}"), "locale": locale, "slug": slug})
        })
    };
    let rows: Vec<Value> = slugs("s", 200).iter().flat_map(document).collect();
    settings
        .clone()
        .files(&serde_json::json!({"api::a.a": rows}).to_string())
        .env("FRONTEND_MAP__STORE__PATH", store.to_str().expect("a path in UTF-8"))
        .start()
}

fn get(service: &Service, target: &str) -> Response {
    tokio::task::block_in_place(|| http::get(service.addr(), target))
}

fn last(service: &Service) -> String {
    get(service, "/api/validations?site=main&documentId=ds-003").text().to_owned()
}

fn count(service: &Service) -> usize {
    let json: Value = serde_json::from_str(&last(service)).expect("JSON");
    json["data"]["validations"].as_array().expect("a list").len()
}

/// How many runs the store has: those that a process reads from a copy of its file.
fn stored(settings: &Settings, store: &Path) -> usize {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let copied = folder.path().join("store.redb");
    std::fs::copy(store, &copied).expect("the store is a file");
    count(&start(settings, &copied))
}

/// Checks all URLs, and waits until the store has the results.
fn validate(service: &Service, settings: &Settings, store: &Path) {
    get(service, "/api/build-sitemap?site=main&contentType=api::a.a");
    for uid in ["api::a.a", "pages"] {
        let target = format!("/api/build-sitemap?site=main&contentType={uid}&validate=true");
        assert_eq!(get(service, &target).status, 200);
    }
    let both = || stored(settings, store) == 2;
    tokio::task::block_in_place(|| until_so("the runs are stored", both));
}

#[tokio::test(flavor = "multi_thread")]
async fn last_run_is_the_same_after_a_kill() {
    let peer = FrontEnd::start(mixed).await;
    let settings = settings(&peer.url("http", ""), "/{locale}/{slug}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = folder.path().join("store.redb");
    let mut first = start(&settings, &store);
    validate(&first, &settings, &store);
    let expected = last(&first);
    assert_eq!(count(&first), 2);
    let run = &serde_json::from_str::<Value>(&expected).expect("JSON")["data"]["validations"][0];
    let classes = run["byClass"].to_string();
    assert_eq!(classes, r#"{"2xx":40,"3xx":80,"4xx":40,"5xx":40,"error":200}"#);
    assert_eq!(run["pages"].as_array().expect("a list").len(), 2);
    first.signal("KILL");
    let requests = peer.heads().len();
    let second = start(&settings, &store);
    assert_eq!(last(&second), expected);
    let documents = get(&second, "/api/validations?site=main&documentId=ds-001");
    let page = &documents.json()["data"]["validations"][0]["pages"][0];
    assert_eq!((&page["status"], &page["location"]), (&301.into(), &"/x?y=1".into()));
    assert_eq!(peer.heads().len(), requests, "nothing is checked again");
    // Dead since the run of the first process.
    let since = |text: &str| {
        let json: Value = serde_json::from_str(text).expect("JSON");
        json["data"]["validations"][0]["dead"][0]["since"].clone()
    };
    validate(&second, &settings, &store);
    assert_ne!(last(&second), expected);
    assert_eq!(since(&last(&second)), since(&expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn run_by_other_settings_is_not_served() {
    let peer = FrontEnd::start(mixed).await;
    let base = peer.url("http", "");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = folder.path().join("store.redb");
    let own = settings(&base, "/{locale}/{slug}");
    let mut first = start(&own, &store);
    validate(&first, &own, &store);
    assert_eq!(count(&first), 2);
    first.signal("TERM");
    let mut second = start(&settings(&base, "/{locale}/a/{slug}"), &store);
    assert_eq!(count(&second), 0);
    second.signal("TERM");
    let third = start(&own, &store);
    assert_eq!(count(&third), 2, "nothing has taken its place");
}

#[tokio::test(flavor = "multi_thread")]
async fn run_without_the_file_is_stored_when_this_is_released() {
    let peer = FrontEnd::start(mixed).await;
    let settings = settings(&peer.url("http", ""), "/{locale}/{slug}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = folder.path().join("store.redb");
    let mut first = start(&settings, &store);
    let mut second = start(&settings, &store);
    let target = "/api/build-sitemap?site=main&contentType=api::a.a&validate=true";
    assert_eq!(get(&second, target).status, 200);
    tokio::task::block_in_place(|| until_so("the run is recorded", || count(&second) == 1));
    let expected = last(&second);
    first.signal("TERM");
    let written = || scrape(second.admin()).of("store_writes_total{outcome=\"ok\"}");
    tokio::task::block_in_place(|| until_so("both are stored", || written() >= 2.0));
    second.signal("TERM");
    let third = start(&settings, &store);
    assert_eq!(last(&third), expected);
}
