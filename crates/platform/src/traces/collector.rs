//! The HTTP client of the exporter, which logs when exports begin to fail and when they work again.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::StatusCode;
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::http_client::{BuildError, cause, client_builder};

/// For one export.
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// The body of a response has no meaning here: it is read within these bounds to reuse the
/// connection.
const DRAIN_BYTES: usize = 64 * 1024;
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// Sends exports by the runtime, for a thread outside of it.
#[derive(Debug)]
pub(super) struct Collector {
    http: reqwest::Client,
    runtime: Handle,
    /// Whether the last export failed.
    is_failing: AtomicBool,
}

impl Collector {
    pub(super) fn new() -> Result<Self, BuildError> {
        let http = client_builder()?.connect_timeout(CONNECT_TIMEOUT).timeout(TIMEOUT).build()?;
        Ok(Self { http, runtime: Handle::current(), is_failing: AtomicBool::new(false) })
    }

    /// Logs a change between success and failure, not each export.
    fn log_change(&self, sent: &Result<StatusCode, reqwest::Error>) {
        let succeeded = sent.as_ref().is_ok_and(StatusCode::is_success);
        if self.is_failing.swap(!succeeded, Relaxed) != succeeded {
            return;
        }
        match sent {
            Ok(_) if succeeded => tracing::info!("traces are exported again"),
            Ok(status) => {
                tracing::warn!(
                    status = status.as_u16(),
                    "traces cannot be exported; they are dropped"
                );
            }
            // The text of the error contains the collector's address.
            Err(error) => {
                tracing::warn!(cause = ?cause(error), "traces cannot be exported; they are dropped");
            }
        }
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let request = reqwest::Request::try_from(request)?;
        let sent = self.runtime.spawn(send(self.http.clone(), request)).await?;
        self.log_change(&sent);
        Ok(Response::builder().status(sent?).body(Bytes::new())?)
    }
}

async fn send(
    http: reqwest::Client,
    request: reqwest::Request,
) -> Result<StatusCode, reqwest::Error> {
    let response = http.execute(request).await?;
    let status = response.status();
    // The status is the result, however the body ends.
    let _ = timeout(DRAIN_TIME, drain(response)).await;
    Ok(status)
}

async fn drain(mut response: reqwest::Response) {
    let mut read = 0;
    while read < DRAIN_BYTES
        && let Ok(Some(chunk)) = response.chunk().await
    {
        read += chunk.len();
    }
}
