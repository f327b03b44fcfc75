//! The Strapi source through the real binary, against a CMS that is scripted byte by byte.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::Value;

use crate::support::cms::Cms;
use crate::support::http::{self, Response};
use crate::support::script::{Script, gzip_bomb};
use crate::support::service::{Service, Setup};

const ID: &str = "abcdefghijklmnopqrstuvwx";
const TOKEN: &str = "canary-7f3a9c-token";
const SITEMAP: &str = "/api/build-sitemap?site=main&contentType=plugin::cms.article";
const RESOLVE: &str = "/api/get-content-type?site=main&pathname=/en/articles/x";

/// How many rows are played side by side: most of them wait for a time-out, not for the processor.
const AT_ONCE: usize = 8;

fn one_url() -> String {
    format!("/api/frontend-url?uid=plugin::cms.article&documentId={ID}")
}

/// A service with one site in front of the CMS at `url`, logging all it can.
fn service(url: &str, locales: &str, endpoint: bool) -> Service {
    let mut settings = format!(
        r#"
[server]
listen = "127.0.0.1:0"
[cms]
source = "strapi"
url = "{url}"
[[site]]
key = "main"
front_end_url = "https://www.example.com"
locales = [{locales}]
[[site.rule]]
content_type = "plugin::cms.article"
template = "/{{locale}}/articles/{{slug}}"
"#
    );
    if endpoint {
        settings +=
            "[[content_type]]\nuid = \"plugin::cms.article\"\nendpoint = \"cms/articles\"\n";
    }
    Setup::new(&settings).env("FRONTEND_MAP__CMS__TOKEN", TOKEN).env("RUST_LOG", "trace").start()
}

