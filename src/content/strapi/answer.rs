//! What Strapi answers, and what it means when it does not.

use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Response, StatusCode};

use super::refusal::Refusal;
use crate::content::ContentError;
use crate::outgoing::{Cause, cause, is_out_of_files, retry_after};

/// The most memory that a declared length gets before anything has come. A usual page needs less,
/// and is not copied while it grows.
const RESERVED_BYTES: usize = 256 * 1024;

/// Strapi's error envelopes are a few hundred bytes.
const ERROR_BYTES: usize = 64 * 1024;

/// An answer that is Strapi's own.
#[derive(Debug)]
pub(super) enum Reply {
    /// 200: the body, which may still have any shape.
    Json(String),
    /// 404 or 400 in Strapi's envelope.
    Refused(Refusal),
    /// 401 or 403.
    Denied,
}

/// A failed request.
pub(super) struct Failure {
    pub(super) error: ContentError,
    /// Whether the same request may succeed right now.
    pub(super) again: bool,
    pub(super) sign: Sign,
}

/// What a failure says about the origin.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// Something answers there.
    Alive,
    /// Nothing does, or a proxy says so.
    Fails,
    /// The connection broke, maybe because it had been idle for too long.
    Broke,
    /// Nothing: the fault is on our side.
    Ours,
}

impl From<ContentError> for Failure {
    fn from(error: ContentError) -> Self {
        Self { error, again: false, sign: Sign::Alive }
    }
}

pub(super) async fn answer(path: &str, response: Response, most: usize) -> Result<Reply, Failure> {
    let status = response.status();
    match status {
        StatusCode::OK if !may_be_json(&response) => Err(unusable("not JSON by its content type")),
        StatusCode::OK => Ok(Reply::Json(text(path, response, most).await?)),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Ok(Reply::Denied),
        StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND => {
            let body = text(path, response, ERROR_BYTES).await?;
            let refusal = Refusal::parse(status.as_u16(), &body);
            refusal.map(Reply::Refused).ok_or_else(|| unusable("a 400 or 404 that is not Strapi's"))
        }
        _ if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() => {
            Err(unavailable(&response))
        }
        _ => Err(unusable("a status other than 200")),
    }
}

/// 429 or 5xx. Who says when to come back, or that it is too much, is not asked again at once. A
/// plain 500 is one request's trouble; the others are what a CMS or the proxy before it says when
/// it can answer nobody.
fn unavailable(response: &Response) -> Failure {
    let (status, headers) = (response.status(), response.headers());
    let again = status.is_server_error() && !headers.contains_key(RETRY_AFTER);
    let sign = match status {
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => Sign::Fails,
        _ => Sign::Alive,
    };
    let error = ContentError::Unavailable { retry_after: retry_after(headers) };
    Failure { error, again, sign }
}

/// A present type must be JSON's; one that is absent is no objection.
fn may_be_json(response: &Response) -> bool {
    response.headers().get(CONTENT_TYPE).is_none_or(|value| {
        let text = value.to_str().unwrap_or_default();
        let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        essence == "application/json"
            || (essence.starts_with("application/") && essence.ends_with("+json"))
    })
}

/// The body as text, read piece by piece: neither the declared length nor the compressed one
/// says how long it gets.
async fn text(path: &str, mut response: Response, most: usize) -> Result<String, Failure> {
    let declared = response.content_length().and_then(|length| usize::try_from(length).ok());
    let mut body = Vec::with_capacity(declared.unwrap_or(0).min(RESERVED_BYTES));
    while let Some(piece) = response.chunk().await.map_err(|error| broken(path, &error))? {
        if body.len() + piece.len() > most {
            return Err(unusable("larger than the limit"));
        }
        body.extend_from_slice(&piece);
    }
    String::from_utf8(body).map_err(|_| unusable("not UTF-8"))
}

fn unusable(why: &'static str) -> Failure {
    ContentError::Unusable(why).into()
}

/// A request without a whole answer. The error's own text shows the address, so it stays unread.
pub(super) fn broken(path: &str, broken: &reqwest::Error) -> Failure {
    let cause = cause(broken);
    tracing::debug!(path, ?cause, "a request to the CMS failed");
    let error = match cause {
        Cause::Timeout => ContentError::TimedOut,
        Cause::Tls => return unusable("the TLS handshake failed"),
        Cause::InvalidResponse => return unusable("not HTTP, or not decodable"),
        Cause::Dns | Cause::ConnectTimeout | Cause::Refused | Cause::Reset => {
            ContentError::Unavailable { retry_after: None }
        }
    };
    let sign = match cause {
        _ if is_out_of_files(broken) => Sign::Ours,
        Cause::Reset => Sign::Broke,
        _ => Sign::Fails,
    };
    Failure { error, again: true, sign }
}
