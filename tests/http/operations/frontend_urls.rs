//! `/api/frontend-urls`: the public URLs of many documents, over content from a file.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{CONTENT, ORIGIN, service, settings};
use crate::support::http::{self, End, Response, exchange, send_with, split};
use crate::support::service::Service;

const ROUTE: &str = "/api/frontend-urls";
/// The longest body that is read.
const MAX_BODY: usize = 256 * 1024;

fn post(service: &Service, query: &str, body: &str) -> Response {
    let length = body.len().to_string();
    let headers = [("Content-Length", length.as_str())];
    send_with(service.addr(), "POST", &format!("{ROUTE}{query}"), &headers, body)
}

/// The results about these documents.
#[track_caller]
fn results(response: &Response) -> Vec<Value> {
    assert_eq!(response.status, 200, "{}", response.text());
    let body = response.json();
    assert_eq!(body["meta"], json!({}));
    assert_eq!(body["data"].as_object().expect("an object").len(), 1);
    body["data"]["results"].as_array().expect("a list").clone()
}

#[track_caller]
fn assert_refused(response: &Response, status: u16, name: &str, message: &str) {
    assert_eq!(response.status, status, "{}", response.text());
    let error = &response.json()["error"];
    let found = (error["name"].as_str(), error["message"].as_str());
    assert_eq!(found, (Some(name), Some(message)));
}

