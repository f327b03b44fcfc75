//! A list of a running service, read line by line.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{MAX_ERROR, refusal, route_url};
use frontend_map_platform::http_client::{cause, client_builder};

/// How long the service may take to connect, and for each part of the response. Its first walk may be
/// in progress.
const TIMEOUT: Duration = Duration::from_mins(2);

/// The setting with the token, and its variable.
pub(in crate::cli) const TOKEN: [&str; 2] =
    ["auth.validate_token_file", "FRONTEND_MAP__AUTH__VALIDATE_TOKEN"];

/// The last line of a list.
#[derive(Clone, Copy, Deserialize)]
pub(in crate::cli) struct Figures {
    /// How many rows there are.
    pub(in crate::cli) count: u64,
    /// Of `/api/redirects`: the former paths of documents that are not published.
    #[serde(default)]
    pub(in crate::cli) gone: u64,
    /// Of `/api/misses`: the requests that no row counts.
    #[serde(default)]
    pub(in crate::cli) uncounted: u64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line<Row> {
    Row(Row),
    Figures(Figures),
}

/// The rows so far, and the last line.
struct List<Row> {
    rows: Vec<Row>,
    figures: Option<Figures>,
}

/// Requests the list of a site at this route, with the token if there is one.
///
/// # Errors
/// If there is no response, if it is an error, or if the list is not complete.
pub(in crate::cli) async fn read_list<Row: DeserializeOwned>(
    service: &str,
    token: Option<&SecretString>,
    route: &str,
    site: &str,
) -> Result<(Vec<Row>, Figures), Box<dyn Error>> {
    let mut list = List { rows: Vec::new(), figures: None };
    read_lines(service, token, route, &[("site", site)], |line| list.take(line)).await?;
    Ok(list.end().map_err(|error| format!("{service}: {error}"))?)
}

/// Requests the list at this route, with these query parameters and the token if there is one, and gives
/// `take` each line.
///
/// # Errors
/// If there is no response, if it is an error, or if `take` refuses a line.
pub(in crate::cli) async fn read_lines(
    service: &str,
    token: Option<&SecretString>,
    route: &str,
    parameters: &[(&str, &str)],
    mut take: impl FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), Box<dyn Error>> {
    let mut url = route_url(service, route)?;
    url.query_pairs_mut().extend_pairs(parameters);
    let client = client_builder()?.connect_timeout(TIMEOUT).read_timeout(TIMEOUT).build()?;
    let mut request = client.get(url).header(ACCEPT, "application/x-ndjson");
    if let Some(token) = token {
        request = request.header(AUTHORIZATION, format!("Bearer {}", token.expose_secret()));
    }
    let failed = |error: &reqwest::Error| format!("{service}: {:?}", cause(error));
    let mut response = request.send().await.map_err(|error| failed(&error))?;
    let status = response.status();
    let mut take = |line: &[u8]| take(line).map_err(|error| format!("{service}: {error}"));
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
    Ok(())
}

impl<Row: DeserializeOwned> List<Row> {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        if self.figures.is_some() {
            return Err("the list continues after its end".to_owned());
        }
        match serde_json::from_slice(line) {
            Ok(Line::Row(row)) => self.rows.push(row),
            Ok(Line::Figures(figures)) => self.figures = Some(figures),
            Err(_) => return Err("a line of the list cannot be read".to_owned()),
        }
        Ok(())
    }

    /// An error if the list is not complete.
    fn end(self) -> Result<(Vec<Row>, Figures), String> {
        let figures = self.figures.filter(|figures| figures.count == self.rows.len() as u64);
        Ok((self.rows, figures.ok_or("the list is not complete")?))
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
    use super::*;

    #[test]
    fn list_is_complete_with_its_last_line_alone() {
        let read = |lines: &[&str]| {
            let mut list = List::<[u8; 2]> { rows: Vec::new(), figures: None };
            lines.iter().try_for_each(|line| list.take(line.as_bytes()))?;
            list.end()
        };
        let (rows, figures) = read(&["[1,2]", r#"{"count":1,"gone":3}"#]).ok().unwrap();
        assert_eq!((&rows[..], figures.gone, figures.uncounted), (&[[1, 2]][..], 3, 0));
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
