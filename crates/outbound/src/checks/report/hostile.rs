//! Hostile text in every format stays text, and is read back as it was or as [`Visible`] shows it.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::checks::content::{Fault, FaultKind, FaultTally};
use crate::checks::{CheckResult, Failure, Finding};
use frontend_map_catalog::links::ContentLink;

const HOSTILE: [&str; 14] = [
    "plain",
    "]]><!--",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\" onload=alert(1) x='",
    "&lt;&amp;&#0;",
    "=cmd|' /C calc'!A0",
    "@SUM(1,1);=1+1",
    "a,b;c\td\r\ne\n=f",
    "\u{0}\u{1b}[31m\u{7f}\u{9b}",
    "\u{2028}\u{2029}\u{85}",
    "\u{202e}evil\u{2066}\u{200b}",
    "\u{fffe}\u{ffff}\u{fffd}",
    "\\u{202e}\\\"",
];

/// A finding with this text in every field that comes from outside.
fn finding(text: &str, checked: CheckResult) -> Finding<'_> {
    let entry = UrlCheck::new(format!("https://www.example.com/{text}"), checked);
    let fault = Fault { kind: FaultKind::Noindex, detail: text.into() };
    let faults = if entry.status == Some(200) { vec![fault] } else { Vec::new() };
    Finding {
        entry,
        content_type: "api::post.post",
        document_id: text,
        locale: text,
        rule: text,
        title: Some(text),
        admin_url: None,
        faults,
    }
}

fn report<'t>(texts: &[&'t str]) -> SiteReport<'t> {
    let mut part = TypeReport {
        validated: true,
        site: "main",
        content_type: "api::post.post",
        tally: Tally::default(),
        content: Some(FaultTally::default()),
        results: Vec::new(),
    };
    for text in texts {
        let location = Some((*text).to_owned());
        for checked in [
            CheckResult::Response { status: 200, location: None, retry_after: None },
            CheckResult::Response { status: 302, location, retry_after: None },
            CheckResult::Response { status: 404, location: None, retry_after: None },
            CheckResult::Failed(Failure::Refused),
        ] {
            part.tally.add(&checked);
            part.results.push(finding(text, checked));
        }
    }
    let bases = vec!["https://www.example.com"];
    SiteReport::new("main", bases, "2026-11-21T09:30:00Z".to_owned(), vec![part])
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn json_has_the_exact_text() {
    let report = report(&HOSTILE);
    let whole: Value = serde_json::from_str(&written(|out| json::write(&report, out))).unwrap();
    let lines = written(|out| json::write_lines(&report, out));
    let lines: Vec<Value> =
        lines.split_terminator('\n').map(|line| serde_json::from_str(line).unwrap()).collect();
    let entries = whole["contentTypes"][0]["results"].as_array().unwrap();
    assert_eq!(entries, &lines[..lines.len() - 1]);
    for (finding, entry) in report.findings().zip(entries) {
        assert_eq!(entry["documentId"], finding.document_id);
        assert_eq!(entry["url"], *finding.entry.url);
        assert_eq!(entry["location"].as_str(), finding.entry.location.as_deref());
    }
}

#[test]
fn json_report_is_read_as_a_previous_report() {
    let report = report(&HOSTILE);
    let earlier = PreviousReport::parse(&written(|out| json::write(&report, out))).unwrap();
    assert_eq!(earlier.checked_at.as_deref(), Some("2026-11-21T09:30:00Z"));
    assert!(earlier.has("api::post.post") && earlier.removed_urls(&report).is_empty());
}

/// The fields of all records, by RFC 4180.
fn records(csv: &str) -> Vec<Vec<String>> {
    let mut records = vec![vec![String::new()]];
    let mut quoted = false;
    let mut chars = csv.strip_suffix("\r\n").unwrap().chars().peekable();
    while let Some(c) = chars.next() {
        let record = records.last_mut().unwrap();
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                record.last_mut().unwrap().extend(chars.next());
            }
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(String::new()),
            '\r' if !quoted && chars.next_if_eq(&'\n').is_some() => {
                records.push(vec![String::new()]);
            }
            c => record.last_mut().unwrap().push(c),
        }
    }
    records
}

#[test]
fn csv_has_the_text_in_one_field_that_is_no_formula() {
    let report = report(&HOSTILE);
    let records = records(&written(|out| csv::write(&report, out)));
    assert_eq!(records.len(), 1 + 4 * HOSTILE.len());
    for (finding, record) in report.findings().zip(&records[1..]) {
        assert_eq!(record.len(), records[0].len());
        let id = Visible(finding.document_id).to_string();
        let text = record[1].strip_prefix('\'').unwrap_or(&record[1]);
        assert_eq!(text, id);
        assert!(record.iter().all(|field| !field.trim_start().starts_with(['=', '+', '-', '@'])));
        assert!(record.iter().all(|field| field.chars().all(frontend_map_rules::is_visible)));
    }
}

