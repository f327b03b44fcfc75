//! One request to Strapi: its turn, the token, the status, a bounded body.

use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;

use super::refusal::Refusal;
use super::{StrapiError, StrapiLimits, StrapiSettings};
use crate::content::ContentError;
use crate::outgoing::{Cause, cause, client_builder};

/// Before the one retry: a restarting CMS refuses for longer, a closed idle connection does not.
const PAUSE: Duration = Duration::from_millis(50);

/// The most memory that a declared length gets before anything has come. A usual page needs less,
/// and is not copied while it grows.
const RESERVED_BYTES: usize = 256 * 1024;

/// Strapi's error envelopes are a few hundred bytes.
const ERROR_BYTES: usize = 64 * 1024;

/// The connection to one Strapi.
pub(super) struct Client {
    http: reqwest::Client,
    /// Up to and with `/api/`.
    base: String,
    permits: Semaphore,
    /// Of these, what lists may take.
    lists: Semaphore,
    limits: StrapiLimits,
}

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

/// A failed request, and whether the same request may succeed right now.
struct Failure {
    error: ContentError,
    again: bool,
}

impl From<ContentError> for Failure {
    fn from(error: ContentError) -> Self {
        Self { error, again: false }
    }
}

impl Client {
    pub(super) fn new(settings: &StrapiSettings) -> Result<Self, StrapiError> {
        let limits = settings.limits;
        let builder = client_builder()?
            .connect_timeout(limits.connect)
            .timeout(limits.request)
            .default_headers(headers(settings.token.as_ref())?);
        let http = builder.build().map_err(|_| StrapiError::Client)?;
        let base = format!("{}/api/", settings.url.as_str().trim_end_matches('/'));
        let permits = Semaphore::new(limits.concurrent);
        // Walks come in crowds, and an editor waits for a single document.
        let lists = Semaphore::new((limits.concurrent - limits.concurrent / 4).max(1));
        Ok(Self { http, base, permits, lists, limits })
    }

    /// One page of a list.
    pub(super) async fn page(&self, path: &str, query: &str) -> Result<Reply, ContentError> {
        let _permit = self.lists.acquire().await.expect("the semaphore is never closed");
        self.retried(path, query, self.limits.page_bytes).await
    }

    /// One document.
    pub(super) async fn document(&self, path: &str, query: &str) -> Result<Reply, ContentError> {
        self.retried(path, query, self.limits.document_bytes).await
    }

    /// Something that is asked before the request that counts, so that a silent CMS is noticed
    /// within one request's time.
    pub(super) async fn once(&self, path: &str) -> Result<Reply, ContentError> {
        self.attempt(path, "", self.limits.document_bytes).await.map_err(|failure| failure.error)
    }

    /// At most one retry (D23), and none where Strapi said no.
    async fn retried(&self, path: &str, query: &str, most: usize) -> Result<Reply, ContentError> {
        match self.attempt(path, query, most).await {
            Err(Failure { again: true, .. }) => {
                tokio::time::sleep(PAUSE).await;
                self.attempt(path, query, most).await.map_err(|failure| failure.error)
            }
            answer => answer.map_err(|failure| failure.error),
        }
    }

    async fn attempt(&self, path: &str, query: &str, most: usize) -> Result<Reply, Failure> {
        let _permit = self.permits.acquire().await.expect("the semaphore is never closed");
        let joint = if query.is_empty() { "" } else { "?" };
        let url = format!("{}{path}{joint}{query}", self.base);
        let response = self.http.get(url).send().await.map_err(|error| broken(path, &error))?;
        let status = response.status();
        if status != StatusCode::OK {
            tracing::debug!(path, status = status.as_u16(), "the CMS refused a request");
        }
        answer(path, response, most).await
    }
}

fn headers(token: Option<&SecretString>) -> Result<HeaderMap, StrapiError> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(token) = token {
        let text = format!("Bearer {}", token.expose_secret());
        let mut value = HeaderValue::from_str(&text).map_err(|_| StrapiError::Token)?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

async fn answer(path: &str, response: Response, most: usize) -> Result<Reply, Failure> {
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

/// 429 or 5xx. Who says when to come back, or that it is too much, is not asked again at once.
fn unavailable(response: &Response) -> Failure {
    let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = header.and_then(|text| seconds(text.trim()));
    let again = response.status().is_server_error() && header.is_none();
    Failure { error: ContentError::Unavailable { retry_after }, again }
}

/// Delay seconds (RFC 9110, section 10.2.3); more than a number holds is still a long time.
fn seconds(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
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
fn broken(path: &str, error: &reqwest::Error) -> Failure {
    let cause = cause(error);
    tracing::debug!(path, ?cause, "a request to the CMS failed");
    match cause {
        Cause::Timeout => Failure { error: ContentError::TimedOut, again: true },
        Cause::Tls => unusable("the TLS handshake failed"),
        Cause::InvalidResponse => unusable("not HTTP, or not decodable"),
        Cause::Dns | Cause::ConnectTimeout | Cause::Refused | Cause::Reset => {
            Failure { error: ContentError::Unavailable { retry_after: None }, again: true }
        }
    }
}
