//! The HTTP client of webhooks: one POST, without redirects.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;
use tokio::time::timeout;

use super::message::Message;
use super::{Target, Timing};
use crate::outgoing::{self, BuildError, FencedResolver, LookUp};

const USER_AGENT: &str = concat!("frontend-map/", env!("CARGO_PKG_VERSION"));

/// The body of a response has no meaning: it is read within these bounds to reuse the connection.
const DRAIN_BYTES: usize = 64 * 1024;
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// Clones share their connections.
#[derive(Clone)]
pub(super) struct Client {
    http: reqwest::Client,
    request: Duration,
}

/// Why a target has not taken a request. The text has no part of the URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NotTaken {
    pub(super) reason: String,
    /// How long the target wants to be left alone.
    pub(super) retry_after: Option<Duration>,
}

impl Client {
    /// A client that resolves names by `look_up`, within the address fence. An address in the URL is used
    /// as it is written.
    pub(super) fn new(look_up: LookUp, timing: Timing) -> Result<Self, BuildError> {
        let http = outgoing::client_builder()?
            .dns_resolver(FencedResolver::new(look_up))
            .user_agent(USER_AGENT)
            .connect_timeout(timing.connect)
            .build()?;
        Ok(Self { http, request: timing.request })
    }

    /// Sends a message once. It is taken with a status of 200 to 299.
    pub(super) async fn send(&self, target: &Target, message: &Message) -> Result<(), NotTaken> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let timestamp = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
        let request = self
            .http
            .post(target.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", &message.id)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", target.key.sign(&message.id, timestamp, &message.body))
            .body(message.body.clone());
        let response = match timeout(self.request, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(NotTaken::of(&error)),
            Err(_) => return Err(NotTaken::because("no response in time")),
        };
        let status = response.status();
        let wait = outgoing::retry_after(response.headers()).map(Duration::from_secs);
        // The status is the result, however the body ends.
        let _ = timeout(DRAIN_TIME, drain(response)).await;
        if status.is_success() {
            return Ok(());
        }
        let is_overloaded = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
        let retry_after = wait.filter(|_| is_overloaded);
        Err(NotTaken { reason: format!("status {}", status.as_u16()), retry_after })
    }
}

impl NotTaken {
    fn because(reason: &str) -> Self {
        Self { reason: reason.to_owned(), retry_after: None }
    }

    /// The text of the error has the URL, and is not used.
    fn of(error: &reqwest::Error) -> Self {
        if outgoing::is_not_allowed(error) {
            return Self::because("the name leads to an address that is not allowed");
        }
        Self::because(match outgoing::cause(error) {
            outgoing::Cause::Dns => "the name has no address",
            outgoing::Cause::ConnectTimeout => "no connection in time",
            outgoing::Cause::Timeout => "no response in time",
            outgoing::Cause::Refused => "the connection is refused",
            outgoing::Cause::Reset => "the connection was broken off",
            outgoing::Cause::Tls => "the TLS handshake failed",
            outgoing::Cause::InvalidResponse => "the response is not HTTP",
        })
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