#[test]
fn frontend_urls_has_a_result_for_each_document_in_the_order_requested() {
    let service = service();
    let body = r#"{"documents":[
        {"uid":"plugin::cms.article","documentId":"one","locale":"de"},
        {"uid":"api::doc.doc","documentId":"d","locale":"fr"},
        {"uid":"plugin::cms.article","documentId":"one"},
        {"uid":"plugin::cms.article","documentId":"one","locale":null},
        {"documentId":"five","uid":"plugin::cms.article","locale":"en","more":[1]},
        {"uid":"plugin::cms.article","documentId":"nope"},
        {"uid":"api::nope.nope","documentId":"one","locale":"en"},
        {"uid":"plugin::cms.article","documentId":"one","locale":"xx"},
        {"uid":"plugin::cms.event","documentId":"launch"},
        {"uid":"api::faq.faq","documentId":"f1","locale":"de"},
        {"uid":"plugin::events.talk","documentId":"talk","locale":"de"},
        {"uid":"plugin::cms.article","documentId":"one","locale":"de"}
    ]}"#;
    let base = "https://www.example.com/base";
    let shared = r#""sharedPath":{"owner":{"contentType":"plugin::cms.article","documentId":"five","locale":"en"}}"#;
    let expected = [
        format!(r#""uid":"plugin::cms.article","documentId":"one","locale":"de","url":"{base}/de/articles/zebra","path":"/de/articles/zebra""#),
        format!(r#""uid":"api::doc.doc","documentId":"d","locale":"en","url":"{base}/docs/guide/first%20steps","path":"/docs/guide/first%20steps""#),
        // Its path is that of another document.
        format!(r#""uid":"plugin::cms.article","documentId":"one","locale":"en","url":"{base}/en/articles/hello-world","path":"/en/articles/hello-world",{shared}"#),
        format!(r#""uid":"plugin::cms.article","documentId":"one","locale":"en","url":"{base}/en/articles/hello-world","path":"/en/articles/hello-world",{shared}"#),
        format!(r#""uid":"plugin::cms.article","documentId":"five","locale":"en","url":"{base}/en/articles/hello-world","path":"/en/articles/hello-world""#),
        r#""uid":"plugin::cms.article","documentId":"nope","locale":"en","reason":"no_version""#.to_owned(),
        r#""uid":"api::nope.nope","documentId":"one","locale":"en","reason":"no_rule""#.to_owned(),
        r#""uid":"plugin::cms.article","documentId":"one","locale":"xx","reason":"locale_unknown""#.to_owned(),
        r#""uid":"plugin::cms.event","documentId":"launch","locale":"en","path":"/en/events/launch","reason":"no_base_url""#.to_owned(),
        // Its versions have one path.
        format!(r#""uid":"api::faq.faq","documentId":"f1","locale":"de","url":"{base}/help/refund.html","path":"/help/refund.html""#),
        r#""uid":"plugin::events.talk","documentId":"talk","locale":"de","url":"https://talks.example.com/de/t/anfang","path":"/de/t/anfang""#.to_owned(),
        format!(r#""uid":"plugin::cms.article","documentId":"one","locale":"de","url":"{base}/de/articles/zebra","path":"/de/articles/zebra""#),
    ];
    let expected =
        format!(r#"{{"data":{{"results":[{{{}}}]}},"meta":{{}}}}"#, expected.join("},{"));
    let response = post(&service, "", body);
    assert_eq!((response.status, response.text()), (200, expected.as_str()));
    assert_eq!(response.header("content-type").as_deref(), Some("application/json"));
    assert_eq!(response.header("age").as_deref(), Some("0"));
    for absent in ["cache-control", "etag"] {
        assert_eq!(response.header(absent), None, "{absent}");
    }
}

#[test]
fn frontend_urls_by_get_names_one_content_type_and_locale() {
    let service = settings().env("FRONTEND_MAP__SERVER__CACHE_CONTROL_URL", "max-age=7").start();
    let get = |query: &str| http::get(service.addr(), &format!("{ROUTE}?{query}"));
    let query = "uid=plugin::cms.article&documentId=one,four,a%21,,one";
    let response = get(query);
    let found: Vec<_> = results(&response)
        .iter()
        .map(|one| (one["documentId"].clone(), one["path"].clone(), one["reason"].clone()))
        .collect();
    let hello = json!("/en/articles/hello-world");
    let expected = [
        (json!("one"), hello.clone(), Value::Null),
        (json!("four"), Value::Null, json!("no_version")),
        (json!("a!"), Value::Null, json!("invalid")),
        (Value::Null, Value::Null, json!("invalid")),
        (json!("one"), hello, Value::Null),
    ];
    assert_eq!(found, expected);
    let tag = response.header("etag").expect("a tag");
    assert_eq!(response.header("cache-control").as_deref(), Some("max-age=7"));
    let again =
        http::send(service.addr(), "GET", &format!("{ROUTE}?{query}"), &[("If-None-Match", &tag)]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(again.header("etag"), Some(tag));
    for (query, path) in [
        ("uid=plugin::cms.article&documentId=four&locale=fr", "/fr/articles/%C3%A9t%C3%A9"),
        ("uid=plugin::cms.article&documentId=one&locale=null", "/en/articles/hello-world"),
        ("uid=api::shared.shared&documentId=s&site=late&status=published", "/late/x"),
        ("uid=plugin::events.talk&documentId=talk&locale=de", "/de/t/anfang"),
    ] {
        assert_eq!(results(&get(query))[0]["path"], path, "{query}");
    }
}

/// A single response as the result of a batch.
fn as_result(single: &Response) -> Value {
    let body = single.json();
    let details = &body["error"]["details"];
    match single.status {
        200 => body["data"].clone(),
        501 => json!({"path": details["path"], "reason": "no_base_url"}),
        404 if details["reason"] == "conditions_not_met" => json!({"reason": "no_version"}),
        404 => details.clone(),
        status => panic!("{status}: {}", single.text()),
    }
}

#[test]
fn frontend_urls_equals_the_single_responses_for_every_document_and_locale() {
    let service = service();
    let content: Value = serde_json::from_str(CONTENT).expect("content");
    let mut documents = Vec::new();
    for (uid, versions) in content.as_object().expect("types") {
        for version in versions.as_array().expect("documents") {
            for locale in ["en", "de", "fr", "xx"] {
                let id = version["documentId"].as_str().expect("an id").to_owned();
                documents.push((uid.clone(), id, locale));
            }
        }
    }
    for site in ["", "main", "events", "talks", "late", "empty"] {
        let query = if site.is_empty() { String::new() } else { format!("site={site}") };
        let items: Vec<Value> = documents
            .iter()
            .map(|(uid, id, locale)| json!({"uid": uid, "documentId": id, "locale": locale}))
            .collect();
        let batch = post(&service, &format!("?{query}"), &json!({"documents": items}).to_string());
        for ((uid, id, locale), mut result) in documents.iter().zip(results(&batch)) {
            let target = format!(
                "/api/frontend-url?uid={uid}&documentId={id}&locale={locale}&details=true&{query}"
            );
            let single = http::get(service.addr(), &target);
            let result = result.as_object_mut().expect("an object");
            assert_eq!(result.remove("uid"), Some(json!(uid)));
            assert_eq!(result.remove("documentId"), Some(json!(id)));
            result.remove("locale").expect("a locale");
            assert_eq!(Value::from(result.clone()), as_result(&single), "{target}");
        }
    }
}

#[test]
fn frontend_urls_with_a_bad_item_has_results_for_the_others() {
    let service = service();
    let good = r#"{"uid":"plugin::cms.article","documentId":"one"}"#;
    let long = "a".repeat(200);
    let long_uid = format!(r#"{{"uid":"{long}","documentId":"one"}}"#);
    let echo = format!(r#""{}""#, "a".repeat(128));
    for (bad, uid, id, locale) in [
        ("null", "null", "null", "null"),
        ("5", "null", "null", "null"),
        ("[]", "null", "null", "null"),
        ("{}", "null", "null", "null"),
        (r#""one""#, "null", "null", "null"),
        (r#"{"uid":"plugin::cms.article"}"#, r#""plugin::cms.article""#, "null", "null"),
        (r#"{"uid":"","documentId":"one"}"#, r#""""#, r#""one""#, "null"),
        (r#"{"uid":null,"documentId":"one"}"#, "null", r#""one""#, "null"),
        (r#"{"uid":["x"],"documentId":"one"}"#, "null", r#""one""#, "null"),
        (r#"{"uid":"x\u0000","documentId":"one"}"#, r#""x\u0000""#, r#""one""#, "null"),
        (r#"{"uid":"x","documentId":"o/e"}"#, r#""x""#, r#""o/e""#, "null"),
        (r#"{"uid":"x","documentId":1}"#, r#""x""#, "null", "null"),
        (r#"{"uid":"x","documentId":"one","locale":"e_"}"#, r#""x""#, r#""one""#, r#""e_""#),
        (r#"{"uid":"x","documentId":"one","locale":5}"#, r#""x""#, r#""one""#, "null"),
        (r#"{"uid":"x","uid":"x","documentId":"one"}"#, r#""x""#, r#""one""#, "null"),
        (r#"["x","one"]"#, "null", "null", "null"),
        // Drafts have URLs of their own, by single requests.
        (r#"{"uid":"x","documentId":"one","status":"draft"}"#, r#""x""#, r#""one""#, "null"),
        (&long_uid, &echo, r#""one""#, "null"),
        // Half of a surrogate pair stands for no character; the other members are repeated.
        (r#"{"uid":"x","documentId":"\ud800","locale":"de"}"#, r#""x""#, "null", r#""de""#),
        (r#"{"uid":"\udc00","documentId":"one"}"#, "null", r#""one""#, "null"),
        (r#"{"uid":"x","documentId":"one","status":"\ud800"}"#, r#""x""#, r#""one""#, "null"),
        (r#"{"uid":"x","documentId":"one","\ud800":1}"#, "null", "null", "null"),
    ] {
        let response = post(&service, "", &format!(r#"{{"documents":[{good},{bad},{good}]}}"#));
        let all = results(&response);
        assert_eq!(all.len(), 3, "{bad}");
        for at in [0, 2] {
            assert_eq!(all[at]["path"], "/en/articles/hello-world", "{bad}");
        }
        let expected =
            format!(r#"{{"uid":{uid},"documentId":{id},"locale":{locale},"reason":"invalid"}}"#);
        assert!(response.text().contains(&expected), "{bad}: {}", response.text());
    }
}

#[test]
fn frontend_urls_members_of_an_item_that_are_null_or_empty_count_as_absent() {
    let service = service();
    let hello = json!("/en/articles/hello-world");
    for (members, path) in [
        (r#""status":"published""#, hello.clone()),
        (r#""status":null"#, hello.clone()),
        (r#""status":"""#, hello.clone()),
        (r#""locale":null"#, hello.clone()),
        (r#""locale":"null""#, hello.clone()),
        (r#""locale":"","status":"""#, hello),
        (r#""status":"draft""#, Value::Null),
        (r#""status":"Published""#, Value::Null),
        (r#""status":true"#, Value::Null),
    ] {
        let item = format!(r#"{{"uid":"plugin::cms.article","documentId":"one",{members}}}"#);
        let found = results(&post(&service, "", &format!(r#"{{"documents":[{item}]}}"#)));
        assert_eq!(found[0]["path"], path, "{members}");
        let reason = if path.is_null() { json!("invalid") } else { Value::Null };
        assert_eq!(found[0]["reason"], reason, "{members}");
    }
}

#[test]
fn frontend_urls_refuses_requests_that_name_no_documents_or_too_many() {
    let service = service();
    let one = r#"{"uid":"api::doc.doc","documentId":"d"}"#;
    let many = |count: usize| format!(r#"{{"documents":[{}]}}"#, vec![one; count].join(","));
    assert_eq!(results(&post(&service, "", &many(1_000))).len(), 1_000);
    let shape = "the body must be a JSON object with a list `documents`";
    let count = |count| format!("`documents` must have 1 to 1000 documents, not {count}");
    for (body, message) in [
        (many(0), count(0)),
        (many(1_001), count(1_001)),
        (String::new(), shape.to_owned()),
        ("not JSON".to_owned(), shape.to_owned()),
        ("[]".to_owned(), shape.to_owned()),
        ("null".to_owned(), shape.to_owned()),
        (format!("[[{one}]]"), shape.to_owned()),
        ("{}".to_owned(), shape.to_owned()),
        (format!(r#"{{"documents":{one}}}"#), shape.to_owned()),
        (format!(r#"{{"documents":[{one}],"documents":[{one}]}}"#), shape.to_owned()),
        (format!(r#"{{"documents":[{one}]}} x"#), shape.to_owned()),
        (format!(r#"{{"documents":[{one}"#), shape.to_owned()),
        ("[".repeat(200_000), shape.to_owned()),
    ] {
        assert_refused(&post(&service, "", &body), 400, "ValidationError", &message);
    }
    for (query, message) in [
        ("?site=nope", r#"`site` is not a configured site: "nope""#),
        ("?site=main&site=main", "`site` is given more than once"),
        ("?status=draft", r#"`status` must be published, not "draft""#),
    ] {
        assert_refused(&post(&service, query, &many(1)), 400, "ValidationError", message);
    }
    let ids = vec!["d"; 1_001].join(",");
    for (query, message) in [
        ("documentId=d".to_owned(), "`uid` is required"),
        ("uid=api::doc.doc&documentId=".to_owned(), "`documentId` is required"),
        (
            "uid=api::doc.doc&documentId=d&locale=e_".to_owned(),
            r#"`locale` is not a locale code: "e_""#,
        ),
        (
            "uid=api::doc.doc&documentId=d&status=modified".to_owned(),
            r#"`status` must be published, not "modified""#,
        ),
        (
            format!("uid=api::doc.doc&documentId={ids}"),
            "`documentId` must have 1 to 1000 documents, not 1001",
        ),
    ] {
        let response = http::get(service.addr(), &format!("{ROUTE}?{query}"));
        assert_refused(&response, 400, "ValidationError", message);
        assert_eq!(response.header("cache-control"), None);
    }
}

/// A request with this body in chunks.
fn chunked(body: &str, end: &str) -> String {
    let mut request =
        format!("POST {ROUTE} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for chunk in body.as_bytes().chunks(60_000) {
        let text = std::str::from_utf8(chunk).expect("ASCII");
        write!(request, "{:x}\r\n{text}\r\n", chunk.len()).expect("text grows");
    }
    request + end
}

fn sent(service: &Service, request: &str) -> Response {
    let deadline = Instant::now() + Duration::from_mins(1);
    let is_complete = |bytes: &[u8]| split(bytes, false, false).is_some();
    let (bytes, end) = exchange(service.addr(), request.as_bytes(), deadline, is_complete);
    let found = split(&bytes, false, end == End::Closed);
    found.unwrap_or_else(|| panic!("no response: {}", String::from_utf8_lossy(&bytes))).0
}

#[test]
fn frontend_urls_reads_a_body_of_any_framing_and_type_up_to_its_limit() {
    let service = service();
    let with_length = |length: usize| {
        let body = r#"{"documents":[{"uid":"api::doc.doc","documentId":"d"}]}"#;
        body.to_owned() + &" ".repeat(length - body.len())
    };
    for content_type in ["text/plain", "application/json", "application/x-www-form-urlencoded", "x"]
    {
        let body = with_length(100);
        let headers = [("Content-Length", "100"), ("Content-Type", content_type)];
        let response = send_with(service.addr(), "POST", ROUTE, &headers, &body);
        assert_eq!(results(&response).len(), 1, "{content_type}");
    }
    assert_eq!(results(&post(&service, "", &with_length(MAX_BODY))).len(), 1);
    assert_eq!(results(&sent(&service, &chunked(&with_length(MAX_BODY), "0\r\n\r\n"))).len(), 1);
    let message = "the body is longer than 262144 bytes";
    for length in [MAX_BODY + 1, 10 << 20] {
        let response = post(&service, "", &with_length(length));
        assert_refused(&response, 413, "PayloadTooLargeError", message);
        let response = sent(&service, &chunked(&with_length(length), "0\r\n\r\n"));
        assert_refused(&response, 413, "PayloadTooLargeError", message);
    }
    let malformed = sent(&service, &chunked("{}", "zz\r\n\r\n"));
    assert_refused(&malformed, 400, "ValidationError", "the body is not complete");
    let both = format!(
        "POST {ROUTE} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"
    );
    let message = "a request must not have both Content-Length and Transfer-Encoding";
    assert_refused(&sent(&service, &both), 400, "ValidationError", message);
}

#[test]
fn frontend_urls_with_a_body_that_is_not_complete_in_time_is_408() {
    let service = service();
    let declared = format!("POST {ROUTE} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{{");
    let begun = Instant::now();
    for request in [declared, chunked(r#"{"documents":["#, "")] {
        let response = sent(&service, &request);
        let message = "the body was not complete within 5 seconds";
        assert_refused(&response, 408, "RequestTimeoutError", message);
        assert_eq!(response.header("connection").as_deref(), Some("close"));
    }
    assert!(begun.elapsed() >= Duration::from_secs(10), "five seconds each");
}

#[test]
fn frontend_urls_alone_names_post_in_allow_and_in_preflights() {
    let service = service();
    let preflight = |target: &str, method: &str| {
        let headers = [("Origin", ORIGIN), ("Access-Control-Request-Method", method)];
        http::send(service.addr(), "OPTIONS", target, &headers)
    };
    for method in ["GET", "POST", "DELETE"] {
        let response = preflight(ROUTE, method);
        assert_eq!((response.status, response.body.len()), (200, 0));
        let allowed = response.header("access-control-allow-methods");
        assert_eq!(allowed.as_deref(), Some("GET, HEAD, POST"));
        assert_eq!(response.header("allow").as_deref(), Some("GET, HEAD, POST, OPTIONS"));
    }
    let other = preflight("/api/frontend-url", "POST");
    assert_eq!(other.header("access-control-allow-methods").as_deref(), Some("GET, HEAD"));
    let refused = http::send(service.addr(), "PUT", ROUTE, &[]);
    let message = "only GET, HEAD, POST and OPTIONS are allowed here";
    assert_refused(&refused, 405, "MethodNotAllowedError", message);
    assert_eq!(refused.header("allow").as_deref(), Some("GET, HEAD, POST, OPTIONS"));
    let body = r#"{"documents":[{"uid":"api::doc.doc","documentId":"d"}]}"#;
    let length = body.len().to_string();
    let headers = [("Content-Length", length.as_str()), ("Origin", ORIGIN)];
    let response = send_with(service.addr(), "POST", ROUTE, &headers, body);
    assert_eq!(response.header("access-control-allow-origin").as_deref(), Some(ORIGIN));
}
