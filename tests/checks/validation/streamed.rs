//! Results as a stream, which ends with the same bytes as the JSON response.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::ask;
use crate::support::front_end::{Answer, FrontEnd, answer};
use crate::support::http;
use crate::support::url_checks::{Caller, EVENTS, LINES, events, site, slugs};
use crate::support::wait::until_so;

fn script(path: &str) -> Answer {
    match path {
        "/gone-t0" => answer("404 Not Found", "", 5),
        far if far.starts_with("/far") => {
            answer("302 Found", &format!("Location: /{}\r\n", "ä".repeat(2047)), 0)
        }
        "/moved-t0" => answer("301 Moved Permanently", "Location: /new\r\n", 0),
        _ => answer("200 OK", "", 5),
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_event_for_each_url_then_the_result() {
    let peer = FrontEnd::start(script).await;
    let base = peer.url("http", "");
    let slugs = ["gone", "moved", "ok"].map(str::to_owned);
    let service = site(&base, 1, &slugs).start();
    let finding = |slug: &str, id: &str, came: Value| {
        let mut finding = json!({"url": format!("{base}/{slug}-t0"), "contentType": "api::t0.t0",
            "documentId": id, "locale": "en", "rule": "/{slug}-t0"});
        finding.as_object_mut().unwrap().extend(came.as_object().unwrap().clone());
        finding.to_string()
    };
    let expected: BTreeSet<String> = [
        finding("gone", "d0", json!({"status": 404, "ok": false})),
        finding("moved", "d1", json!({"status": 301, "ok": false, "location": "/new"})),
        finding("ok", "d2", json!({"status": 200, "ok": true})),
    ]
    .into();
    let none = json!({"2xx": 0, "3xx": 0, "4xx": 0, "5xx": 0, "error": 0});
    let all = json!({"2xx": 1, "3xx": 1, "4xx": 1, "5xx": 0, "error": 0});
    let begin = json!({"checked": 0, "total": 3, "byClass": none});
    let end = json!({"checked": 3, "total": 3, "byClass": all});

    // The first request follows the run, the second reads its kept result: both see all of it.
    for _ in 0..2 {
        let streamed = ask(&service, &[EVENTS]);
        assert_eq!(streamed.header("content-type").as_deref(), Some("text/event-stream"));
        assert_eq!(streamed.header("cache-control").as_deref(), Some("no-store"));
        assert_eq!(streamed.header("x-accel-buffering").as_deref(), Some("no"));
        assert_eq!(streamed.header("x-skipped-documents").as_deref(), Some("0"));
        let events = events(&streamed);
        let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
        let found = ["progress", "finding", "finding", "finding", "progress", "result"];
        assert_eq!(names, found, "{events:?}");
        assert_eq!([parsed(&events[0].1), parsed(&events[4].1)], [begin.clone(), end.clone()]);
        let findings = events[1..4].iter().map(|(_, data)| parsed(data).to_string());
        assert_eq!(findings.collect::<BTreeSet<_>>(), expected);
        let whole = ask(&service, &[]);
        assert_eq!(whole.header("content-type").as_deref(), Some("application/json"));
        assert_eq!(events[5].1, whole.text());
    }

    assert_eq!(
        ask(&service, &[]).text(),
        format!(
            concat!(
                r#"{{"data":{{"validated":true,"site":"main","contentType":"api::t0.t0","#,
                r#""count":3,"byClass":{{"2xx":1,"3xx":1,"4xx":1,"5xx":0,"error":0}},"#,
                r#""byStatus":{{"200":1,"301":1,"404":1}},"results":["#,
                r#"{{"url":"{base}/gone-t0","status":404,"ok":false}},"#,
                r#"{{"url":"{base}/moved-t0","status":301,"ok":false,"location":"/new"}},"#,
                r#"{{"url":"{base}/ok-t0","status":200,"ok":true}}]}},"meta":{{}}}}"#
            ),
            base = base
        )
    );
    let lines = ask(&service, &[LINES]);
    assert_eq!(lines.header("content-type").as_deref(), Some("application/x-ndjson"));
    let texts: Vec<&str> = lines.text().lines().collect();
    assert_eq!(parsed(texts[0]), json!({"progress": begin}));
    assert_eq!(parsed(texts[4]), json!({"progress": end}));
    let findings = texts[1..4].iter().map(|line| parsed(line)["finding"].to_string());
    assert_eq!(findings.collect::<BTreeSet<_>>(), expected);
    assert_eq!(texts[5], ask(&service, &[]).text());
    assert_eq!((texts.len(), peer.heads().len()), (6, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn counters_come_after_each_hundred_urls_and_in_silence() {
    let peer = FrontEnd::start(script).await;
    let service = site(&peer.url("http", ""), 1, &slugs("ok", 230)).start();
    let events = events(&ask(&service, &[EVENTS]));
    let counted = events.iter().filter(|(name, _)| name == "progress");
    let counted: BTreeSet<u64> =
        counted.map(|(_, data)| parsed(data)["checked"].as_u64().unwrap()).collect();
    assert!(counted.is_superset(&[0, 100, 200, 230].into()), "{counted:?}");

    let silent = FrontEnd::start(|_| Answer::Hang).await;
    let service = site(&silent.url("http", ""), 1, &slugs("ok", 1)).start();
    for form in [EVENTS, LINES] {
        let mut caller = Caller::new(&service, 0, Some(form), "");
        assert!(caller.until("progress").contains("\"checked\":0"));
        assert!(caller.until("progress").contains("\"checked\":0"), "counters in silence");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn client_that_does_not_read_delays_no_other_client() {
    let peer = FrontEnd::start(script).await;
    let slugs = slugs(&"ok".repeat(400), 2000);
    let service = site(&peer.url("http", ""), 1, &slugs).start();
    let _lazy = Caller::new(&service, 0, Some(EVENTS), "");
    until_so("the run", || !peer.heads().is_empty());
    let whole = ask(&service, &[]).json();
    assert_eq!(whole["data"]["byClass"]["2xx"], 2000);
    assert_eq!(whole["data"]["results"].as_array().unwrap().len(), 2000);
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_of_a_stream_are_bounded_in_bytes() {
    let peer = FrontEnd::start(script).await;
    let service = site(&peer.url("http", ""), 1, &slugs("far", 90)).start();
    ask(&service, &[]);
    // All results are known, so chunks are as large as they get.
    let streamed = Caller::new(&service, 0, Some(EVENTS), "").until("\r\n0\r\n\r\n");
    let sizes = streamed.split("\r\n").filter_map(|line| usize::from_str_radix(line, 16).ok());
    let sizes: Vec<usize> = sizes.collect();
    assert!(sizes.iter().sum::<usize>() > 90 * 2 * 4096, "{sizes:?}");
    assert!(sizes.iter().all(|size| *size < 80 * 1024), "{sizes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn event_source_that_has_seen_the_end_gets_204() {
    let peer = FrontEnd::start(script).await;
    let service = site(&peer.url("http", ""), 1, &slugs("ok", 1)).start();
    let again = ask(&service, &[EVENTS, ("Last-Event-ID", "end")]);
    assert_eq!((again.status, again.body.len()), (204, 0));
    assert_eq!(peer.heads().len(), 0);
    assert!(ask(&service, &[EVENTS]).text().contains("\nid: end\nevent: result\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn stream_ends_with_stopped_once_the_drain_delay_is_over() {
    let peer = FrontEnd::start(|_| Answer::Hang).await;
    let start = |drain_delay: &str| {
        let variable = "FRONTEND_MAP__SERVER__DRAIN_DELAY_MS";
        site(&peer.url("http", ""), 1, &slugs("a", 3)).env(variable, drain_delay).start()
    };
    for (header, last) in [
        (EVENTS, "event: stopped\ndata: {\"reason\":\"shutdown\"}\n\n"),
        (LINES, "{\"stopped\":{\"reason\":\"shutdown\"}}\n"),
    ] {
        let mut service = start("20");
        let mut caller = Caller::new(&service, 0, Some(header), "");
        assert!(caller.until("\"total\":3").contains("progress"));
        assert_eq!(service.signal("TERM"), Some(0), "no stream holds it up");
        let rest = caller.until("the end of the connection");
        assert!(rest.contains(last), "{rest:?}");
        assert!(!rest.contains("result") && !rest.contains("byStatus"), "{rest:?}");
        assert!(rest.ends_with("0\r\n\r\n"), "it ends as a stream does: {rest:?}");
        assert!(!service.log().contains("aborted"), "{}", service.log());
    }
    // Until then it continues.
    let mut service = start("20000");
    let mut caller = Caller::new(&service, 0, Some(EVENTS), "");
    service.send_signal("TERM");
    until_so("it drains", || http::get(service.addr(), "/readyz").status == 503);
    let after = caller.until("progress");
    assert!(after.contains("progress") && !after.contains("stopped"), "{after:?}");
    assert_eq!(service.signal("TERM"), Some(0));
}
