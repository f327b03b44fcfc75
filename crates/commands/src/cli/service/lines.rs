//! A list of a running service: lines of JSON.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use reqwest::StatusCode;
use reqwest::header::ACCEPT;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{SecretSetting, local_url, route_url, send};
use crate::config::Config;
use frontend_map_platform::http_client::client_builder;

/// How long the service may take to connect, and for each part of the response. Its first walk may be
/// in progress.
const TIMEOUT: Duration = Duration::from_mins(2);

/// The setting with the token of the lists.
pub(in crate::cli) const TOKEN_SETTING: SecretSetting = SecretSetting {
    file: "auth.validate_token_file",
    variable: "FRONTEND_MAP__AUTH__VALIDATE_TOKEN",
};

/// Which list of which service, and where to write it.
#[derive(Debug, Args)]
pub(in crate::cli) struct ListArgs {
    /// The key of the site
    #[arg(long, value_name = "KEY")]
    pub(in crate::cli) site: String,
    /// The URL of the running service; by default the address in the settings
    #[arg(long, value_name = "URL")]
    pub(in crate::cli) service: Option<String>,
    /// The file for the list; by default, or for `-`, stdout
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) out: Option<PathBuf>,
}

/// The last line of a list.
#[derive(Clone, Deserialize, Serialize)]
pub(in crate::cli) struct LastLine<Figures> {
    /// How many rows there are.
    pub(in crate::cli) count: u64,
    /// Those of the list alone.
    #[serde(flatten)]
    pub(in crate::cli) figures: Figures,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line<Row, Figures> {
    Row(Row),
    Last(LastLine<Figures>),
}

/// Requests a list of a site at this route, from the service at this URL or at the address in the
/// settings, with the token of the settings and these further query parameters.
///
/// # Errors
/// If there is no response, if it is an error, or if the list is not complete.
pub(in crate::cli) async fn read_list<Row: DeserializeOwned, Figures: DeserializeOwned>(
    config: &Config,
    service: Option<&str>,
    route: &str,
    site: &str,
    parameters: &[(&str, &str)],
) -> Result<(Vec<Row>, LastLine<Figures>), Box<dyn Error>> {
    let service = &service.map_or_else(|| local_url(config.server.listen), str::to_owned);
    let mut url = route_url(service, route)?;
    url.query_pairs_mut().append_pair("site", site).extend_pairs(parameters);
    let client = client_builder()?.connect_timeout(TIMEOUT).read_timeout(TIMEOUT).build()?;
    let request = client.get(url).header(ACCEPT, "application/x-ndjson");
    let token = config.auth.validate.as_ref();
    let body = send(service, request, token, TOKEN_SETTING, StatusCode::OK).await?;
    Ok(rows(&body).map_err(|error| format!("{service}: {error}"))?)
}

/// The rows of a list, and its last line.
///
/// # Errors
/// If a line cannot be read, or the list is not complete.
fn rows<Row: DeserializeOwned, Figures: DeserializeOwned>(
    body: &[u8],
) -> Result<(Vec<Row>, LastLine<Figures>), &'static str> {
    let (mut rows, mut last) = (Vec::new(), None::<LastLine<Figures>>);
    for line in serde_json::Deserializer::from_slice(body).into_iter() {
        if last.is_some() {
            return Err("the list continues after its end");
        }
        match line.map_err(|_| "a line of the list cannot be read")? {
            Line::Row(row) => rows.push(row),
            Line::Last(line) => last = Some(line),
        }
    }
    let last = last.filter(|last| last.count == rows.len() as u64);
    Ok((rows, last.ok_or("the list is not complete")?))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn list_is_complete_with_its_last_line_alone() {
        let read =
            |lines: &[&str]| rows::<[u8; 2], HashMap<String, u64>>(lines.join("\n").as_bytes());
        let (rows, last) = read(&["[1,2]", r#"{"count":1,"gone":3}"#]).ok().unwrap();
        assert_eq!((&rows[..], last.count, last.figures["gone"]), (&[[1, 2]][..], 1, 3));
        for (lines, expected) in [
            (&["[1,2]"][..], "not complete"),
            (&["[1,2]", r#"{"count":2,"gone":0}"#], "not complete"),
            (&[r#"{"count":0,"gone":0}"#, "[1,2]"], "after its end"),
            (&["<html>"], "cannot be read"),
            (&[], "not complete"),
        ] {
            let error = read(lines).err().unwrap();
            assert!(error.contains(expected), "{error}");
        }
    }
}
