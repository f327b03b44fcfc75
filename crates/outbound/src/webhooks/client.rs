//! The HTTP client of webhooks: one POST, without redirects.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;
use tokio::time::timeout;

use super::message::Message;
use super::target::{Target, TargetKind, Timing};
use frontend_map_platform::clock::unix_ms;
use frontend_map_platform::http_client::{self, BuildError, LookUp, SsrfGuard};

const USER_AGENT: &str = concat!("frontend-map/", env!("CARGO_PKG_VERSION"));

/// The body of a response is ignored: it is read within these bounds to reuse the connection.
const DRAIN_BYTES: usize = 64 * 1024;
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// Sends webhooks. Clones share their connections.
#[derive(Clone)]
pub(super) struct Client {
    http: reqwest::Client,
    /// The time-out of a request, until the head of its response.
    request: Duration,
}

/// Why a target has not accepted a request. The text has no part of the URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeliveryError {
    pub(super) reason: String,
    /// The `Retry-After` of a 429 or a 5xx.
    pub(super) retry_after: Option<Duration>,
    /// Whether the target would refuse the request again.
    pub(super) is_final: bool,
}

impl Client {
    /// A client that resolves names by `look_up`, with SSRF protection. An address in the URL is
    /// used as it is written.
    pub(super) fn new(look_up: LookUp, timing: Timing) -> Result<Self, BuildError> {
        let http = http_client::client_builder()?
            .dns_resolver(SsrfGuard::new(look_up))
            .user_agent(USER_AGENT)
            .connect_timeout(timing.connect)
            .build()?;
        Ok(Self { http, request: timing.request })
    }

    /// Sends a message once.
    ///
    /// # Errors
    /// [`DeliveryError`] without a response in time, or for a status other than 200 to 299.
    pub(super) async fn send(
        &self,
        target: &Target,
        message: &Message,
    ) -> Result<(), DeliveryError> {
        let request = self.http.post(target.url.clone()).body(message.body.clone());
        let request = match &target.kind {
            TargetKind::IndexNow(_) => {
                request.header(CONTENT_TYPE, "application/json; charset=utf-8")
            }
            TargetKind::Changes(key) => {
                let timestamp = unix_ms() / 1_000;
                request
                    .header(CONTENT_TYPE, "application/json")
                    .header("webhook-id", &message.id)
                    .header("webhook-timestamp", timestamp)
                    .header("webhook-signature", key.sign(&message.id, timestamp, &message.body))
            }
        };
        let response = match timeout(self.request, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(DeliveryError::of(&error)),
            Err(_) => return Err(DeliveryError::because("no response in time")),
        };
        let status = response.status();
        let wait = http_client::retry_after(response.headers()).map(Duration::from_secs);
        // The status is the result, however the body ends.
        let _ = timeout(DRAIN_TIME, drain(response)).await;
        if status.is_success() {
            return Ok(());
        }
        let is_overloaded = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
        let retry_after = wait.filter(|_| is_overloaded);
        let refusal = match target.kind {
            TargetKind::IndexNow(_) => refusal(status),
            TargetKind::Changes(_) => None,
        };
        let remedy = match status {
            _ if refusal.is_some() => refusal.unwrap_or_default(),
            StatusCode::GONE => ": remove the target from the settings if it is gone for ever",
            _ => "",
        };
        let reason = format!("status {}{remedy}", status.as_u16());
        Err(DeliveryError { reason, retry_after, is_final: refusal.is_some() })
    }
}

impl DeliveryError {
    fn because(reason: &str) -> Self {
        Self { reason: reason.to_owned(), retry_after: None, is_final: false }
    }

    /// The text of the error has the URL, and is not used.
    fn of(error: &reqwest::Error) -> Self {
        Self::because(http_client::failure_text(error))
    }
}

/// What a status of IndexNow says of a request that would be refused again.
fn refusal(status: StatusCode) -> Option<&'static str> {
    match status {
        StatusCode::BAD_REQUEST => {
            Some(": the search engine does not accept the request; check `url`")
        }
        StatusCode::FORBIDDEN => {
            Some(": the key file cannot be read or does not have the key; run `frontend-map check`")
        }
        StatusCode::UNPROCESSABLE_ENTITY => Some(
            ": a URL is not on the host of the request, or the key is not the one in the key file",
        ),
        _ => None,
    }
}

async fn drain(mut response: reqwest::Response) {
    let mut read = 0;
    while read < DRAIN_BYTES
        && let Ok(Some(chunk)) = response.chunk().await
    {
        read += chunk.len();
    }
}
