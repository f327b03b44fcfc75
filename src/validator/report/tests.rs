//! The tally as tables, and the written report word for word.

use super::*;
use crate::validator::Failure;

fn answered(status: u16) -> Checked {
    Checked::Answered { status, location: None, retry_after: None }
}

fn report(checked: Vec<Checked>) -> Report {
    let urls = (0..).map(|n| format!("https://www.example.com/{n}"));
    Report::new("main", "plugin::cms.article", urls.zip(checked))
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
        (Checked::Failed(Failure::Dns), [0, 0, 0, 0, 1], false),
    ];
    for (checked, expected, ok) in table {
        let report = report(vec![checked.clone()]);
        let c = report.tally.by_class;
        let counted = [c.success, c.redirect, c.client_error, c.server_error, c.error];
        assert_eq!((counted, report.results[0].ok), (expected, ok), "{checked:?}");
    }
}

#[test]
fn the_reasons_are_worded_as_decided() {
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
fn an_empty_run_still_has_all_classes() {
    let json = serde_json::to_string(&report(Vec::new())).unwrap();
    assert_eq!(
        json,
        r#"{"validated":true,"site":"main","contentType":"plugin::cms.article","count":0,"byClass":{"2xx":0,"3xx":0,"4xx":0,"5xx":0,"error":0},"byStatus":{},"results":[]}"#
    );
}

#[test]
fn the_written_report_has_the_specified_shape() {
    let location = Some("/en/new".to_owned());
    let moved = Checked::Answered { status: 301, location, retry_after: None };
    let dead = Checked::Failed(Failure::Timeout);
    let json = serde_json::to_value(report(vec![answered(200), moved, answered(999), dead]));
    let expected = serde_json::json!({
        "validated": true, "site": "main", "contentType": "plugin::cms.article", "count": 4,
        "byClass": {"2xx": 1, "3xx": 1, "4xx": 0, "5xx": 0, "error": 2},
        "byStatus": {"200": 1, "301": 1, "999": 1},
        "results": [
            {"url": "https://www.example.com/0", "status": 200, "ok": true},
            {"url": "https://www.example.com/1", "status": 301, "ok": false, "location": "/en/new"},
            {"url": "https://www.example.com/2", "status": 999, "ok": false},
            {"url": "https://www.example.com/3", "status": null, "ok": false,
             "reason": "timeout after 10000ms"},
        ],
    });
    assert_eq!(json.unwrap(), expected);
}
