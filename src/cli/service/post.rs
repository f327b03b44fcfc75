//! A POST that a running service accepts, to do its work in the background.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Response, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::{MAX_ERROR, refusal};
use frontend_map_platform::http_client::{cause, client_builder};

/// How long the service may take to respond.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Sends this JSON with the token if there is one, and returns the body of the response, or its beginning.
/// `setting` is the setting with the token, and its variable.
///
/// # Errors
/// If there is no response, or another one than a 202.
pub(in crate::cli) async fn post(
    service: &str,
    url: Url,
    token: Option<&SecretString>,
    setting: [&str; 2],
    json: Vec<u8>,
) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut request = client_builder()?.timeout(TIMEOUT).build()?.post(url);
    if let Some(token) = token {
        request = request.header(AUTHORIZATION, format!("Bearer {}", token.expose_secret()));
    }
    let request = request.header(CONTENT_TYPE, "application/json").body(json);
    let failed = |error: reqwest::Error| {
        let cause = cause(&error);
        format!(
            "{service}: {cause:?}; does the service run at this address? --service names another"
        )
    };
    let response = request.send().await.map_err(failed)?;
    let status = response.status();
    let body = beginning(response).await.map_err(failed)?;
    if status != StatusCode::ACCEPTED {
        return Err(refusal(service, status.as_u16(), &body, setting).into());
    }
    Ok(body)
}

/// The body, or its beginning.
async fn beginning(mut response: Response) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ERROR {
            break;
        }
    }
    Ok(body)
}
