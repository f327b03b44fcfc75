//! A list of a running service, read line by line.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use reqwest::header::{ACCEPT, AUTHORIZATION};
use secrecy::ExposeSecret;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{MAX_ERROR, local_url, refusal, route_url};
use crate::config::Config;
use frontend_map_platform::http_client::{cause, client_builder};

/// How long the service may take to connect, and for each part of the response. Its first walk may be
/// in progress.
const TIMEOUT: Duration = Duration::from_mins(2);

/// The setting with the token, and its variable.
pub(in crate::cli) const TOKEN: [&str; 2] =
    ["auth.validate_token_file", "FRONTEND_MAP__AUTH__VALIDATE_TOKEN"];

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

/// The rows so far, and the last line.
struct List<Row, Figures> {
    rows: Vec<Row>,
    last: Option<LastLine<Figures>>,
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
    let mut request = client.get(url).header(ACCEPT, "application/x-ndjson");
    if let Some(token) = &config.auth.validate {
        request = request.header(AUTHORIZATION, format!("Bearer {}", token.expose_secret()));
    }
    let failed = |error: &reqwest::Error| {
        let cause = cause(error);
        format!(
            "{service}: {cause:?}; does the service run at this address? --service names another"
        )
    };
    let mut response = request.send().await.map_err(|error| failed(&error))?;
    let status = response.status();
    let mut list = List { rows: Vec::new(), last: None };
    let mut take = |line: &[u8]| list.take(line).map_err(|error| format!("{service}: {error}"));
    let mut rest = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error))? {
        rest.extend_from_slice(&chunk);
        if status.is_success() {
            take_lines(&mut take, &mut rest)?;
        } else if rest.len() > MAX_ERROR {
            break;
        }
    }
    if !status.is_success() {
        return Err(refusal(service, status.as_u16(), &rest, TOKEN).into());
    }
    if !rest.is_empty() {
        take(&rest)?;
    }
    Ok(list.end().map_err(|error| format!("{service}: {error}"))?)
}

impl<Row: DeserializeOwned, Figures: DeserializeOwned> List<Row, Figures> {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        if self.last.is_some() {
            return Err("the list continues after its end".to_owned());
        }
        match serde_json::from_slice(line) {
            Ok(Line::Row(row)) => self.rows.push(row),
            Ok(Line::Last(last)) => self.last = Some(last),
            Err(_) => return Err("a line of the list cannot be read".to_owned()),
        }
        Ok(())
    }

    /// An error if the list is not complete.
    fn end(self) -> Result<(Vec<Row>, LastLine<Figures>), String> {
        let last = self.last.filter(|last| last.count == self.rows.len() as u64);
        Ok((self.rows, last.ok_or("the list is not complete")?))
    }
}

/// Takes the lines that are complete.
fn take_lines(
    mut take: impl FnMut(&[u8]) -> Result<(), String>,
    rest: &mut Vec<u8>,
) -> Result<(), String> {
    let Some(end) = memchr::memrchr(b'\n', rest) else { return Ok(()) };
    let lines = rest[..end].split(|byte| *byte == b'\n');
    lines.filter(|line| !line.is_empty()).try_for_each(&mut take)?;
    rest.drain(..=end);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn list_is_complete_with_its_last_line_alone() {
        let read = |lines: &[&str]| {
            let mut list = List::<[u8; 2], HashMap<String, u64>> { rows: Vec::new(), last: None };
            lines.iter().try_for_each(|line| list.take(line.as_bytes()))?;
            list.end()
        };
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
