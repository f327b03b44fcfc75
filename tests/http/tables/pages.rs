//! `/api/pages`: all pages of a site.

use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use super::{lines, linked, parsed};
use crate::support::http::{self, Response};
use crate::support::service::Service;

const PAGES: &str = "/api/pages?site=main";

/// The rows that sitemaps list, in order, byte for byte.
const LISTED: &[&str] = &[
    r#"{"path":"/en/articles/a%20b","url":"https://www.example.com/base/en/articles/a%20b","locale":"en","contentType":"api::article.article","documentId":"a2","rule":"/{locale}/articles/{slug}","params":{"locale":"en","slug":"a b"},"lastModified":null,"listed":true}"#,
    r#"{"path":"/en/articles/zoo","url":"https://www.example.com/base/en/articles/zoo","locale":"en","contentType":"api::article.article","documentId":"a1","rule":"/{locale}/articles/{slug}","params":{"locale":"en","slug":"zoo"},"lastModified":"2026-01-02T03:04:05.678Z","listed":true}"#,
    r#"{"path":"/de/articles/%C3%A9t%C3%A9","url":"https://www.example.com/base/de/articles/%C3%A9t%C3%A9","locale":"de","contentType":"api::article.article","documentId":"a1","rule":"/{locale}/articles/{slug}","params":{"locale":"de","slug":"été"},"lastModified":"2026-02-02T03:04:05.678Z","listed":true}"#,
    r#"{"path":"/help/a/not-localized.html","url":"https://www.example.com/base/help/a/not-localized.html","locale":"en","contentType":"api::help.help","documentId":"h1","rule":"/help/{section?}/{slug}.html","params":{"locale":"en","section":"a","slug":"not-localized"},"lastModified":"2026-03-01T00:00:00.000Z","listed":true}"#,
    r#"{"path":"/help/b.html","url":"https://www.example.com/base/help/b.html","locale":"de","contentType":"api::help.help","documentId":"h2","rule":"/help/{section?}/{slug}.html","params":{"locale":"de","slug":"b"},"lastModified":null,"listed":true}"#,
];

