//! Sends each row of `tests/corpora/bad-inputs*.jsonl` over a raw socket and checks the status, the
//! error name and the headers.
//!
//! One character of a row's text is one byte (latin-1), and `{{repeat:S:N}}` stands for S repeated
//! N times.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;

use crate::support::http::{self, End, Response};
use crate::support::service::Setup;

const GIVEN: &str = include_str!("../corpora/bad-inputs.jsonl");
const OWN: &str = include_str!("../corpora/bad-inputs-own.jsonl");
const SECRETS: &str = include_str!("../corpora/bad-inputs-secrets.jsonl");

/// The time for a response, however busy the machine is.
const PATIENCE: Duration = Duration::from_mins(1);
/// The time for a whole request head in ms: longer than any response may take, so that an incomplete
/// request is not closed for its time, and short for the rows that wait for that.
const LONG_HEAD_TIMEOUT: &str = "600000";
const SHORT_HEAD_TIMEOUT: &str = "1000";

/// The longest message, and the largest body of an error: input is not echoed at length.
const MAX_MESSAGE_CHARS: usize = 512;
const MAX_ERROR_BYTES: usize = 8192 + 4096;

#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the corpus has these flags")]
struct Row {
    name: String,
    request_target: String,
    expect_status: Value,
    expect_error_name: Option<String>,
    #[serde(default)]
    envelope: bool,
    method: Option<String>,
    http_version: Option<String>,
    host: Option<String>,
    #[serde(default)]
    no_host: bool,
    #[serde(default)]
    headers: Vec<(String, String)>,
    raw_headers: Option<String>,
    body: Option<String>,
    raw: Option<String>,
    #[serde(default)]
    expect_headers: BTreeMap<String, String>,
    #[serde(default)]
    forbid_headers: Vec<String>,
    forbid_body: Option<String>,
    forbid_response_header_value: Option<String>,
    expect_content_type: Option<String>,
    #[serde(default)]
    expect_no_body: bool,
    expect_second_status: Option<u16>,
    #[serde(default)]
    slow: bool,
}

#[test]
fn bad_inputs_one_at_a_time_get_the_expected_response() {
    run_all("bad-inputs.jsonl", GIVEN, 1);
}

#[test]
fn bad_inputs_64_at_a_time_get_the_expected_response() {
    run_all("bad-inputs.jsonl", GIVEN, 64);
}

#[test]
fn own_bad_inputs_one_at_a_time_get_the_expected_response() {
    run_all("bad-inputs-own.jsonl", OWN, 1);
}

#[test]
fn own_bad_inputs_64_at_a_time_get_the_expected_response() {
    run_all("bad-inputs-own.jsonl", OWN, 64);
}

#[test]
fn bad_inputs_to_a_service_with_secrets_get_the_expected_response() {
    run_all("bad-inputs-secrets.jsonl", SECRETS, 64);
}

#[test]
fn expand_spells_out_repeats() {
    assert_eq!(expand("a{{repeat:b:3}}c{{repeat:X: 1\r\n:2}}"), "abbbcX: 1\r\nX: 1\r\n");
    assert_eq!(expand("{{repeat:a:x}}"), "{{repeat:a:x}}");
}

