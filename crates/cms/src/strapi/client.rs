//! The HTTP client of one Strapi: limiter, circuit breaker, retry, transport.

mod breaker;
mod limiter;
mod refusal;
mod reply;
mod retry;
mod transport;

pub use breaker::BreakerState;
pub use limiter::RequestLimiters;
pub(super) use refusal::{InvalidKey, Refusal};
use reply::MaxBody;
pub(super) use reply::Reply;

use std::panic::resume_unwind;
use std::sync::Arc;

use tokio::sync::watch;
use tracing::Instrument;

use super::settings::{StrapiError, StrapiLimits, StrapiSettings};
use crate::{ContentError, Outage};
use breaker::Admission;
use frontend_map_platform::metrics::Metrics;
use frontend_map_platform::traces;
use limiter::{Limiter, Permit};
use retry::RetryingSender;
use transport::Request;

/// The largest document and the largest schema. A document is read with the fields of its URL alone.
const MAX_DOCUMENT: MaxBody = MaxBody {
    bytes: 1 << 20,
    exceeded: "a document larger than 1 MiB; let its rule name smaller fields and relations",
};

/// Sends requests to one Strapi.
pub(crate) struct Client {
    sender: Arc<RetryingSender>,
    limiter: Arc<Limiter>,
    limits: StrapiLimits,
    /// Whether requests have a token.
    pub(super) has_token: bool,
}

impl Client {
    pub(super) fn new(
        settings: &StrapiSettings,
        metrics: Arc<Metrics>,
        limiters: &RequestLimiters,
    ) -> Result<Self, StrapiError> {
        let sender = Arc::new(RetryingSender::new(settings, metrics)?);
        let limiter = limiters.of(settings.url.as_str());
        let has_token = settings.token.is_some();
        Ok(Self { sender, limiter, limits: settings.limits, has_token })
    }

    /// The address of the CMS.
    pub(super) fn address(&self) -> &str {
        self.sender.address()
    }

    /// The state of the breaker.
    pub(crate) fn breaker_state(&self) -> BreakerState {
        self.sender.breaker.state()
    }

    /// The error of every request while the breaker is open; `None`: it is closed.
    pub(crate) fn circuit_open(&self) -> Option<ContentError> {
        let state = self.breaker_state();
        state.is_open().then(|| self.sender.circuit_open(state))
    }

    /// A receiver of each change of the breaker's state.
    pub(crate) fn watch_breaker(&self) -> watch::Receiver<BreakerState> {
        self.sender.breaker.watch()
    }

    /// One page of a list.
    pub(super) async fn list_page(&self, path: &str, query: &str) -> Result<Reply, ContentError> {
        let (path, query) = (path.to_owned(), query.to_owned());
        let exceeded =
            "a list page larger than limits.cms_page_bytes; raise it, or lower cms.page_size";
        let max_body = MaxBody { bytes: self.limits.page_bytes, exceeded };
        self.send(Request { path, query, max_body, is_list: true, may_retry: true }).await
    }

    /// One document.
    pub(super) async fn document(&self, path: &str, query: &str) -> Result<Reply, ContentError> {
        let (path, query) = (path.to_owned(), query.to_owned());
        let max_body = MAX_DOCUMENT;
        self.send(Request { path, query, max_body, is_list: false, may_retry: true }).await
    }

    /// A schema: `content-types/<uid>` or `components/<uid>`. It is read before the request that
    /// the caller is waiting for, so there is no retry: a silent CMS is noticed within the time of
    /// one request.
    pub(super) async fn schema(&self, path: &str) -> Result<Reply, ContentError> {
        let path = format!("content-type-builder/{path}");
        let max_body = MAX_DOCUMENT;
        let query = String::new();
        self.send(Request { path, query, max_body, is_list: false, may_retry: false }).await
    }

    /// Sends a request unless the breaker is open. No caller waits for a probe: the one whose
    /// request triggers it gets the same error as all others.
    async fn send(&self, request: Request) -> Result<Reply, ContentError> {
        let sender = &self.sender;
        let Some((permit, admission)) = self.admit(request.is_list).await else {
            return Err(sender.reject());
        };
        // A task of its own, so that the breaker records the outcome even if the caller is cancelled.
        let call = Arc::clone(sender).send(request, admission, permit).in_current_span();
        let call = tokio::spawn(traces::in_current_span(call));
        if admission.is_probe {
            return Err(sender.reject());
        }
        call.await.unwrap_or_else(|ended| match ended.try_into_panic() {
            // Our own bug is a caught and counted 500, not an outage of the CMS.
            Ok(panic) => resume_unwind(panic),
            // The runtime is shutting down.
            Err(_) => Err(ContentError::unavailable(Outage::Aborted)),
        })
    }

    async fn admit(&self, is_list: bool) -> Option<(Permit, Admission)> {
        let mut state = self.sender.breaker.watch();
        let permit = tokio::select! {
            biased;
            permit = self.limiter.acquire(is_list) => permit,
            // Requests that wait for a permit fail as soon as the breaker opens.
            _ = state.wait_for(BreakerState::is_open) => return None,
        };
        Some((permit, self.sender.breaker.admit()?))
    }
}
