//! Hostile responses of a CMS, row by row of `hostile-cms.jsonl`, through the real binary: cold, which
//! is the first request, and warm, with a good snapshot.

mod warm;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::support::cms::Cms;
use crate::support::front_of_cms::{
    RESOLVE, SITEMAP, articles, assert_failure, assert_no_token, one_url, setup,
};
use crate::support::http::{self, Response};
use crate::support::script::Script;

/// Rows in parallel: most of them wait for a timeout, not for the processor.
const AT_ONCE: usize = 8;

#[test]
fn hostile_responses_cause_the_expected_status_cold_and_warm() {
    let rows: Vec<Value> = include_str!("../corpora/hostile-cms.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a row"))
        .collect();
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let play = || warm::play(row, &play_cold(row));
                    if std::panic::catch_unwind(play).is_err() {
                        failed.lock().expect("no panic").push(row["name"].to_string());
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no panic");
    assert!(failed.is_empty(), "{} of {} rows: {failed:?}", failed.len(), rows.len());
}

/// Plays one row cold, and returns the answer.
fn play_cold(row: &Value) -> Response {
    let reply = row["reply"].clone();
    let scheme = if reply["tcp"] == "tls-self-signed" { "https" } else { "http" };
    let cms = (reply["tcp"] != "dns-fail").then(|| {
        let script = Script::from_row(&reply);
        if scheme == "https" { Cms::greeting(script) } else { Cms::start(move |_| script.clone()) }
    });
    let host = cms.as_ref().map_or("cms.invalid".to_owned(), |cms| cms.addr().to_string());
    let service = setup(&articles().strapi_at(&format!("{scheme}://{host}"))).start();
    let target = if row["group"] == "one" { one_url() } else { SITEMAP.to_owned() };
    let response = http::get(service.addr(), &target);
    eprintln!("{}: {}", row["name"], response.status);
    assert_as_expected(row, &response);
    assert_no_token(&service, &response);
    // D27: `/api/get-content-type` never depends on the CMS.
    assert_eq!(http::get(service.addr(), RESOLVE).status, 200);
    if let Some(cms) = cms {
        // `max_s` is the time of two requests, and the client waited for no more.
        let requests = cms.targets().len();
        assert!(row["max_s"].is_null() || requests <= 2, "{}: {requests} requests", row["name"]);
        assert!(cms.heads().iter().all(|head| head.to_lowercase().contains("authorization: ")));
    }
    response
}

fn assert_as_expected(row: &Value, response: &Response) {
    let name = &row["name"];
    if let Some(accepted) = row["accept"].as_array() {
        assert!(accepted.contains(&response.status.into()), "{name}: {}", response.status);
    } else {
        assert_eq!(
            Value::from(response.status),
            row["expect_cold_status"],
            "{name}: {}",
            response.text()
        );
    }
    if response.status == 200 {
        assert!(response.json()["data"].is_object(), "{name}");
    } else if let Some(error) = row["expect_cold_error"].as_str() {
        assert_failure(response, response.status, error);
    }
    let retry_after = response.header("retry-after");
    assert_eq!(retry_after.is_some(), response.status == 503, "{name}");
    if let Some(says) = row["reply"]["headers"]["retry-after"].as_str() {
        assert_eq!(retry_after.as_deref(), Some(says), "{name}");
    }
}
