//! The alert rules and the dashboard in `docs/operations`, compared with the metrics of a service.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::front_of_cms::{articles, setup};
use crate::support::http;

const ALERTS: &str = include_str!("../../docs/operations/alerts.yml");
const ALERT_TESTS: &str = include_str!("../../docs/operations/alerts.test.yml");
const DASHBOARD: &str = include_str!("../../docs/operations/dashboard.json");
const RUNBOOK: &str = include_str!("../../docs/operations/README.md");

/// The words of a text that may be names of metrics.
fn metrics(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| ["frontend_map_", "process_"].iter().any(|p| word.starts_with(p))).collect()
}

/// The values of `key` anywhere below.
fn texts<'a>(value: &'a Value, key: &str, found: &mut Vec<&'a str>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| texts(value, key, found)),
        Value::Object(object) => {
            found.extend(object.get(key).and_then(Value::as_str));
            object.values().for_each(|value| texts(value, key, found));
        }
        _ => {}
    }
}

fn alerts() -> Vec<&'static str> {
    ALERTS.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect()
}

/// `promtool test rules` runs them.
#[test]
fn every_alert_has_a_unit_test_in_which_it_fires() {
    let cases: Vec<&str> = ALERT_TESTS.split("- alertname: ").skip(1).collect();
    let fires = |case: &&&str| case.lines().any(|line| line.trim() == "exp_alerts:");
    let names = cases.iter().filter(fires).filter_map(|case| case.lines().next());
    let tested: BTreeSet<&str> = names.collect();
    assert_eq!(tested, BTreeSet::from_iter(alerts()));
}

#[test]
fn every_metric_in_alerts_and_dashboard_exists() {
    let service = setup(&articles().strapi_at("http://127.0.0.1:9")).start();
    let page = http::get(service.admin(), "/metrics");
    let there = metrics(page.text());
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let mut queries = Vec::new();
    texts(&dashboard, "expr", &mut queries);
    assert!(queries.len() >= 20, "{} queries", queries.len());
    for text in queries.into_iter().chain([ALERTS, RUNBOOK]) {
        let unknown: Vec<_> = metrics(text).difference(&there).copied().collect();
        assert!(unknown.is_empty(), "{unknown:?} in {text}");
    }
}

#[test]
fn every_label_in_alerts_and_dashboard_exists() {
    let service = setup(&articles().strapi_at("http://127.0.0.1:9")).start();
    let page = http::get(service.admin(), "/metrics");
    // `=~` and variables are the dashboard's own business.
    let labels = ALERTS.split(['{', ',', '}']).map(str::trim);
    let labels = labels.filter(|text| text.ends_with('"') && text.contains("=\""));
    let labels: BTreeSet<_> = labels.filter(|label| !label.starts_with("job=")).collect();
    assert!(labels.len() >= 2, "{labels:?}");
    for label in labels {
        assert!(page.text().contains(label), "{label}");
    }
}

#[test]
fn each_alert_has_a_runbook_section() {
    let headings = RUNBOOK.lines().filter_map(|line| line.strip_prefix("### "));
    assert_eq!(headings.collect::<Vec<_>>(), alerts());
    let severities = ALERTS.matches("severity: ").count();
    assert_eq!((alerts().len(), ALERTS.matches("summary: ").count()), (severities, severities));
}
