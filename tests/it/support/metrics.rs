//! Reads the page of metrics as strictly as a scraper.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::http;

/// A page: the value of each series, by its name and labels as they are written.
pub(crate) struct Page(BTreeMap<String, f64>);

/// The page that is there now.
pub(crate) fn scrape(admin: SocketAddr) -> Page {
    let answer = http::get(admin, "/metrics");
    assert_eq!(answer.status, 200);
    let content_type = answer.header("content-type").unwrap();
    assert!(content_type.starts_with("application/openmetrics-text; version=1.0.0"));
    read(answer.text())
}

fn read(text: &str) -> Page {
    let body = text.strip_suffix("# EOF\n").expect("the last line");
    let (mut types, mut series) = (BTreeMap::new(), BTreeMap::new());
    let mut family = "";
    for line in body.lines() {
        if let Some(described) = line.strip_prefix("# HELP ") {
            family = described.split(' ').next().unwrap();
        } else if let Some(described) = line.strip_prefix("# TYPE ") {
            let (name, kind) = described.split_once(' ').unwrap();
            assert_eq!(name, family);
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
        "counter" => &["_total"],
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
