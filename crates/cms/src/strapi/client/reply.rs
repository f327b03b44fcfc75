//! Classifies a response of Strapi, or the failure to get one.

use reqwest::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use reqwest::{Response, StatusCode};

use super::refusal::Refusal;
use crate::{ContentError, Outage, Redirect};
use frontend_map_platform::http_client::{Cause, cause, is_out_of_files, retry_after};

/// The most memory that is reserved for a declared length before the body arrives. A usual page
/// is smaller, and is not copied while it grows.
const MAX_RESERVED_BYTES: usize = 256 * 1024;

/// Strapi's error envelopes are a few hundred bytes.
const MAX_ERROR: MaxBody =
    MaxBody { bytes: 64 * 1024, exceeded: "a 400 or 404 larger than 64 KiB" };

/// The most bytes of a body, after decompression.
#[derive(Clone, Copy)]
pub(super) struct MaxBody {
    pub(super) bytes: usize,
    /// The problem of a longer body, with what to do.
    pub(super) exceeded: &'static str,
}

/// A response of Strapi itself, not of a proxy.
#[derive(Debug)]
pub(in crate::strapi) enum Reply {
    /// 200: the body, which may still have any shape.
    Json(String),
    /// 404 or 400 in Strapi's envelope.
    Refused(Refusal),
    /// 401: the token is not accepted.
    Unauthorized,
    /// 403: the token may not read this.
    Forbidden,
}

/// A failed request.
pub(super) struct Failure {
    pub(super) error: ContentError,
    /// Whether the same request may succeed at once.
    pub(super) is_transient: bool,
    pub(super) signal: Signal,
}

/// What a failure says about the CMS.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    /// A server responds.
    Responding,
    /// No server responds, or a proxy reports that.
    Failing,
    /// The connection broke, maybe because it had been idle for too long.
    ConnectionBroke,
    /// Nothing: the fault is on our side.
    LocalFault,
}

impl From<ContentError> for Failure {
    fn from(error: ContentError) -> Self {
        Self { error, is_transient: false, signal: Signal::Responding }
    }
}

/// Reads a response with at most `max_body`.
pub(super) async fn read(
    path: &str,
    response: Response,
    max_body: MaxBody,
) -> Result<Reply, Failure> {
    let status = response.status();
    match status {
        StatusCode::OK if !may_be_json(&response) => Err(unusable("not JSON by its content type")),
        StatusCode::OK => Ok(Reply::Json(read_body(path, response, max_body).await?)),
        StatusCode::UNAUTHORIZED => Ok(Reply::Unauthorized),
        StatusCode::FORBIDDEN => Ok(Reply::Forbidden),
        StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND => {
            let body = read_body(path, response, MAX_ERROR).await?;
            let refusal = Refusal::parse(status.as_u16(), &body);
            refusal
                .map(Reply::Refused)
                .ok_or_else(|| unusable("a 400 or 404 without Strapi's error envelope"))
        }
        _ if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() => {
            Err(unavailable(&response))
        }
        StatusCode::MOVED_PERMANENTLY
        | StatusCode::FOUND
        | StatusCode::SEE_OTHER
        | StatusCode::TEMPORARY_REDIRECT
        | StatusCode::PERMANENT_REDIRECT => Err(redirected(path, &response)),
        _ => Err(unusable("a status other than 200")),
    }
}

fn redirected(path: &str, response: &Response) -> Failure {
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let status = response.status().as_u16();
    ContentError::Redirected(Redirect::new(status, response.url(), path, location)).into()
}

/// 429 or 5xx. After a 429 or a `Retry-After` an immediate retry is pointless. A plain 500 concerns
/// one request; 502, 503 and 504 are what a CMS, or the proxy in front of it, returns for all requests.
fn unavailable(response: &Response) -> Failure {
    let (status, headers) = (response.status(), response.headers());
    let is_transient = status.is_server_error() && !headers.contains_key(RETRY_AFTER);
    let signal = match status {
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => Signal::Failing,
        _ => Signal::Responding,
    };
    let outage = Outage::Status(status.as_u16());
    let error = ContentError::Unavailable { retry_after: retry_after(headers), outage };
    Failure { error, is_transient, signal }
}

/// A `Content-Type` must be JSON's; none at all is accepted.
fn may_be_json(response: &Response) -> bool {
    response.headers().get(CONTENT_TYPE).is_none_or(|value| {
        let text = value.to_str().unwrap_or_default();
        let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        essence == "application/json"
            || (essence.starts_with("application/") && essence.ends_with("+json"))
    })
}

/// The body as text, read chunk by chunk: neither the declared length nor the compressed one bounds
/// what is read.
async fn read_body(
    path: &str,
    mut response: Response,
    max_body: MaxBody,
) -> Result<String, Failure> {
    let declared = response.content_length().and_then(|length| usize::try_from(length).ok());
    let mut body = Vec::with_capacity(declared.unwrap_or(0).min(MAX_RESERVED_BYTES));
    while let Some(chunk) = response.chunk().await.map_err(|error| broken(path, &error))? {
        if body.len() + chunk.len() > max_body.bytes {
            return Err(unusable(max_body.exceeded));
        }
        body.extend_from_slice(&chunk);
    }
    String::from_utf8(body).map_err(|_| unusable("not UTF-8"))
}

fn unusable(why: &'static str) -> Failure {
    ContentError::Unusable(why).into()
}

/// A request without a complete response. The text of `error` is not used: it contains the URL.
pub(super) fn broken(path: &str, error: &reqwest::Error) -> Failure {
    let cause = cause(error);
    tracing::debug!(path, ?cause, "a request to the CMS failed");
    let signal = match cause {
        _ if is_out_of_files(error) => Signal::LocalFault,
        Cause::Reset => Signal::ConnectionBroke,
        _ => Signal::Failing,
    };
    let error = match cause {
        Cause::Timeout => ContentError::TimedOut,
        Cause::Tls => return ContentError::TlsFailed.into(),
        Cause::InvalidResponse => return unusable("not HTTP, or not decodable"),
        Cause::Dns => ContentError::unavailable(Outage::NameNotFound),
        Cause::ConnectTimeout => ContentError::unavailable(Outage::ConnectTimeout),
        Cause::Refused => ContentError::unavailable(Outage::ConnectionRefused),
        Cause::Reset => ContentError::unavailable(Outage::ConnectionBroken),
    };
    Failure { error, is_transient: true, signal }
}
