//! `/api/frontend-urls` in front of a CMS: what comes from snapshots, and what the CMS is asked for.

use serde_json::{Value, json};

use crate::support::cms::Cms;
use crate::support::content::{Content, selected};
use crate::support::front_of_cms::{SITEMAP, articles, assert_failure, list, refusal, setup};
use crate::support::http::{self, Response, send_with};
use crate::support::service::{Service, Setup};
use crate::support::wait::until_so;

const UID: &str = "plugin::cms.article";

fn in_two_locales(cms: &Cms) -> Setup {
    setup(&articles().locales(&["en", "de"]).strapi(cms))
}

/// The response about these documents, each an id and a locale.
fn batch(service: &Service, documents: &[(String, &str)]) -> Response {
    let item =
        |(id, locale): &(String, &str)| json!({"uid": UID, "documentId": id, "locale": locale});
    let items: Vec<Value> = documents.iter().map(item).collect();
    let body = json!({"documents": items}).to_string();
    let length = body.len().to_string();
    let headers = [("Content-Length", length.as_str())];
    send_with(service.addr(), "POST", "/api/frontend-urls", &headers, &body)
}

fn documents(count: usize, locale: &str) -> Vec<(String, &str)> {
    (0..count).map(|n| (format!("d{n:05}"), locale)).collect()
}

/// The path of each result, or its reason.
#[track_caller]
fn found(response: &Response) -> Vec<String> {
    assert_eq!(response.status, 200, "{}", response.text());
    let results = response.json()["data"]["results"].as_array().expect("a list").clone();
    let text = |one: &Value| one.get("path").or(one.get("reason")).expect("one of both").clone();
    results.iter().map(|one| text(one).as_str().expect("text").to_owned()).collect()
}

fn query(target: &str) -> &str {
    target.split_once('?').map_or("", |(_, query)| query)
}

/// How many documents each request for documents by their ids has named.
fn selections(cms: &Cms) -> Vec<usize> {
    let targets = cms.targets().into_iter();
    targets.map(|target| selected(query(&target)).len()).filter(|count| *count > 0).collect()
}

#[test]
fn batches_from_snapshots_cost_the_cms_no_request() {
    let content = Content::many(&["en", "de"], 120);
    let cms = content.start();
    let service = in_two_locales(&cms).env("RUST_LOG", "info").start();
    assert_eq!(http::get(service.addr(), SITEMAP).status, 200);
    let walked = cms.targets().len();
    // A page with 50 links.
    let links: Vec<_> = documents(50, "en").into_iter().chain(documents(51, "de").pop()).collect();
    let first = batch(&service, &links);
    assert_eq!(found(&first)[49..], ["/en/articles/s49", "/de/articles/s50"]);
    assert!(first.header("age").is_some_and(|age| age.parse::<u64>().is_ok()));
    for _ in 0..999 {
        assert_eq!(batch(&service, &links).body, first.body);
    }
    assert_eq!(cms.targets().len(), walked, "1,000 pages");
}

#[test]
fn batch_without_a_snapshot_asks_the_cms_in_lists_and_starts_a_walk() {
    let content = Content::many(&["en", "de"], 250);
    content.publish("en", "d99999", "a/b");
    let cms = content.start();
    let service = in_two_locales(&cms).start();
    let mut wanted = documents(250, "en");
    wanted.extend([
        ("d99999".to_owned(), "en"),
        ("d99999".to_owned(), "de"),
        ("nope".to_owned(), "en"),
    ]);
    wanted.push(("d00007".to_owned(), "de"));
    let response = batch(&service, &wanted);
    assert_eq!(response.header("age"), None, "no snapshot was used");
    let mut expected: Vec<String> = (0..250).map(|n| format!("/en/articles/s{n}")).collect();
    expected.extend(
        ["slug_has_slash", "no_version", "no_version", "/de/articles/s7"].map(str::to_owned),
    );
    assert_eq!(found(&response), expected);
    let selections = selections(&cms);
    assert_eq!(selections.iter().max(), Some(&100), "Strapi ignores a longer list");
    // A full page, an empty one and a total, for three lists in two locales.
    assert!(selections.len() <= 18, "{selections:?}");
    until_so("the walk ends", || service.logs("a snapshot is built"));
    let walked = cms.targets().len();
    let again = batch(&service, &wanted);
    assert!(again.header("age").is_some());
    let paths = |response: &Response| {
        found(response).into_iter().filter(|text| text.starts_with('/')).collect::<Vec<_>>()
    };
    assert_eq!(paths(&again), paths(&response));
    assert_eq!(cms.targets().len(), walked);
}

#[test]
fn batch_of_documents_that_are_not_localized_is_for_each_locale() {
    let content = Content::many(&[""], 3);
    // As Strapi does for a type without localization.
    content.fail(|target| {
        let is_refused = query(target).contains("=locale");
        is_refused.then(|| refusal(400, "ValidationError", r#"{"key":"locale"}"#))
    });
    let cms = content.start();
    let service = in_two_locales(&cms).start();
    let wanted = [("d00001".to_owned(), "de"), ("d00002".to_owned(), "en")];
    for is_known in [false, true] {
        let response = batch(&service, &wanted);
        assert_eq!(response.header("age").is_some(), is_known);
        assert_eq!(found(&response), ["/en/articles/s1", "/en/articles/s2"]);
        assert_eq!(response.json()["data"]["results"][0]["locale"], "en");
        until_so("the walk ends", || service.logs("a snapshot is built"));
    }
}

#[test]
fn batch_never_has_a_reason_for_what_the_cms_did_not_say() {
    let content = Content::many(&["en"], 3);
    content.fail(|_| Some(refusal(503, "ServiceUnavailableError", "{}")));
    let cms = content.start();
    let service = in_two_locales(&cms).start();
    let wanted = documents(4, "en");
    assert_failure(&batch(&service, &wanted), 503, "ServiceUnavailableError");
    // The circuit breaker is open now.
    assert_failure(&batch(&service, &wanted), 503, "ServiceUnavailableError");
    content.heal();
    until_so("the first walk follows", || service.logs("a snapshot is built"));
    let known = ["/en/articles/s0", "/en/articles/s1", "/en/articles/s2", "no_version"];
    assert_eq!(found(&batch(&service, &wanted)), known);
    content.fail(|_| Some(refusal(503, "ServiceUnavailableError", "{}")));
    assert_eq!(found(&batch(&service, &wanted)), known, "from the snapshot");
}

#[test]
fn batch_without_a_snapshot_is_an_error_if_the_cms_ignores_the_filter() {
    let content = Content::many(&["en"], 3);
    content.fail(|target| {
        let other = [("d00002", r#","locale":"en","slug":"s2""#)];
        (!selected(query(target)).is_empty()).then(|| list(&other, 100, 1))
    });
    let cms = content.start();
    let service = in_two_locales(&cms).start();
    assert_failure(&batch(&service, &documents(2, "en")), 502, "BadGatewayError");
}