#[test]
fn junit_is_well_formed_xml_with_the_text() {
    let report = report(&HOSTILE);
    let xml = written(|out| junit::write(&report, out));
    let document = roxmltree::Document::parse(&xml).unwrap();
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
    let cases: Vec<_> = cases.collect();
    assert_eq!(cases.len(), 4 * HOSTILE.len());
    for (finding, case) in report.findings().zip(cases) {
        let url = Visible(&finding.entry.url).to_string();
        assert_eq!(case.attribute("name"), Some(&*url));
        if let Some(location) = &finding.entry.location {
            let output =
                case.descendants().find_map(|node| node.text().filter(|t| t.contains(" to ")));
            assert!(output.unwrap().contains(&Visible(location).to_string()));
        }
    }
}

/// The block of data, and the page around it.
fn split(page: &str) -> (&str, String) {
    let open = "<script type=\"application/json\" id=\"report\">";
    let (before, rest) = page.split_once(open).unwrap();
    let (data, after) = rest.split_once("</script>").unwrap();
    (data, format!("{before}{after}"))
}

#[test]
fn html_has_the_text_in_its_data_alone() {
    let (hostile, harmless) = (report(&HOSTILE), report(&["plain"; 14]));
    let [hostile_page, harmless_page] =
        [&hostile, &harmless].map(|report| written(|out| html::write(report, None, out)));
    let (data, page) = split(&hostile_page);
    assert_eq!(page, split(&harmless_page).1, "but for its data the page is the same");
    assert!(!data.contains('<'), "{data}");
    let data: Value = serde_json::from_str(data).unwrap();
    let rows = data["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4 * HOSTILE.len());
    for text in HOSTILE {
        let shown = Visible(text).to_string();
        assert_eq!(rows.iter().filter(|row| row[2] == *shown).count(), 4, "{text:?}");
    }
}

#[test]
fn broken_links_are_text_in_every_format() {
    let link = |text: &'static str| ContentLink {
        content_type: "api::post.post".into(),
        document_id: text.into(),
        locale: None,
        url: Some(text.to_owned()),
        admin_url: None,
        field: text.to_owned(),
        text: text.into(),
        address: text.into(),
        path: None,
        verdict: "gone".into(),
        to: None,
    };
    let of = |texts: [&'static str; 14]| {
        let links = BrokenLinks {
            figures: BrokenLinkFigures {
                count: texts.len(),
                read_at: "2026-11-21T09:30:00.000Z".to_owned(),
                ..BrokenLinkFigures::default()
            },
            links: texts.map(link).into(),
        };
        SiteReport { links: Some(links), ..report(&[]) }
    };
    let report = of(HOSTILE);
    let whole: Value = serde_json::from_str(&written(|out| json::write(&report, out))).unwrap();
    let records = records(&written(|out| csv::write(&report, out)));
    let xml = written(|out| junit::write(&report, out));
    let document = roxmltree::Document::parse(&xml).unwrap();
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
    for (at, (text, case)) in HOSTILE.into_iter().zip(cases).enumerate() {
        let shown = Visible(text).to_string();
        assert_eq!(whole["links"]["links"][at]["address"], text);
        let record = &records[at + 1];
        assert_eq!(record.len(), records[0].len());
        assert_eq!(record[8].strip_prefix('\'').unwrap_or(&record[8]), shown);
        assert!(record.iter().all(|field| !field.trim_start().starts_with(['=', '+', '-', '@'])));
        assert_eq!(case.attribute("name"), Some(&*shown));
    }
    let page = |report: &SiteReport<'_>| written(|out| html::write(report, None, out));
    let tags = |page: String| page.matches('<').count();
    assert_eq!(tags(page(&report)), tags(page(&of(["plain"; 14]))));
}

proptest! {
    #[test]
    fn any_text_is_one_csv_field_and_well_formed_xml(text in any::<String>()) {
        let report = report(&[&text]);
        let records = records(&written(|out| csv::write(&report, out)));
        prop_assert!(records.iter().all(|record| record.len() == 13) && records.len() == 5);
        let id = Visible(&text).to_string();
        prop_assert_eq!(records[1][1].strip_prefix('\'').unwrap_or(&records[1][1]), id.strip_prefix('\'').unwrap_or(&id));
        let xml = written(|out| junit::write(&report, out));
        prop_assert!(roxmltree::Document::parse(&xml).is_ok(), "{xml}");
    }
}
