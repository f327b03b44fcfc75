//! `[traces]`: the collector of traces, and the share of requests that is traced.

use crate::config::section::Section;
use crate::config::value::{parsed, ratio};
use frontend_map_platform::traces::Settings;
use frontend_map_rules::frontend_url::BaseUrl;

/// The path for traces below the address of a collector (OTLP/HTTP).
const PATH: &str = "/v1/traces";

/// `None`: requests are not traced.
pub(in crate::config) fn read(traces: &mut Section<'_>) -> Option<Settings> {
    let sample_ratio = traces.get("sample_ratio", ratio(0.0));
    let url = traces.get("otlp_endpoint", parsed(url))?;
    Some(Settings { url, sample_ratio })
}

/// The address of a collector is checked as strictly as that of a frontend: no user name, password
/// or query. A problem does not show the address, which may have a key.
fn url(text: &str) -> Result<Option<String>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    if text.trim_end_matches('/').ends_with(PATH) {
        return Err(format!("write it without `{PATH}`, which is added"));
    }
    let base = BaseUrl::parse(text).map_err(|error| error.to_string())?;
    Ok(Some(base.join(PATH)))
}
