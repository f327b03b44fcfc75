//! Checks `tests/corpora/hostile-slugs.jsonl` through the real service with content from a file:
//! every document has the expected URL or reason, every base URL is accepted or refused.
//!
//! One service serves all documents: row N has its own site `rowN` and content type
//! `api::rowN.rowN`, with the rule of the row.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::support::front_of_cms::articles;
use crate::support::http::{self, Response};
use crate::support::service::{Service, Setup};
use crate::support::settings::Settings;

const ROWS: &str = include_str!("../corpora/hostile-slugs.jsonl");
const BASE: &str = "https://www.example.com";

/// Documents stay raw text: a number like 1e30 must reach the service as it is written.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Expectation {
    Slug {
        expect_path: Option<String>,
        expect_url: Option<String>,
        expect_skip_reason: Option<String>,
    },
    List {
        expect_urls: Vec<String>,
    },
    BaseUrl {
        value: String,
        expect_base: Option<String>,
        expect_start: String,
    },
}

#[derive(Deserialize)]
struct Given<'a> {
    name: String,
    rule: Option<String>,
    #[serde(borrow)]
    document: Option<&'a RawValue>,
    #[serde(borrow)]
    documents: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
struct DocumentKey {
    #[serde(rename = "documentId")]
    id: Value,
    locale: Option<Value>,
}

/// One row, and its number in the file.
struct Row<'a> {
    number: usize,
    given: Given<'a>,
    expectation: Expectation,
}

impl Row<'_> {
    fn uid(&self) -> String {
        format!("api::row{0}.row{0}", self.number)
    }

    fn texts(&self) -> Vec<&str> {
        let one = self.given.document.iter().map(|document| document.get());
        let many = self.given.documents.iter().flatten().map(|document| document.get());
        one.chain(many).collect()
    }

    /// D31: the file source refuses the same (documentId, locale, status) twice, so a row that
    /// repeats one can't be served from a file.
    fn repeats_a_document(&self) -> bool {
        let keys: Vec<(Value, Option<Value>)> = self
            .texts()
            .iter()
            .map(|text| serde_json::from_str::<DocumentKey>(text).expect("a document"))
            .map(|key| (key.id, key.locale))
            .collect();
        keys.iter().enumerate().any(|(index, key)| keys[..index].contains(key))
    }
}

fn rows() -> Vec<Row<'static>> {
    let row = |(number, line): (usize, &'static str)| Row {
        number,
        given: serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")),
        expectation: serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")),
    };
    ROWS.lines().enumerate().map(row).collect()
}

/// Settings and content for these rows: a site and a content type for each.
fn settings(rows: &[&Row<'_>]) -> Settings {
    let with = |settings: Settings, row: &&Row<'_>| {
        let rule = row.given.rule.as_deref().expect("a row with documents has a rule");
        settings
            .site(&format!("row{}", row.number))
            .front_end_url(BASE)
            .locales(&["en", "de", "fr", "pt-BR"])
            .rule(&row.uid(), rule)
    };
    let of = |row: &&Row<'_>| format!("\"{}\": [{}]", row.uid(), row.texts().join(", "));
    let content: Vec<String> = rows.iter().map(of).collect();
    rows.iter().fold(Settings::new(), with).files(&format!("{{{}}}", content.join(",\n")))
}

