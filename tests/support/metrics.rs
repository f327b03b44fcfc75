//! Reads the page of metrics as strictly as a scraper.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::http;

/// A page: the value of each series, by its name and labels as they are written.
pub(crate) struct Page(BTreeMap<String, f64>);

/// The page that is there now, in the text format of Prometheus
/// (<https://prometheus.io/docs/instrumenting/exposition_formats/>).
#[track_caller]
pub(crate) fn scrape(admin: SocketAddr) -> Page {
    let response = http::get(admin, "/metrics");
    assert_eq!(response.status, 200);
    let expected = "text/plain; version=0.0.4; charset=utf-8";
    assert_eq!(response.header("content-type").as_deref(), Some(expected));
    read(response.text())
}

fn read(body: &str) -> Page {
    assert!(body.ends_with('\n'), "the last line is complete");
    let (mut types, mut series) = (BTreeMap::new(), BTreeMap::new());
    let mut family = "";
    for line in body.lines() {
        if let Some(described) = line.strip_prefix("# HELP ") {
            let (name, help) = described.split_once(' ').expect(line);
            assert!(help.len() >= 6 && !help.contains(['\\', '"']), "{line}");
            family = name;
        } else if let Some(described) = line.strip_prefix("# TYPE ") {
            let (name, kind) = described.split_once(' ').unwrap();
            assert_eq!(name, family, "the help text is right before the type");
            assert_eq!(types.insert(name, kind), None, "{name} is described once");
        } else {
            let (name, value) = line.rsplit_once(' ').expect(line);
            assert!(is_of(name, family, types[family]), "{name} in {family}");
            let value: f64 = value.parse().expect(line);
            assert_eq!(series.insert(name.to_owned(), value), None, "{name} is there once");
        }
    }
    Page(series)
}

/// Whether a sample may stand in a family of this kind.
fn is_of(sample: &str, family: &str, kind: &str) -> bool {
    let name = sample.split('{').next().unwrap();
    let suffixes: &[&str] = match kind {
        "counter" if family.ends_with("_total") => &[""],
        "gauge" => &[""],
        "histogram" => &["_sum", "_count", "_bucket"],
        _ => &[],
    };
    suffixes.iter().any(|suffix| name.strip_suffix(suffix) == Some(family))
}

impl Page {
    /// The value of a series of ours, by what stands behind `frontend_map_`.
    pub(crate) fn of(&self, series: &str) -> f64 {
        let name = format!("frontend_map_{series}");
        *self.0.get(&name).unwrap_or_else(|| panic!("no series {name}"))
    }

    /// All series.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}