fn run_all(name: &str, text: &str, jobs: usize) {
    let has_secrets = text == SECRETS;
    let start = |timeout| {
        let setup = Setup::fixture().env("FRONTEND_MAP__LIMITS__HEAD_TIMEOUT_MS", timeout);
        if has_secrets { with_secrets(setup) } else { setup }.start()
    };
    let (prompt, slow) = (start(LONG_HEAD_TIMEOUT), start(SHORT_HEAD_TIMEOUT));
    let addr = prompt.addr();
    let rows: Vec<Row> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let problems = run(if row.slow { slow.addr() } else { addr }, row);
                    if !problems.is_empty() {
                        failures.lock().expect("no runner panics").push(format!(
                            "{}: {}",
                            row.name,
                            problems.join("; ")
                        ));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("no runner panics");
    failures.sort();
    let passed = rows.len() - failures.len();
    assert!(
        failures.is_empty(),
        "{name}, {jobs} at a time: {passed}/{} passed\n{}",
        rows.len(),
        failures.join("\n")
    );
    let alive =
        http::get(addr, "/api/get-content-type?pathname=/en/articles/hello-world&site=main");
    assert_eq!(alive.status, 200, "still alive after {name}");
}

fn with_secrets(setup: Setup) -> Setup {
    setup
        .env("FRONTEND_MAP__HOOKS__SECRET", "webhook-secret")
        .env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", "validation-token")
        .env("FRONTEND_MAP__AUTH__DRAFT_TOKEN", "draft-token")
}

fn run(addr: SocketAddr, row: &Row) -> Vec<String> {
    let head_only = row.method.as_deref() == Some("HEAD");
    let deadline = Instant::now() + PATIENCE;
    let (bytes, end) = http::exchange(addr, &request(row), deadline, |bytes| {
        // A body after HEAD would come last: wait for the end.
        !head_only
            && http::split(bytes, head_only, false).is_some_and(|(_, rest)| {
                row.expect_second_status.is_none() || http::split(rest, head_only, false).is_some()
            })
    });
    let seen = String::from_utf8_lossy(&bytes[..bytes.len().min(160)]).into_owned();
    let Some((response, rest)) = http::split(&bytes, head_only, end == End::Closed) else {
        let got =
            if bytes.is_empty() && end == End::Closed { "CLOSE" } else { "no complete response" };
        let wanted = row.expect_status == got;
        return if wanted {
            vec![]
        } else {
            vec![format!("got {got} ({end:?}, {seen:?}), want {}", row.expect_status)]
        };
    };
    let mut problems = Vec::new();
    if row.expect_status != response.status {
        problems.push(format!("status {}, want {}: {seen:?}", response.status, row.expect_status));
    } else if row.envelope {
        check_envelope(row, &response, &mut problems);
    }
    if row.expect_no_body && !rest.is_empty() {
        problems.push("HEAD with a body".to_owned());
    }
    if let Some(second) = row.expect_second_status {
        let got =
            http::split(rest, head_only, end == End::Closed).map(|(response, _)| response.status);
        if got != Some(second) {
            problems.push(format!("second response {got:?}, want {second}"));
        }
    }
    check_headers(row, &response, &mut problems);
    problems
}

fn check_envelope(row: &Row, response: &Response, problems: &mut Vec<String>) {
    let content_type = response.header("content-type").unwrap_or_default();
    let wanted = if response.status >= 400 { None } else { row.expect_content_type.as_deref() };
    let wanted = wanted.unwrap_or("application/json");
    if !content_type.starts_with(wanted) {
        problems.push(format!("content type {content_type:?}, want {wanted}"));
    }
    if response.header("x-content-type-options").as_deref() != Some("nosniff") {
        problems.push("no nosniff".to_owned());
    }
    if wanted != "application/json" {
        return;
    }
    let json: Value = match serde_json::from_slice(&response.body) {
        Ok(json) => json,
        Err(error) => return problems.push(format!("no JSON: {error}")),
    };
    if response.status < 400 {
        if !json["data"].is_object()
            || json["meta"] != serde_json::json!({})
            || json.get("error").is_some()
        {
            problems.push("not the success envelope".to_owned());
        }
        return;
    }
    let error = &json["error"];
    if json.get("data") != Some(&Value::Null) {
        problems.push("data is not null".to_owned());
    }
    if error["status"] != response.status {
        problems.push("error.status differs from the HTTP status".to_owned());
    }
    if row.expect_error_name.as_deref().is_some_and(|name| error["name"] != name) {
        problems.push(format!("error.name {}, want {:?}", error["name"], row.expect_error_name));
    }
    if error["message"]
        .as_str()
        .is_none_or(|message| message.is_empty() || message.chars().count() > MAX_MESSAGE_CHARS)
    {
        problems.push("message missing or too long".to_owned());
    }
    if response.body.len() > MAX_ERROR_BYTES {
        problems.push("the error's body is too large".to_owned());
    }
}

fn check_headers(row: &Row, response: &Response, problems: &mut Vec<String>) {
    for (name, wanted) in &row.expect_headers {
        let got = response.header(name).unwrap_or_default();
        if !got.to_lowercase().contains(&wanted.to_lowercase()) {
            problems.push(format!("header {name} is {got:?}, want {wanted:?}"));
        }
    }
    let injected = ["set-cookie", "x-evil"].map(str::to_owned);
    for name in row.forbid_headers.iter().chain(&injected) {
        if response.header(name).is_some() {
            problems.push(format!("header {name} is present"));
        }
    }
    if let Some(text) = &row.forbid_response_header_value
        && response.headers.iter().any(|(_, value)| value.contains(text.as_str()))
    {
        problems.push("a forbidden header value is reflected".to_owned());
    }
    if let Some(text) = &row.forbid_body
        && String::from_utf8_lossy(&response.body).contains(text.as_str())
    {
        problems.push(format!("forbidden text {text:?} in the body"));
    }
}

fn request(row: &Row) -> Vec<u8> {
    if let Some(raw) = &row.raw {
        return latin1(&expand(raw));
    }
    let method = row.method.as_deref().unwrap_or("GET");
    let version = row.http_version.as_deref().unwrap_or("HTTP/1.1");
    let target = expand(&row.request_target);
    let host = match (row.no_host, row.host.as_deref()) {
        (true, _) => String::new(),
        (false, host) => format!("Host: {}\r\n", host.unwrap_or("localhost")),
    };
    let headers: Vec<String> =
        row.headers.iter().map(|(name, value)| format!("{name}: {}\r\n", expand(value))).collect();
    let headers = headers.concat();
    let raw_headers = row.raw_headers.as_deref().unwrap_or("");
    let closes = row.body.is_none() && row.raw_headers.is_none();
    let close = if closes { "Connection: close\r\n" } else { "" };
    let body = expand(row.body.as_deref().unwrap_or(""));
    let text =
        format!("{method} {target} {version}\r\n{host}{headers}{raw_headers}{close}\r\n{body}");
    latin1(&text)
}

fn latin1(text: &str) -> Vec<u8> {
    text.chars()
        .map(|char| u8::try_from(char).unwrap_or_else(|_| panic!("{char:?} is not latin-1")))
        .collect()
}

/// Spells out `{{repeat:S:N}}`; S may contain colons.
fn expand(text: &str) -> String {
    const OPEN: &str = "{{repeat:";
    let Some(start) = text.find(OPEN) else {
        return text.to_owned();
    };
    let inner = &text[start + OPEN.len()..];
    let repeated = inner.match_indices(':').find_map(|(colon, _)| {
        let after = &inner[colon + 1..];
        let (count, rest) = after.split_once("}}")?;
        let digits = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
        let count: usize = digits.then(|| count.parse().ok())??;
        Some((inner[..colon].repeat(count), rest))
    });
    match repeated {
        Some((repeated, rest)) => format!("{}{repeated}{}", &text[..start], expand(rest)),
        None => text.to_owned(),
    }
}
