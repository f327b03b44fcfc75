//! One attempt at one request to Strapi, counted and traced.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::StatusCode;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use super::reply::{self, Failure, MaxBody, Reply};
use crate::ContentError;
use crate::strapi::settings::{StrapiError, StrapiSettings};
use frontend_map_platform::http_client::client_builder;
use frontend_map_platform::metrics::{CmsOutcome, Label, Metrics};
use frontend_map_platform::traces;

/// A request to Strapi.
pub(super) struct Request {
    /// Below `/api/`.
    pub(super) path: String,
    /// Without `?`; empty: none.
    pub(super) query: String,
    pub(super) max_body: MaxBody,
    /// Whether the request takes one of the permits of lists.
    pub(super) is_list: bool,
    /// Whether the request may be sent a second time.
    pub(super) may_retry: bool,
}

/// The HTTP client with the address and the token of one Strapi.
pub(super) struct Transport {
    http: reqwest::Client,
    /// Up to and including `/api/`.
    base: String,
    metrics: Arc<Metrics>,
}

impl Transport {
    pub(super) fn new(
        settings: &StrapiSettings,
        metrics: Arc<Metrics>,
    ) -> Result<Self, StrapiError> {
        let builder = client_builder()?
            .connect_timeout(settings.limits.connect)
            .default_headers(headers(settings.token.as_ref())?);
        Ok(Self {
            http: builder.build().map_err(|_| StrapiError::Client)?,
            base: format!("{}/api/", settings.url.as_str().trim_end_matches('/')),
            metrics,
        })
    }

    /// Sends the request once, with `time` for the whole response.
    pub(super) async fn attempt(
        &self,
        request: &Request,
        time: Duration,
    ) -> Result<Reply, Failure> {
        let (begun, span) = (Instant::now(), traces::client_span("cms"));
        let reply = self.send(request, time).await;
        let outcome = match &reply {
            Ok(Reply::Json(_)) => CmsOutcome::Ok,
            Ok(Reply::Refused(_)) => CmsOutcome::Refused,
            Ok(Reply::Unauthorized | Reply::Forbidden) => CmsOutcome::Denied,
            Err(failure) => label(&failure.error),
        };
        self.metrics.cms.end(outcome, begun.elapsed());
        if let Some(span) = span {
            span.set("outcome", outcome.as_str());
            if reply.is_err() {
                span.fail();
            }
        }
        reply
    }

    async fn send(&self, request: &Request, time: Duration) -> Result<Reply, Failure> {
        let Request { path, query, max_body, .. } = request;
        let separator = if query.is_empty() { "" } else { "?" };
        let url = format!("{}{path}{separator}{query}", self.base);
        let sent = self.http.get(url).timeout(time).send().await;
        let response = sent.map_err(|error| reply::broken(path, &error))?;
        let status = response.status();
        if status != StatusCode::OK {
            tracing::debug!(path, status = status.as_u16(), "the CMS refused a request");
        }
        reply::read(path, response, *max_body).await
    }
}

/// The label of a failed call in the metrics.
fn label(error: &ContentError) -> CmsOutcome {
    match error {
        ContentError::Unavailable { .. } | ContentError::TypeFails { .. } => {
            CmsOutcome::Unavailable
        }
        ContentError::TimedOut => CmsOutcome::Timeout,
        ContentError::TlsFailed
        | ContentError::Unusable(_)
        | ContentError::Redirected(_)
        | ContentError::Setup(_) => CmsOutcome::Unusable,
        ContentError::CircuitOpen { .. } => CmsOutcome::Shed,
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
