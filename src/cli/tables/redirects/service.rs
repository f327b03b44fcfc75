//! The redirects of a running service.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION};
use secrecy::{ExposeSecret, SecretString};

use super::row::{Reader, Redirects};
use crate::cli::service::{MAX_ERROR, refusal, route_url};
use frontend_map_platform::outgoing::{cause, client_builder};

/// How long the service may take to connect, and for each part of the response. Its first walk may be
/// in progress.
const TIMEOUT: Duration = Duration::from_mins(2);

/// The setting with the token, and its variable.
const TOKEN: [&str; 2] = ["auth.validate_token_file", "FRONTEND_MAP__AUTH__VALIDATE_TOKEN"];

/// Requests the list, with the token if there is one.
///
/// # Errors
/// If there is no response, if it is an error, or if it is not complete.
pub(super) async fn read(
    service: &str,
    token: Option<&SecretString>,
    site: &str,
) -> Result<Redirects, Box<dyn Error>> {
    let mut url = route_url(service, "/api/redirects")?;
    url.query_pairs_mut().append_pair("site", site);
    let client = client_builder()?.connect_timeout(TIMEOUT).read_timeout(TIMEOUT).build()?;
    let mut request = client.get(url).header(ACCEPT, "application/x-ndjson");
    if let Some(token) = token {
        request = request.header(AUTHORIZATION, format!("Bearer {}", token.expose_secret()));
    }
    let failed = |error: &reqwest::Error| format!("{service}: {:?}", cause(error));
    let mut response = request.send().await.map_err(|error| failed(&error))?;
    let status = response.status();
    let (mut reader, mut rest) = (Reader::default(), Vec::new());
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error))? {
        rest.extend_from_slice(&chunk);
        if status.is_success() {
            take_lines(&mut reader, &mut rest).map_err(|error| format!("{service}: {error}"))?;
        } else if rest.len() > MAX_ERROR {
            break;
        }
    }
    if !status.is_success() {
        return Err(refusal(service, status.as_u16(), &rest, TOKEN).into());
    }
    if !rest.is_empty() {
        reader.take(&rest).map_err(|error| format!("{service}: {error}"))?;
    }
    Ok(reader.end().map_err(|error| format!("{service}: {error}"))?)
}

/// Takes the lines that are complete.
fn take_lines(reader: &mut Reader, rest: &mut Vec<u8>) -> Result<(), String> {
    let Some(end) = memchr::memrchr(b'\n', rest) else { return Ok(()) };
    let lines = rest[..end].split(|byte| *byte == b'\n');
    lines.filter(|line| !line.is_empty()).try_for_each(|line| reader.take(line))?;
    rest.drain(..=end);
    Ok(())
}
