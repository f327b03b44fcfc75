//! The classes as a table, and the serialized counters and results word for word.

use super::*;
use crate::checks::Failure;

fn answered(status: u16) -> CheckResult {
    CheckResult::Response { status, location: None, retry_after: None }
}

fn tally(checked: &[CheckResult]) -> Tally {
    let mut tally = Tally::default();
    for checked in checked {
        tally.add(checked);
    }
    tally
}

fn entry(n: usize, checked: CheckResult) -> UrlCheck {
    UrlCheck::new(format!("https://www.example.com/{n}"), checked)
}

#[test]
fn every_result_is_in_exactly_one_class() {
    let table = [
        (answered(101), [0, 0, 0, 0, 1], false),
        (answered(199), [0, 0, 0, 0, 1], false),
        (answered(200), [1, 0, 0, 0, 0], true),
        (answered(299), [1, 0, 0, 0, 0], true),
        (answered(300), [0, 1, 0, 0, 0], false),
        (answered(399), [0, 1, 0, 0, 0], false),
        (answered(400), [0, 0, 1, 0, 0], false),
        (answered(499), [0, 0, 1, 0, 0], false),
        (answered(500), [0, 0, 0, 1, 0], false),
        (answered(599), [0, 0, 0, 1, 0], false),
        (answered(600), [0, 0, 0, 0, 1], false),
        (answered(999), [0, 0, 0, 0, 1], false),
        (CheckResult::Failed(Failure::Dns), [0, 0, 0, 0, 1], false),
    ];
    for (checked, expected, ok) in table {
        let c = tally(std::slice::from_ref(&checked)).by_class;
        let counted = [c.success, c.redirect, c.client_error, c.server_error, c.error];
        assert_eq!((counted, entry(0, checked.clone()).ok), (expected, ok), "{checked:?}");
    }
}

#[test]
fn each_failure_has_its_reason() {
    let table = [
        (Failure::Timeout, "timeout after 10000ms"),
        (Failure::Dns, "fetch failed: dns"),
        (Failure::Refused, "fetch failed: refused"),
        (Failure::Reset, "fetch failed: reset"),
        (Failure::Tls, "fetch failed: tls"),
        (Failure::InvalidResponse, "fetch failed: invalid response"),
        (Failure::AddressNotAllowed, "fetch failed: address not allowed"),
        (Failure::NotChecked, "not checked: deadline"),
    ];
    for (failure, reason) in table {
        assert_eq!(failure.to_string(), reason);
    }
}

#[test]
fn empty_tally_has_all_classes() {
    let json = serde_json::to_string(&tally(&[])).unwrap();
    assert_eq!(
        json,
        r#"{"count":0,"byClass":{"2xx":0,"3xx":0,"4xx":0,"5xx":0,"error":0},"byStatus":{}}"#
    );
}

#[test]
fn counters_and_entries_have_the_shape_of_the_http_api() {
    let location = Some("/en/new".to_owned());
    let moved = CheckResult::Response { status: 301, location, retry_after: None };
    let dead = CheckResult::Failed(Failure::Timeout);
    let all = [answered(200), moved, answered(999), dead];
    assert_eq!(
        serde_json::to_value(tally(&all)).unwrap(),
        serde_json::json!({
            "count": 4,
            "byClass": {"2xx": 1, "3xx": 1, "4xx": 0, "5xx": 0, "error": 2},
            "byStatus": {"200": 1, "301": 1, "999": 1},
        })
    );
    let entries: Vec<UrlCheck> = (0..).zip(all).map(|(n, checked)| entry(n, checked)).collect();
    assert_eq!(
        serde_json::to_value(entries).unwrap(),
        serde_json::json!([
            {"url": "https://www.example.com/0", "status": 200, "ok": true},
            {"url": "https://www.example.com/1", "status": 301, "ok": false, "location": "/en/new"},
            {"url": "https://www.example.com/2", "status": 999, "ok": false},
            {"url": "https://www.example.com/3", "status": null, "ok": false,
             "reason": "timeout after 10000ms"},
        ])
    );
}
