//! The redirects of a running service.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use url::Url;

use super::row::{Reader, Redirects};
use crate::outgoing::{cause, client_builder};

/// How long the service may take to connect, and for each part of the response. Its first walk may be
/// in progress.
const TIMEOUT: Duration = Duration::from_mins(2);

/// The longest error that is read, in bytes.
const MAX_ERROR: usize = 64 << 10;

/// An error of the service.
#[derive(Deserialize)]
struct Refusal {
    error: Message,
}

#[derive(Deserialize)]
struct Message {
    message: String,
}

/// Requests the list, with the token if there is one.
///
/// # Errors
/// If there is no response, if it is an error, or if it is not complete.
pub(super) async fn read(
    service: &str,
    token: Option<&SecretString>,
    site: &str,
) -> Result<Redirects, Box<dyn Error>> {
    let url = list_url(service, site)?;
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
        return Err(refusal(service, status.as_u16(), &rest).into());
    }
    if !rest.is_empty() {
        reader.take(&rest).map_err(|error| format!("{service}: {error}"))?;
    }
    Ok(reader.end().map_err(|error| format!("{service}: {error}"))?)
}

/// The URL of the list. The token goes to its host alone, because redirects are not followed.
fn list_url(service: &str, site: &str) -> Result<Url, String> {
    // The text may have a password.
    let invalid = || "--service is not a URL such as http://127.0.0.1:8080".to_owned();
    let url = Url::parse(service).map_err(|_| invalid())?;
    let is_plain = ["http", "https"].contains(&url.scheme())
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none();
    if !is_plain {
        return Err(invalid());
    }
    let path = url.path().trim_end_matches('/').to_owned() + "/api/redirects";
    let mut url = url;
    url.set_path(&path);
    url.set_fragment(None);
    url.query_pairs_mut().append_pair("site", site);
    Ok(url)
}

/// Takes the lines that are complete.
fn take_lines(reader: &mut Reader, rest: &mut Vec<u8>) -> Result<(), String> {
    let Some(end) = memchr::memrchr(b'\n', rest) else { return Ok(()) };
    let lines = rest[..end].split(|byte| *byte == b'\n');
    lines.filter(|line| !line.is_empty()).try_for_each(|line| reader.take(line))?;
    rest.drain(..=end);
    Ok(())
}

/// What the service says, and what to do about it.
fn refusal(service: &str, status: u16, body: &[u8]) -> String {
    let message = serde_json::from_slice::<Refusal>(body).map(|refusal| refusal.error.message);
    let message = message.map(|text| format!(": {}", text.escape_debug())).unwrap_or_default();
    let remedy = match status {
        401 | 403 => {
            "; set auth.validate_token_file or FRONTEND_MAP__AUTH__VALIDATE_TOKEN to its token"
        }
        404 => "; is this the address of the service, and its version the same?",
        _ => "",
    };
    format!("{service}: status {status}{message}{remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_url_is_below_the_address_of_the_service() {
        for (service, expected) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/api/redirects?site=a.b"),
            ("https://h/map/", "https://h/map/api/redirects?site=a.b"),
        ] {
            assert_eq!(list_url(service, "a.b").unwrap().as_str(), expected);
        }
        for refused in ["127.0.0.1:8080", "ftp://h", "http://u:p@h", "http://h?x=1", ""] {
            assert!(list_url(refused, "main").is_err(), "{refused}");
        }
    }
}