fn in_front_of(cms: &Cms) -> Service {
    service(&format!("http://{}", cms.addr()), r#""en""#, true)
}

/// A list of rows `(documentId, more of the row)`, in JSON.
fn list(rows: &[(&str, &str)], page_size: usize, total: usize) -> Script {
    let row = |(id, more): &(&str, &str)| format!(r#"{{"id":1,"documentId":"{id}"{more}}}"#);
    let rows: Vec<String> = rows.iter().map(row).collect();
    let paging = format!(r#"{{"page":1,"pageSize":{page_size},"pageCount":1,"total":{total}}}"#);
    let rows = rows.join(",");
    Script::json(200, &format!(r#"{{"data":[{rows}],"meta":{{"pagination":{paging}}}}}"#))
}

fn refusal(status: u16, name: &str, details: &str) -> Script {
    let error =
        format!(r#"{{"status":{status},"name":"{name}","message":"x","details":{details}}}"#);
    Script::json(status, &format!(r#"{{"data":null,"error":{error}}}"#))
}

fn urls(response: &Response) -> Vec<String> {
    assert_eq!(response.status, 200, "{}", response.text());
    let urls = response.json()["data"]["urls"].as_array().expect("a list").clone();
    urls.iter().map(|url| url.as_str().expect("text").to_owned()).collect()
}

/// The token is nowhere that anyone can read.
fn assert_no_token(service: &Service, response: &Response) {
    assert!(!service.log().contains(TOKEN), "the token is in the log");
    assert!(!response.text().contains(TOKEN), "the token is in the body");
    let leaks = response.headers.iter().any(|(_, value)| value.contains(TOKEN));
    assert!(!leaks, "the token is in a header");
}

fn assert_failure(response: &Response, status: u16, name: &str) {
    assert_eq!(response.status, status, "{}", response.text());
    let body = response.json();
    assert_eq!((&body["data"], &body["error"]["status"]), (&Value::Null, &Value::from(status)));
    assert_eq!(body["error"]["name"], name);
}

#[test]
fn hostile_answers() {
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
                    if std::panic::catch_unwind(|| play(row)).is_err() {
                        failed.lock().expect("no panic").push(row["name"].to_string());
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no panic");
    assert!(failed.is_empty(), "{} of {} rows: {failed:?}", failed.len(), rows.len());
}

/// One row, cold. What it says about a good copy belongs to the copies, which are not built yet.
fn play(row: &Value) {
    let reply = row["reply"].clone();
    let scheme = if reply["tcp"] == "tls-self-signed" { "https" } else { "http" };
    let cms = (reply["tcp"] != "dns-fail").then(|| {
        let script = Script::from_row(&reply);
        if scheme == "https" { Cms::greeting(script) } else { Cms::start(move |_| script.clone()) }
    });
    let host = cms.as_ref().map_or("cms.invalid".to_owned(), |cms| cms.addr().to_string());
    let service = service(&format!("{scheme}://{host}"), r#""en""#, true);
    let started = Instant::now();
    let target = if row["group"] == "one" { one_url() } else { SITEMAP.to_owned() };
    let response = http::get(service.addr(), &target);
    let seconds = started.elapsed().as_secs_f64();
    eprintln!("{}: {} after {seconds:.1} s", row["name"], response.status);
    assert!(
        row["max_s"].as_f64().is_none_or(|most| seconds <= most),
        "{}: {seconds} s",
        row["name"]
    );
    assert_as_expected(row, &response);
    assert_no_token(&service, &response);
    // D27: resolving never notices.
    assert_eq!(http::get(service.addr(), RESOLVE).status, 200);
    if let Some(cms) = cms {
        assert!(cms.heads().iter().all(|head| head.to_lowercase().contains("authorization: ")));
    }
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

#[test]
fn a_walk_asks_by_key_until_a_short_page_and_then_for_the_total() {
    let cms = Cms::start(|target| {
        let row = r#","locale":"en","slug":"s","publishedAt":"2024"#;
        let row = format!("{row}\"");
        if target.contains("pageSize]=1&") {
            list(&[("a", &row)], 1, 3)
        } else if target.contains("[$gt]=b") {
            list(&[("c", r#","locale":"en","slug":"t""#)], 2, 1)
        } else {
            list(&[("a", &row), ("b", r#","locale":"en","slug":"u""#)], 2, 3)
        }
    });
    let service = in_front_of(&cms);
    let found = urls(&http::get(service.addr(), SITEMAP));
    let base = "https://www.example.com/en/articles/";
    assert_eq!(found, ["s", "t", "u"].map(|slug| format!("{base}{slug}")));
    let paging = "status=published&sort=documentId:asc&pagination[page]=1&pagination[pageSize]=";
    let fields = "locale=en&fields[0]=publishedAt&fields[1]=locale&fields[2]=slug";
    let expected = [
        format!("/api/cms/articles?{paging}100&{fields}"),
        format!("/api/cms/articles?{paging}100&filters[documentId][$gt]=b&{fields}"),
        format!("/api/cms/articles?{paging}1&fields[0]=documentId&locale=en"),
    ];
    assert_eq!(cms.targets(), expected);
}

#[test]
fn pages_that_shift_start_the_walk_again() {
    let walks = AtomicUsize::new(0);
    let cms = Cms::start(move |target| {
        let row = r#","locale":"en","slug":"s""#;
        if target.contains("pageSize]=1&") {
            return list(&[("a", row)], 1, 1);
        }
        let total = if walks.fetch_add(1, Ordering::Relaxed) == 0 { 2 } else { 1 };
        if total == 2 { list(&[], 100, total) } else { list(&[("a", row)], 100, total) }
    });
    let service = in_front_of(&cms);
    assert_eq!(urls(&http::get(service.addr(), SITEMAP)).len(), 1);
    assert_eq!(cms.targets().len(), 4);
}

#[test]
fn totals_that_never_settle_are_503_and_totals_that_always_lie_are_502() {
    let asked = AtomicUsize::new(0);
    let cms = Cms::start(move |_| list(&[], 100, 5 + asked.fetch_add(1, Ordering::Relaxed)));
    let response = http::get(in_front_of(&cms).addr(), SITEMAP);
    assert_failure(&response, 503, "ServiceUnavailableError");
    assert_eq!(cms.targets().len(), 8, "one walk and three more");
    let cms = Cms::start(|_| list(&[], 100, 5));
    assert_failure(&http::get(in_front_of(&cms).addr(), SITEMAP), 502, "BadGatewayError");
}

#[test]
fn a_bad_item_behind_the_last_key_of_a_page_is_counted_once() {
    let cms = Cms::start(|target| {
        let row = |slug: &str| format!(r#","locale":"en","slug":"{slug}""#);
        let bad = r#"x","documentId":5,"y":""#;
        if target.contains("pageSize]=1&") {
            list(&[], 1, 3)
        } else if target.contains("[$gt]=a") {
            list(&[(bad, ""), ("c", &row("c"))], 100, 2)
        } else {
            list(&[("a", &row("a")), (bad, "")], 2, 3)
        }
    });
    let response = http::get(in_front_of(&cms).addr(), SITEMAP);
    assert_eq!(urls(&response).len(), 2);
    assert_eq!(response.header("x-skipped-documents").as_deref(), Some("1"));
}

#[test]
fn a_type_that_is_not_localised_is_walked_once_under_the_default_locale() {
    let cms = Cms::start(|target| {
        if target.contains("=locale") {
            let details = r#"{"key":"locale","path":"locale","source":"query","param":"fields"}"#;
            return refusal(400, "ValidationError", details);
        }
        assert!(!target.contains("locale"), "{target}");
        if target.contains(ID) {
            return Script::json(200, &format!(r#"{{"data":{{"documentId":"{ID}","slug":"s"}}}}"#));
        }
        list(&[(ID, r#","slug":"s""#)], 100, 1)
    });
    let url = format!("http://{}", cms.addr());
    let service = service(&url, r#""de", "en", "fr""#, true);
    let found = urls(&http::get(service.addr(), SITEMAP));
    assert_eq!(found, ["https://www.example.com/de/articles/s"]);
    assert_eq!(cms.targets().len(), 3, "refused, page, total");
    for (requests, locale) in [(5, "en"), (6, "fr")] {
        let response = http::get(service.addr(), &format!("{}&locale={locale}", one_url()));
        assert_eq!(response.json()["data"]["path"], "/de/articles/s");
        assert_eq!(cms.targets().len(), requests, "the refusal is remembered");
    }
}

#[test]
fn documents_of_another_locale_of_the_site_are_502() {
    let cms = Cms::start(|_| list(&[(ID, r#","locale":"en","slug":"s""#)], 100, 1));
    let service = service(&format!("http://{}", cms.addr()), r#""en", "de""#, true);
    assert_failure(&http::get(service.addr(), SITEMAP), 502, "BadGatewayError");
}

#[test]
fn one_in_another_locale_than_asked_for_is_404() {
    let body = format!(r#"{{"data":{{"documentId":"{ID}","locale":"de","slug":"s"}}}}"#);
    let cms = Cms::start(move |_| Script::json(200, &body));
    let service = service(&format!("http://{}", cms.addr()), r#""en", "de""#, true);
    assert_failure(&http::get(service.addr(), &one_url()), 404, "NotFoundError");
}

#[test]
fn a_gzip_bomb_is_502() {
    let bomb = gzip_bomb(32 << 20);
    assert!(bomb.len() < 256 << 10);
    let cms = Cms::start(move |_| Script::gzip(&bomb));
    let service = in_front_of(&cms);
    assert_failure(&http::get(service.addr(), SITEMAP), 502, "BadGatewayError");
    assert_failure(&http::get(service.addr(), &one_url()), 502, "BadGatewayError");
}

#[test]
fn one_failed_request_is_asked_again_once() {
    for (failures, status) in [(1, 200), (2, 503)] {
        let asked = AtomicUsize::new(0);
        let cms = Cms::start(move |_| {
            if asked.fetch_add(1, Ordering::Relaxed) < failures {
                return Script::reset();
            }
            list(&[("a", r#","locale":"en","slug":"s""#)], 100, 1)
        });
        let response = http::get(in_front_of(&cms).addr(), SITEMAP);
        assert_eq!(response.status, status, "{}", response.text());
    }
    let cms = Cms::start(|_| refusal(429, "RateLimitError", "{}"));
    assert_failure(&http::get(in_front_of(&cms).addr(), SITEMAP), 503, "ServiceUnavailableError");
    assert_eq!(cms.targets().len(), 1, "a 429 is not asked again");
}

#[test]
fn an_endpoint_is_told_by_the_schema() {
    let cms = Cms::start(|target| {
        if target.starts_with("/api/content-type-builder/content-types/plugin::cms.article") {
            let schema =
                r#"{"kind":"collectionType","singularName":"article","pluralName":"posts"}"#;
            let data = format!(r#"{{"uid":"plugin::cms.article","schema":{schema}}}"#);
            return Script::json(200, &format!(r#"{{"data":{data}}}"#));
        }
        assert!(target.starts_with("/api/cms/posts?"), "{target}");
        list(&[], 100, 0)
    });
    let service = service(&format!("http://{}", cms.addr()), r#""en""#, false);
    for requests in [3, 5] {
        assert_eq!(urls(&http::get(service.addr(), SITEMAP)).len(), 0);
        assert_eq!(cms.targets().len(), requests, "the schema is asked for once");
    }
}

#[test]
fn an_endpoint_is_guessed_where_the_schema_is_denied_and_a_wrong_guess_is_502() {
    let guess = |exists: bool| {
        Cms::start(move |target| match target {
            _ if target.starts_with("/api/content-type-builder/") => {
                refusal(403, "ForbiddenError", "{}")
            }
            _ if exists && target.starts_with("/api/cms/articles?") => list(&[], 100, 0),
            _ => refusal(404, "NotFoundError", "{}"),
        })
    };
    for (exists, sitemap, one) in [(true, 200, 404), (false, 502, 502)] {
        let cms = guess(exists);
        let service = service(&format!("http://{}", cms.addr()), r#""en""#, false);
        assert_eq!(http::get(service.addr(), &one_url()).status, one);
        assert_eq!(http::get(service.addr(), SITEMAP).status, sitemap);
    }
}

#[test]
fn a_cms_that_is_silent_about_the_schema_is_504_in_time() {
    let cms = Cms::start(|_| Script::silence());
    let service = service(&format!("http://{}", cms.addr()), r#""en""#, false);
    let started = Instant::now();
    assert_failure(&http::get(service.addr(), SITEMAP), 504, "GatewayTimeoutError");
    assert!(started.elapsed().as_secs() < 11);
    assert_eq!(cms.targets().len(), 1, "nothing is asked after it");
}
