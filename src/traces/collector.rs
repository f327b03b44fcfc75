//! The way to the collector, and the line of the log when it is lost.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::StatusCode;
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::outgoing::{BuildError, cause, client_builder};

/// How long the collector may take for one batch.
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);
const CONNECT: Duration = Duration::from_secs(1);
/// What is read of an answer, and for how long, to keep the connection: what it says is of no use
/// here.
const READ_BYTES: usize = 64 * 1024;
const READ: Duration = Duration::from_secs(1);

/// Sends batches, from a thread that is no runtime's.
#[derive(Debug)]
pub(super) struct Collector {
    http: reqwest::Client,
    runtime: Handle,
    /// Whether the last batch was lost.
    lost: AtomicBool,
}

impl Collector {
    pub(super) fn new() -> Result<Self, BuildError> {
        let http = client_builder()?.connect_timeout(CONNECT).timeout(TIMEOUT).build()?;
        Ok(Self { http, runtime: Handle::current(), lost: AtomicBool::new(false) })
    }

    /// Told when it changes, not for each batch.
    fn tell(&self, sent: &Result<StatusCode, reqwest::Error>) {
        let taken = sent.as_ref().is_ok_and(StatusCode::is_success);
        if self.lost.swap(!taken, Relaxed) != taken {
            return;
        }
        match sent {
            Ok(_) if taken => tracing::info!("traces are taken again"),
            Ok(status) => {
                tracing::warn!(status = status.as_u16(), "traces are not taken, and dropped");
            }
            // The error's own text shows the address.
            Err(error) => {
                tracing::warn!(cause = ?cause(error), "traces are not taken, and dropped");
            }
        }
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let request = reqwest::Request::try_from(request)?;
        let sent = self.runtime.spawn(send(self.http.clone(), request)).await?;
        self.tell(&sent);
        Ok(Response::builder().status(sent?).body(Bytes::new())?)
    }
}

async fn send(
    http: reqwest::Client,
    request: reqwest::Request,
) -> Result<StatusCode, reqwest::Error> {
    let answer = http.execute(request).await?;
    let status = answer.status();
    // By its status the batch is taken or not; without its end only the connection is lost.
    let _ = timeout(READ, read(answer)).await;
    Ok(status)
}

async fn read(mut answer: reqwest::Response) {
    let mut read = 0;
    while read < READ_BYTES
        && let Ok(Some(piece)) = answer.chunk().await
    {
        read += piece.len();
    }
}