#[test]
fn document_of_the_corpus_has_the_expected_url_or_reason() {
    let rows = rows();
    let rows: Vec<&Row<'_>> = rows
        .iter()
        .filter(|row| {
            !matches!(row.expectation, Expectation::BaseUrl { .. }) && !row.repeats_a_document()
        })
        .collect();
    let service = settings(&rows).start();
    let mut failures = Vec::new();
    for row in &rows {
        for problem in check(&service, row) {
            failures.push(format!("{}: {problem}", row.given.name));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {} rows\n{}",
        failures.len(),
        rows.len(),
        failures.join("\n")
    );
}

#[test]
fn serve_refuses_a_file_with_a_repeated_document() {
    let rows = rows();
    let twice: Vec<&Row<'_>> = rows.iter().filter(|row| row.repeats_a_document()).collect();
    assert!(!twice.is_empty(), "the corpus has such a row");
    for row in twice {
        let ended = settings(&[row]).run(&["serve"]);
        assert_eq!(ended.status, Some(78), "{}: {}", row.given.name, ended.stderr);
        assert_eq!(ended.stdout, "", "{}", row.given.name);
        assert!(ended.stderr.contains(&row.uid()), "{}: {}", row.given.name, ended.stderr);
    }
}

fn check(service: &Service, row: &Row<'_>) -> Vec<String> {
    match &row.expectation {
        Expectation::Slug { expect_path: Some(path), expect_url: Some(url), .. } => {
            check_url(service, row, path, url)
        }
        Expectation::Slug { expect_skip_reason: Some(reason), .. } => {
            check_skipped(service, row, reason)
        }
        Expectation::Slug { .. } => vec!["the row expects neither a URL nor a reason".to_owned()],
        Expectation::List { expect_urls } => check_list(service, row, expect_urls, 0),
        Expectation::BaseUrl { .. } => vec![],
    }
}

fn check_url(service: &Service, row: &Row<'_>, path: &str, url: &str) -> Vec<String> {
    let mut problems = check_list(service, row, &[url.to_owned()], 0);
    let response = frontend_url(service, row);
    let wanted = format!(r#"{{"data":{{"url":"{url}","path":"{path}"}},"meta":{{}}}}"#);
    if response.status != 200 || response.text() != wanted {
        problems.push(format!(
            "/api/frontend-url: {} {}, want 200 {wanted}",
            response.status,
            cut(response.text())
        ));
    }
    problems
}

/// A document without a URL: left out of `/api/build-sitemap`, and a 404 with its
/// reason from `/api/frontend-url`.
fn check_skipped(service: &Service, row: &Row<'_>, reason: &str) -> Vec<String> {
    let well_formed = |text: &str| {
        text.split(['-', '_']).all(|part| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
    };
    // A version in a locale that the site does not have is no fault of the site.
    let is_elsewhere = reason == "locale_unknown"
        && matches!(key(row).locale, Some(Value::String(locale)) if well_formed(&locale));
    let mut problems = check_list(service, row, &[], usize::from(!is_elsewhere));
    let response = frontend_url(service, row);
    // D19: a locale that the site doesn't have is a 404 of the parameter, a malformed one a 400.
    let requested = locale(row);
    let wanted_status = if well_formed(&requested) { 404 } else { 400 };
    if response.status != wanted_status {
        problems.push(format!(
            "/api/frontend-url: status {}, want {wanted_status}: {}",
            response.status,
            cut(response.text())
        ));
    }
    let details = &response.json()["error"]["details"];
    if reason == "locale_unknown" {
        if wanted_status == 404 && details["reason"] != reason {
            problems
                .push(format!("/api/frontend-url: details {details}, want the reason {reason}"));
        }
    } else if details["reason"] != reason
        || details["rule"] != *row.given.rule.as_deref().unwrap_or_default()
    {
        problems.push(format!(
            "/api/frontend-url: details {details}, want the reason {reason} and the rule"
        ));
    }
    problems
}

fn check_list(service: &Service, row: &Row<'_>, urls: &[String], skipped: usize) -> Vec<String> {
    let target = format!("/api/build-sitemap?site=row{}&contentType={}", row.number, row.uid());
    let response = http::get(service.addr(), &target);
    let wanted = serde_json::json!({"data": {"count": urls.len(), "urls": urls}, "meta": {}});
    let mut problems = Vec::new();
    if response.status != 200 || response.json() != wanted {
        problems.push(format!(
            "/api/build-sitemap: {} {}, want {wanted}",
            response.status,
            cut(response.text())
        ));
    }
    let header = response.header("x-skipped-documents").unwrap_or_else(|| "0".to_owned());
    if header != skipped.to_string() {
        problems
            .push(format!("/api/build-sitemap: X-Skipped-Documents is {header}, want {skipped}"));
    }
    problems
}

fn key(row: &Row<'_>) -> DocumentKey {
    serde_json::from_str(row.texts()[0]).expect("a document")
}

fn frontend_url(service: &Service, row: &Row<'_>) -> Response {
    let key = key(row);
    let target = format!(
        "/api/frontend-url?uid={}&documentId={}&locale={}",
        row.uid(),
        http::query(key.id.as_str().expect("a documentId")),
        http::query(&locale(row)),
    );
    http::get(service.addr(), &target)
}

/// The locale to request: the document's own as text, the default one when it has none.
fn locale(row: &Row<'_>) -> String {
    match key(row).locale {
        None | Some(Value::Null) => "en".to_owned(),
        Some(Value::String(locale)) => locale,
        Some(other) => other.to_string(),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(300).collect()
}

#[test]
fn base_url_in_the_environment_is_accepted_or_refused() {
    let without = hello_world().without_front_end_url();
    each_base_url(|value| without.env("FRONT_END_URL_MAIN", value));
}

#[test]
fn base_url_in_the_settings_is_accepted_or_refused() {
    // A JSON string is a TOML basic string as well, for these values.
    each_base_url(|value| {
        hello_world().front_end_url(&serde_json::json!(value).to_string()).setup()
    });
}

fn hello_world() -> Settings {
    let content =
        r#"{"plugin::cms.article": [{"documentId": "a", "locale": "en", "slug": "hello-world"}]}"#;
    articles().files(content)
}

fn each_base_url(setup: impl Fn(&str) -> Setup) {
    let mut failures = Vec::new();
    for row in rows() {
        if let Expectation::BaseUrl { value, expect_base, expect_start } = &row.expectation
            && let Err(problem) =
                check_base(setup(value), value, expect_base.as_deref(), expect_start)
        {
            failures.push(format!("{} ({value:?}): {problem}", row.given.name));
        }
    }
    assert!(failures.is_empty(), "{} rows\n{}", failures.len(), failures.join("\n"));
}

fn check_base(setup: Setup, value: &str, base: Option<&str>, start: &str) -> Result<(), String> {
    if start == "refuse" {
        let ended = setup.run(&["serve"]);
        if ended.status != Some(78) || !ended.stdout.is_empty() {
            return Err(format!(
                "status {:?}, stdout {:?}, want a refusal",
                ended.status, ended.stdout
            ));
        }
        return if ended.stderr.contains("main") {
            Ok(())
        } else {
            Err(format!("the site isn't named: {}", ended.stderr))
        };
    }
    let service = setup.start();
    let response =
        http::get(service.addr(), "/api/frontend-url?uid=plugin::cms.article&documentId=a");
    let wanted = match (start, base) {
        ("ok", Some(base)) => (
            200,
            serde_json::json!({"url": format!("{base}/en/articles/hello-world"), "path": "/en/articles/hello-world"}),
        ),
        ("unset: 501", None) => (501, Value::Null),
        _ => {
            return Err(format!("a row that this test cannot read: {start:?}, {base:?}"));
        }
    };
    if (response.status, &response.json()["data"]) != (wanted.0, &wanted.1) {
        return Err(format!(
            "{} {}, want {wanted:?} for {value:?}",
            response.status,
            response.text()
        ));
    }
    if wanted.0 == 501 && response.json()["error"]["details"]["path"] != "/en/articles/hello-world"
    {
        return Err(format!("a 501 without the path: {}", response.text()));
    }
    Ok(())
}
