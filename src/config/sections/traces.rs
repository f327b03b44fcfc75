//! `[traces]`: who takes traces of requests, and of how many.

use serde::Deserialize;

use crate::config::Problems;
use crate::config::table::{self, Table};
use crate::frontend_url::{BaseUrl, BaseUrlError};
use crate::traces::Settings;

/// Where collectors take traces (OTLP/HTTP), below their address.
const PATH: &str = "/v1/traces";

#[derive(Debug, Deserialize)]
#[serde(default)]
struct Raw {
    otlp_endpoint: String,
    sample_ratio: f64,
}

impl Default for Raw {
    fn default() -> Self {
        Self { otlp_endpoint: String::new(), sample_ratio: 0.01 }
    }
}

/// `None`: nobody takes them.
pub(in crate::config) fn read(table: &mut Table, problems: &mut Problems) -> Option<Settings> {
    let raw: Raw = table::read(table, "traces", problems);
    if !(0.0..=1.0).contains(&raw.sample_ratio) {
        problems.add("traces.sample_ratio", "it is 0 to 1");
    }
    if raw.otlp_endpoint.is_empty() {
        return None;
    }
    let url = problems.take("traces.otlp_endpoint", url(&raw.otlp_endpoint))?;
    Some(Settings { url, sample_ratio: raw.sample_ratio })
}

/// A collector is addressed as strictly as a frontend: no name, no password, no query. What is wrong
/// is not shown, since it may hold a key.
fn url(text: &str) -> Result<String, BaseUrlError> {
    Ok(BaseUrl::parse(text)?.join(PATH))
}
