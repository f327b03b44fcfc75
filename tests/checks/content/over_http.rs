//! `content=true`: results with faults, runs that are shared with clients that want the statuses alone, and
//! what is kept.

use serde_json::{Value, json};

use super::{HTML, front_end, not_found, page, posts};
use crate::support::api;
use crate::support::front_end::{Answer, FrontEnd, with_body};
use crate::support::http;
use crate::support::service::{Service, Setup};
use crate::support::url_checks::{EVENTS, events};

const STATUS: &str = "/api/build-sitemap?site=main&contentType=api::post.post&validate=true";

fn content() -> String {
    format!("{STATUS}&content=true")
}

fn script(base: &str, target: &str) -> Answer {
    match target {
        "/en/posts/noindex" => {
            let tag = "<meta name=robots content=noindex></head>";
            with_body("200 OK", HTML, page(base, target).replace("</head>", tag))
        }
        "/en/posts/gone" | "/robots.txt" => not_found(),
        target if target.contains("/posts/") && !target.contains("check") => {
            with_body("200 OK", HTML, page(base, target))
        }
        _ => not_found(),
    }
}

async fn started(more: impl FnOnce(Setup) -> Setup) -> (FrontEnd, Service) {
    let peer = front_end(script).await;
    let slugs = ["noindex", "gone", "fine"].map(str::to_owned);
    let service = more(posts(&peer.url("http", ""), slugs.into_iter())).start();
    (peer, service)
}

fn get(service: &Service, target: &str) -> Value {
    api::get(service, target).json()
}

#[tokio::test(flavor = "multi_thread")]
async fn response_has_the_source_and_the_faults_of_each_page() {
    let (peer, service) = started(|setup| setup).await;
    let data = &get(&service, &content())["data"];
    assert_eq!(data["content"], json!({"read": 5, "faulty": 1, "kinds": {"noindex": 1}}));
    let results = data["results"].as_array().unwrap();
    let url = peer.url("http", "/en/posts/noindex");
    let result = results.iter().find(|result| result["url"] == url).unwrap();
    assert_eq!(
        *result,
        json!({
            "url": url, "status": 200, "ok": true, "contentType": "api::post.post",
            "documentId": "d0", "locale": "en", "rule": "/{locale}/posts/{slug}",
            "faults": [{"kind": "noindex", "detail": "<meta>: noindex"}],
        })
    );
    assert_eq!(results.iter().filter(|result| result["faults"].is_array()).count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn run_with_content_serves_those_without_and_not_the_other_way_round() {
    let (peer, service) = started(|setup| setup).await;
    let without = api::get(&service, STATUS).text().to_owned();
    let checked = peer.heads().len();
    assert_eq!(checked, 6);
    get(&service, &content());
    assert_eq!(peer.heads().len(), checked + 6 + 2, "robots.txt, and a path that cannot exist");
    let (_, other) = started(|setup| setup).await;
    get(&other, &content());
    let (peer, service) = started(|setup| setup).await;
    get(&service, &content());
    let checked = peer.heads().len();
    let base = peer.url("http", "");
    let shared = api::get(&service, STATUS).text().replace(&base, "BASE");
    assert_eq!(peer.heads().len(), checked, "the run is reused");
    let (_, rest) = without.split_once("http://").unwrap();
    let own = format!("http://{}", &rest[..rest.find('/').unwrap()]);
    assert_eq!(
        shared,
        without.replace(&own, "BASE"),
        "byte for byte as from a run without content"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn stream_has_the_faults_in_its_findings() {
    let (peer, service) = started(|setup| setup).await;
    let response = http::send(service.addr(), "GET", &content(), &[EVENTS]);
    let events = events(&response);
    let url = peer.url("http", "/en/posts/noindex");
    let found = events.iter().find(|(name, data)| name == "finding" && data.contains(&url));
    let found: Value = serde_json::from_str(&found.unwrap().1).unwrap();
    assert_eq!(found["faults"], json!([{"kind": "noindex", "detail": "<meta>: noindex"}]));
    let (name, result) = events.last().unwrap();
    assert_eq!((name.as_str(), result.as_str()), ("result", api::get(&service, &content()).text()));
}

#[tokio::test(flavor = "multi_thread")]
async fn content_needs_validate() {
    let (_, service) = started(|setup| setup).await;
    let target = "/api/build-sitemap?site=main&contentType=api::post.post&content=true";
    let response = api::get(&service, target);
    assert_eq!(response.status, 400);
    assert_eq!(response.json()["error"]["message"], "`content` needs `validate=true`");
}

#[tokio::test(flavor = "multi_thread")]
async fn last_run_with_content_is_kept_beside_later_runs_and_survives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store").to_str().unwrap().to_owned();
    let with_store = |setup: Setup| setup.env("FRONTEND_MAP__STORE__PATH", &path);
    let without_reuse = |setup: Setup| setup.env("FRONTEND_MAP__VALIDATION__REUSE_SECONDS", "0");
    let peer = front_end(script).await;
    let slugs = || ["noindex", "gone", "fine"].map(str::to_owned).into_iter();
    let start = || without_reuse(with_store(posts(&peer.url("http", ""), slugs()))).start();
    let last = "/api/validations?site=main&documentId=d0";
    let expected = json!({"read": 5, "faulty": 1, "kinds": {"noindex": 1}});
    let assert_kept = |service: &Service| {
        let run = &get(service, last)["data"]["validations"][0];
        let mut content = run["content"].clone();
        let ended = content.as_object_mut().unwrap().remove("endedAt").unwrap();
        assert_eq!(content, expected);
        assert!(ended.as_str() < run["endedAt"].as_str(), "{run}");
        let faults = run["pages"].as_array().unwrap().iter().map(|page| &page["faults"]);
        let faults: Vec<&Value> = faults.collect();
        assert_eq!(
            faults,
            [&json!([{"kind": "noindex", "detail": "<meta>: noindex"}]), &Value::Null]
        );
    };
    let mut service = start();
    get(&service, STATUS);
    assert_eq!(get(&service, last)["data"]["validations"][0]["content"], Value::Null);
    get(&service, &content());
    get(&service, STATUS);
    assert_kept(&service);
    service.signal("TERM");
    service.wait();
    assert_kept(&start());
}
