//! Commands that send a request to a running service, and what they share.

pub(super) mod health;
pub(super) mod lines;
pub(super) mod refresh;

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::{RequestBuilder, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use url::Url;

use frontend_map_outbound::checks::report::Visible;
use frontend_map_platform::http_client::{cause, client_builder};

/// The most of the body of an error that is read.
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// How long the service may take to accept a POST.
const POST_TIMEOUT: Duration = Duration::from_secs(10);

/// Where a token or secret is set: the key of the setting that names its file, and the variable.
#[derive(Clone, Copy)]
pub(super) struct SecretSetting {
    file: &'static str,
    variable: &'static str,
}

/// An error of the service.
#[derive(Deserialize)]
struct Refusal {
    error: Message,
}

#[derive(Deserialize)]
struct Message {
    message: String,
}

/// The URL of a service that listens on this address, from its own machine.
pub(super) fn local_url(listen: SocketAddr) -> String {
    let ip = match listen.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    format!("http://{}", SocketAddr::new(ip, listen.port()))
}

/// The URL of a route below the address of a service. A token goes to its host alone, because redirects
/// are not followed.
///
/// # Errors
/// If the address is none.
pub(super) fn route_url(service: &str, route: &str) -> Result<Url, String> {
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
    let path = url.path().trim_end_matches('/').to_owned() + route;
    let mut url = url;
    url.set_path(&path);
    url.set_fragment(None);
    Ok(url)
}

/// Sends this JSON to a route that accepts it, to do its work in the background, and returns the body of the
/// response. Token and `setting` are those of [`send`].
///
/// # Errors
/// If there is no response, or another one than a 202.
pub(super) async fn post(
    service: &str,
    url: Url,
    token: Option<&SecretString>,
    setting: SecretSetting,
    json: Vec<u8>,
) -> Result<Vec<u8>, Box<dyn Error>> {
    let client = client_builder()?.timeout(POST_TIMEOUT).build()?;
    let request = client.post(url).header(CONTENT_TYPE, "application/json").body(json);
    send(service, request, token, setting, StatusCode::ACCEPTED).await
}

/// Sends a request with the token if there is one, and returns the body of the response. An error names
/// the `setting` of the token.
///
/// # Errors
/// If there is no response, or its status is not `expected`.
async fn send(
    service: &str,
    mut request: RequestBuilder,
    token: Option<&SecretString>,
    setting: SecretSetting,
    expected: StatusCode,
) -> Result<Vec<u8>, Box<dyn Error>> {
    if let Some(token) = token {
        request = request.bearer_auth(token.expose_secret());
    }
    let failed = |error: reqwest::Error| {
        let cause = cause(&error);
        format!(
            "{service}: {cause:?}; does the service run at this address? --service names another"
        )
    };
    let mut response = request.send().await.map_err(failed)?;
    let status = response.status();
    if status == expected {
        return Ok(response.bytes().await.map_err(failed)?.into());
    }
    let mut body = Vec::new();
    while body.len() < MAX_ERROR_BYTES
        && let Some(chunk) = response.chunk().await.map_err(failed)?
    {
        body.extend_from_slice(&chunk);
    }
    Err(refusal(service, status.as_u16(), &body, setting).into())
}

/// What the service says, and what to do about it; `setting` has the token that it requires.
fn refusal(service: &str, status: u16, body: &[u8], setting: SecretSetting) -> String {
    let message = serde_json::from_slice::<Refusal>(body).map(|refusal| refusal.error.message);
    let message = message.map(|text| format!(": {}", Visible(&text))).unwrap_or_default();
    let remedy = match status {
        401 | 403 => format!("; set {} or {} to its token", setting.file, setting.variable),
        404 => "; is this the address of the service, and its version the same?".to_owned(),
        _ => String::new(),
    };
    format!("{service}: status {status}{message}{remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_url_is_on_loopback_for_a_service_on_all_addresses() {
        for (listen, expected) in [
            ("0.0.0.0:8080", "http://127.0.0.1:8080"),
            ("[::]:80", "http://[::1]:80"),
            ("10.0.0.1:80", "http://10.0.0.1:80"),
        ] {
            assert_eq!(local_url(listen.parse().unwrap()), expected);
        }
    }

    #[test]
    fn route_url_is_below_the_address_of_the_service() {
        for (service, expected) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/api/redirects"),
            ("https://h/map/", "https://h/map/api/redirects"),
        ] {
            assert_eq!(route_url(service, "/api/redirects").unwrap().as_str(), expected);
        }
        for refused in ["127.0.0.1:8080", "ftp://h", "http://u:p@h", "http://h?x=1", ""] {
            assert!(route_url(refused, "/api/redirects").is_err(), "{refused}");
        }
    }
}
