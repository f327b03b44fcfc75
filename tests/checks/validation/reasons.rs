//! The reasons of dead URLs, word for word.

use serde_json::{Value, json};

use super::ask;
use crate::support::cms::Cms;
use crate::support::front_end::{Answer, FrontEnd, answer, refusing};
use crate::support::script::Script;
use crate::support::service::Service;
use crate::support::url_checks::{LINES, site, slugs};

fn script(path: &str) -> Answer {
    match path.trim_end_matches("-t0") {
        "/00-fine" => answer("200 OK", "", 5),
        "/01-moved" => {
            let location = "Location: /a\tb\u{202e}\u{9b}31m\r\n";
            answer("302 Found", location, 0)
        }
        "/02-gone" => answer("410 Gone", "", 0),
        "/03-broken" => answer("500 Internal Server Error", "", 5),
        "/04-endless" => Answer::Endless("HTTP/1.1 200 OK\r\n\r\nx".into()),
        "/05-reset" => Answer::Reset,
        "/06-closed" => Answer::Close(Vec::new()),
        "/07-half" => Answer::Close("HTTP/1.1 200 OK\r\nContent-Le".into()),
        "/08-garbage" => Answer::Close("220 mail.example.com ESMTP\r\n".into()),
        "/09-silent" => Answer::Hang,
        "/10-drips" => Answer::Drip("HTTP/1.1 200 OK\r\nX: ".into()),
        other => panic!("the script has no {other}"),
    }
}

/// The results, and the same from the stream.
fn results(service: &Service) -> Vec<Value> {
    let answer = ask(service, &[]).json();
    let results = answer["data"]["results"].as_array().unwrap().clone();
    let lines = ask(service, &[LINES]);
    let finding = |line: &str| serde_json::from_str::<Value>(line).unwrap()["finding"].take();
    let mut findings: Vec<Value> = lines.text().lines().map(finding).collect();
    findings.retain(|finding| !finding.is_null());
    findings.sort_by_key(|finding| finding["url"].to_string());
    for (finding, result) in findings.iter_mut().zip(&results) {
        let finding = finding.as_object_mut().unwrap();
        for more in ["contentType", "documentId", "locale", "rule"] {
            assert!(finding.remove(more).unwrap().is_string(), "{more}");
        }
        assert_eq!(Some(&*finding), result.as_object());
    }
    assert_eq!(findings.len(), results.len());
    results
}

fn dead(url: &str, reason: &str) -> Value {
    json!({"url": url, "status": null, "ok": false, "reason": reason})
}

#[tokio::test(flavor = "multi_thread")]
async fn each_failure_of_a_page_has_its_reason() {
    let peer = FrontEnd::start(script).await;
    let slugs = [
        "00-fine",
        "01-moved",
        "02-gone",
        "03-broken",
        "04-endless",
        "05-reset",
        "06-closed",
        "07-half",
        "08-garbage",
        "09-silent",
        "10-drips",
    ];
    let base = peer.url("http", "");
    let results = results(&site(&base, 1, &slugs.map(str::to_owned)).start());
    let url = |at: usize| format!("{base}/{}-t0", slugs[at]);
    let fine = |at| json!({"url": url(at), "status": 200, "ok": true});
    let late = "timeout after 10000ms";
    let expected = [
        fine(0),
        json!({"url": url(1), "status": 302, "ok": false,
               "location": "/a\u{fffd}b\u{fffd}\u{fffd}31m"}),
        json!({"url": url(2), "status": 410, "ok": false}),
        json!({"url": url(3), "status": 500, "ok": false}),
        fine(4),
        dead(&url(5), "fetch failed: reset"),
        dead(&url(6), "fetch failed: reset"),
        dead(&url(7), "fetch failed: reset"),
        dead(&url(8), "fetch failed: invalid response"),
        dead(&url(9), late),
        dead(&url(10), late),
    ];
    assert_eq!(results, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_failure_of_a_whole_site_has_its_reason() {
    let plain = FrontEnd::start(script).await;
    let (_socket, refused) = refusing();
    let self_signed = Cms::greeting(Script { acts: vec![crate::support::script::Act::Tls] });
    for (base, reason) in [
        (format!("http://{refused}"), "fetch failed: refused"),
        (plain.url("https", ""), "fetch failed: tls"),
        (format!("https://{}", self_signed.addr()), "fetch failed: tls"),
        ("http://no-such-host.invalid".to_owned(), "fetch failed: dns"),
    ] {
        let expected = dead(&format!("{base}/a-000-t0"), reason);
        assert_eq!(results(&site(&base, 1, &slugs("a", 1)).start()), [expected]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn url_without_a_result_at_the_deadline_is_not_checked() {
    let peer = FrontEnd::start(|path| match path {
        "/a-000-t0" => answer("200 OK", "", 0),
        _ => Answer::Hang,
    });
    let peer = peer.await;
    let base = peer.url("http", "");
    let setup = site(&base, 1, &slugs("a", 25));
    let service = setup.env("FRONTEND_MAP__VALIDATION__DEADLINE_SECONDS", "3").start();
    let results = results(&service);
    assert_eq!(results[0], json!({"url": format!("{base}/a-000-t0"), "status": 200, "ok": true}));
    for (n, result) in results.iter().enumerate().skip(1) {
        assert_eq!(*result, dead(&format!("{base}/a-{n:03}-t0"), "not checked: deadline"));
    }
    assert_eq!((results.len(), peer.heads().len()), (25, 11));
    let line =
        r#"a validation has ended site="main" uid="api::t0.t0" count=25 ok=1 not_checked=24"#;
    assert!(service.logs(line), "{}", service.log());
}