fn document(rows: &[&str]) -> String {
    format!(r#"{{"data":{{"count":{},"pages":[{}]}},"meta":{{}}}}"#, rows.len(), rows.join(","))
}

fn get(service: &Service, target: &str) -> Response {
    http::get(service.addr(), target)
}

/// The paths of the table, and whether each is listed.
fn paths(response: &Response) -> Vec<(String, bool)> {
    assert_eq!(response.status, 200, "{}", response.text());
    let data = response.json()["data"].clone();
    let rows = data["pages"].as_array().expect("a list").clone();
    assert_eq!(data["count"], rows.len());
    let row = |row: &Value| {
        let path = row["path"].as_str().expect("text").to_owned();
        (path, row["listed"].as_bool().expect("a truth value"))
    };
    rows.iter().map(row).collect()
}

#[test]
fn pages_are_the_rows_of_the_sitemap_in_its_order() {
    let service = linked().start();
    let response = get(&service, PAGES);
    assert_eq!((response.status, response.text()), (200, document(LISTED).as_str()));
    assert_eq!(response.header("content-type").as_deref(), Some("application/json"));
    assert_eq!(
        response.header("cache-control"),
        get(&service, "/api/build-sitemap?site=main&contentType=api::article.article")
            .header("cache-control")
    );
    assert_eq!(response.header("vary").as_deref(), Some("accept, accept-encoding"));
    assert!(response.header("cache-status").is_some() && response.header("age").is_some());
    let head = http::send(service.addr(), "HEAD", PAGES, &[]);
    assert_eq!((head.status, head.header("etag")), (200, response.header("etag")));
    // Each row has the params of the rule that built it.
    for row in parsed(&LISTED.join("\n")) {
        let (path, locale) = (row["path"].as_str().unwrap(), row["locale"].as_str().unwrap());
        let path = http::query(path);
        let target = format!("/api/get-content-type?site=main&pathname={path}&locale={locale}");
        let found = get(&service, &target).json()["data"].clone();
        assert_eq!(found["matched"]["params"], row["params"]);
        assert_eq!(found["matched"]["rule"], row["rule"]);
        assert_eq!(found["locale"], row["locale"]);
    }
}

#[test]
fn pages_as_lines_end_with_their_count() {
    let service = linked().start();
    let response = lines(&service, PAGES);
    assert_eq!(response.text(), LISTED.join("\n") + "\n{\"count\":5}\n");
    assert_eq!(response.header("content-type").as_deref(), Some("application/x-ndjson"));
    let none = lines(&service, "/api/pages?site=main&contentType=api::page.page");
    assert_eq!(none.text(), "{\"count\":0}\n");
    // Any other format that the request prefers is not offered.
    let headers = [("Accept", "text/event-stream, text/csv")];
    let other = http::send(service.addr(), "GET", PAGES, &headers);
    assert_eq!(other.text(), document(LISTED));
}

#[test]
fn pages_are_selected_by_type_locale_and_date() {
    let service = linked().start();
    for (query, rows) in [
        ("&contentType=api::article.article", &[0, 1, 2][..]),
        ("&contentType=api::help.help", &[3, 4]),
        ("&locale=de", &[2, 4]),
        ("&contentType=api::article.article&locale=en", &[0, 1]),
        // Inclusive; rows without a date pass.
        ("&since=2026-02-02T03:04:05.678Z", &[0, 2, 3, 4]),
        // The date of the document in full, which `lastModified` shows in milliseconds.
        ("&since=2026-02-02T03:04:05.6785Z", &[0, 2, 3, 4]),
        ("&since=2026-02-02T03:04:05.6780000001Z", &[0, 2, 3, 4]),
        ("&since=2026-02-02T03:04:05.679Z", &[0, 3, 4]),
        ("&since=2026-02-02T04:04:05.678%2B01:00", &[0, 2, 3, 4]),
        ("&since=2026-02-02t03:04:06z", &[0, 3, 4]),
        ("&since=2999-01-01T00:00:00Z", &[0, 4]),
        ("&since=&locale=&contentType=&unlisted=", &[0, 1, 2, 3, 4]),
    ] {
        let expected: Vec<&str> = rows.iter().map(|at| LISTED[*at]).collect();
        let response = get(&service, &format!("{PAGES}{query}"));
        assert_eq!(response.text(), document(&expected), "{query}");
    }
}

#[test]
fn unlisted_pages_are_merged_into_the_order() {
    let service = linked().start();
    let response = get(&service, &format!("{PAGES}&unlisted=true"));
    let expected = [
        ("/en/articles/a%20b", true),
        ("/en/articles/hidden", false),
        ("/en/articles/zoo", true),
        ("/de/articles/%C3%A9t%C3%A9", true),
        ("/help/a/not-localized.html", true),
        ("/help/b.html", true),
        // Also owned by an article: one row for each content type and path.
        ("/en/articles/zoo", false),
        ("/p/q", false),
    ];
    let expected = expected.map(|(path, listed)| (path.to_owned(), listed));
    assert_eq!(paths(&response), expected);
    assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
    let last = response.json()["data"]["pages"][7].clone();
    assert_eq!(last["params"], json!({"locale": "en", "path": "p/q"}));
    let of_type = get(&service, &format!("{PAGES}&unlisted=1&contentType=api::page.page"));
    assert_eq!(paths(&of_type), expected[6..]);
}

#[test]
fn pages_of_a_site_without_a_base_url_have_no_url() {
    let service = linked().start();
    let response = get(&service, "/api/pages?site=nourl");
    let rows = response.json()["data"]["pages"].clone();
    assert_eq!(response.json()["data"]["count"], 3);
    assert_eq!((&rows[0]["url"], &rows[0]["path"]), (&Value::Null, &json!("/elsewhere")));
}

#[test]
fn pages_refuse_bad_parameters() {
    let service = linked().start();
    for (query, message) in [
        ("", "`site` is required"),
        ("?site=x", "`site` is not a configured site: \"x\""),
        (
            "?site=main&contentType=api::x.x",
            "the site has no rule for this `contentType`: \"api::x.x\"",
        ),
        ("?site=main&locale=fr", "the site has no such `locale`: \"fr\""),
        ("?site=main&locale=e_", "`locale` is not a locale code: \"e_\""),
        ("?site=main&unlisted=yes", "`unlisted` must be true, false, 1 or 0, not \"yes\""),
        ("?site=main&site=main", "`site` is given more than once"),
    ] {
        let response = get(&service, &format!("/api/pages{query}"));
        assert_eq!(response.status, 400, "{query}");
        assert_eq!(response.json()["error"]["message"], message, "{query}");
    }
    for since in [
        "yesterday",
        "2026-01-31",
        "2026-01-31T12:00Z",
        "2026-01-31T12:00:00",
        "2026-01-31T12:00:00+01:00",
        "2026-01-31T12:00:00.Z",
        "2026-02-30T12:00:00Z",
        "2026-01-31%2012:00:00Z",
        "20260131T120000Z",
        "2026-01-31T12:00:00Z[UTC]",
        "2026-01-31T25:00:00Z",
        "2026-01-31T12:00:00-24:00",
        "2026-01-31T12:00:00-25:00",
        "-2026-01-31T12:00:00Z",
        "1769860800",
    ] {
        let response = get(&service, &format!("{PAGES}&since={since}"));
        assert_eq!(response.status, 400, "{since}");
        let message = response.json()["error"]["message"].as_str().expect("text").to_owned();
        assert!(message.starts_with("`since` must be a time like 2026-01-31T12:00:00Z, not "));
    }
}

#[test]
fn pages_are_compressed_and_conditional() {
    let service = linked().start();
    let plain = get(&service, PAGES);
    let tag = plain.header("etag").expect("a tag");
    let gzip = [("Accept-Encoding", "gzip")];
    let compressed = http::send(service.addr(), "GET", PAGES, &gzip);
    assert_eq!(compressed.header("content-encoding").as_deref(), Some("gzip"));
    let mut text = String::new();
    GzDecoder::new(&*compressed.body).read_to_string(&mut text).expect("gzip");
    assert_eq!(text, plain.text());
    assert_ne!(compressed.header("etag"), Some(tag.clone()));
    assert_ne!(lines(&service, PAGES).header("etag"), Some(tag.clone()));
    for query in ["&locale=en", "&since=2026-01-01T00:00:00Z", "&unlisted=1"] {
        let other = get(&service, &format!("{PAGES}{query}"));
        assert_ne!(other.header("etag"), Some(tag.clone()), "{query}");
    }
    let known = [("If-None-Match", tag.as_str())];
    let response = http::send(service.addr(), "GET", PAGES, &known);
    assert_eq!((response.status, response.body.len()), (304, 0));
    assert_eq!(response.header("etag").as_deref(), Some(tag.as_str()));
    // The tag is that of any instance with these settings and this content.
    assert_eq!(get(&linked().start(), PAGES).header("etag"), Some(tag));
}

#[test]
fn unlisted_pages_need_the_validation_token() {
    let token = "canary-aa41-validate";
    let service = linked().env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", token).start();
    assert_eq!(get(&service, PAGES).status, 200);
    let target = format!("{PAGES}&unlisted=true");
    let right = format!("Bearer {token}");
    for (sent, status) in [(None, 401), (Some("Bearer x"), 403), (Some(&*right), 200)] {
        let headers: Vec<_> = sent.iter().map(|value| ("Authorization", *value)).collect();
        let response = http::send(service.addr(), "GET", &target, &headers);
        assert_eq!(response.status, status, "{sent:?}");
    }
}

#[test]
fn tables_without_a_cms_are_the_error_of_the_sitemap() {
    let service = linked().strapi_at("http://127.0.0.1:1").without_endpoints().start();
    let sitemap = "/api/build-sitemap?site=main&contentType=api::article.article";
    for target in [sitemap, PAGES, "/api/problems?site=main"] {
        let response = get(&service, target);
        assert_eq!(response.status, 503, "{target}");
        assert_eq!(response.header("retry-after").as_deref(), Some("5"), "{target}");
        assert_eq!(response.json()["error"]["name"], "ServiceUnavailableError", "{target}");
    }
}
