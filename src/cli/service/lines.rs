//! A list of a running service, read line by line.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION};
use secrecy::{ExposeSecret, SecretString};

use super::{MAX_ERROR, refusal, route_url};
use frontend_map_platform::outgoing::{cause, client_builder};

/// How long the service may take to connect, and for each part of the response. Its first walk may be
/// in progress.
const TIMEOUT: Duration = Duration::from_mins(2);

/// The setting with the token, and its variable.
const TOKEN: [&str; 2] = ["auth.validate_token_file", "FRONTEND_MAP__AUTH__VALIDATE_TOKEN"];

/// Requests the list of a site at this route, with the token if there is one, and gives `take` each line.
///
/// # Errors
/// If there is no response, if it is an error, or if `take` refuses a line.
pub(in crate::cli) async fn read_lines(
    service: &str,
    token: Option<&SecretString>,
    route: &str,
    site: &str,
    mut take: impl FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), Box<dyn Error>> {
    let mut url = route_url(service, route)?;
    url.query_pairs_mut().append_pair("site", site);
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
