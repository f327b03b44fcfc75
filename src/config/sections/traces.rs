//! `[traces]`: the collector of traces, and the share of requests that is traced.

use serde::Deserialize;

use crate::config::Problems;
use crate::config::table;
use crate::config::value::Table;
use frontend_map_platform::traces::Settings;
use frontend_map_rules::frontend_url::{BaseUrl, BaseUrlError};

/// The path for traces below the address of a collector (OTLP/HTTP).
const PATH: &str = "/v1/traces";

#[derive(Debug, Deserialize)]
#[serde(default)]
struct TracesToml {
    otlp_endpoint: String,
    sample_ratio: f64,
}

impl Default for TracesToml {
    fn default() -> Self {
        Self { otlp_endpoint: String::new(), sample_ratio: 0.01 }
    }
}

/// `None`: requests are not traced.
pub(in crate::config) fn read(table: &mut Table, problems: &mut Problems) -> Option<Settings> {
    let toml: TracesToml = table::read(table, "traces", problems);
    if !(0.0..=1.0).contains(&toml.sample_ratio) {
        problems.add("traces.sample_ratio", "must be between 0 and 1");
    }
    if toml.otlp_endpoint.is_empty() {
        return None;
    }
    let url = problems.take("traces.otlp_endpoint", url(&toml.otlp_endpoint))?;
    Some(Settings { url, sample_ratio: toml.sample_ratio })
}

/// The address of a collector is checked as strictly as that of a frontend: no user name, password
/// or query. A problem does not show the address, which may have a key.
fn url(text: &str) -> Result<String, String> {
    if text.trim_end_matches('/').ends_with(PATH) {
        return Err(format!("write it without `{PATH}`, which is added"));
    }
    let base = BaseUrl::parse(text).map_err(|error: BaseUrlError| error.to_string())?;
    Ok(base.join(PATH))
}
