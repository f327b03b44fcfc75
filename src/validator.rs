//! Asks each public URL once and tells what answered, as a stream.

use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, Stream, StreamExt};
use reqwest::Response;
use reqwest::header::LOCATION;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::outgoing::{self, BuildError, Cause};

mod checked;
pub mod report;

pub use checked::{Checked, Failure};
use report::Report;

/// Requests in flight at a time in the whole process (specification, section 8).
pub const CONCURRENT_CHECKS: usize = 10;

/// How long a URL has for the head of its answer, connecting included (specification, section 8).
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of a body that are read to keep the connection; a longer page costs a new connection,
/// which is cheaper than reading on.
pub const DRAIN_BYTES: usize = 256 * 1024;

/// How long a body may take before its connection is given up: endless bodies exist.
pub const DRAIN_TIME: Duration = Duration::from_secs(1);

/// Characters of a `Location` that are reported; the rest is the peer's to waste.
pub const LOCATION_CHARS: usize = 2048;

/// Says who asks, so that a front end's operator can tell these requests from visitors.
const USER_AGENT: &str = concat!("frontend-map/", env!("CARGO_PKG_VERSION"));

/// Checks URLs. Make one per process and clone it: the clones share the connections and the
/// [`CONCURRENT_CHECKS`] permits.
#[derive(Clone, Debug)]
pub struct Validator {
    client: reqwest::Client,
    permits: Arc<Semaphore>,
}

impl Validator {
    /// A validator with its own connections and permits.
    ///
    /// # Errors
    ///
    /// [`BuildError`] when the HTTP client cannot be set up.
    pub fn new() -> Result<Self, BuildError> {
        let client = outgoing::client_builder()?
            .user_agent(USER_AGENT)
            // Bodies are thrown away; decompressing them first would be work for nothing.
            .no_gzip()
            .build()?;
        Ok(Self { client, permits: Arc::new(Semaphore::new(CONCURRENT_CHECKS)) })
    }

    /// Checks every URL once and yields `(index into urls, result)` as each becomes known, in no
    /// particular order. Nothing is requested before the stream is polled, and dropping it ends
    /// what is in flight.
    pub fn check<'a>(
        &'a self,
        urls: &'a [String],
    ) -> impl Stream<Item = (usize, Checked)> + Send + 'a {
        stream::iter(0..urls.len())
            .map(move |index| async move { (index, self.check_one(&urls[index]).await) })
            .buffer_unordered(CONCURRENT_CHECKS)
    }

    /// Checks every URL once and reports on all of them, in the order of `urls`.
    pub async fn report(&self, site: &str, content_type: &str, urls: Vec<String>) -> Report {
        let mut checked: Vec<_> = self.check(&urls).collect().await;
        checked.sort_unstable_by_key(|(index, _)| *index);
        let results = checked.into_iter().map(|(_, checked)| checked);
        Report::new(site, content_type, urls.into_iter().zip(results))
    }

    /// One request. The permit is held until the body is drained, which is traffic as well.
    async fn check_one(&self, url: &str) -> Checked {
        let _permit = self.permits.acquire().await;
        match timeout(HEAD_TIMEOUT, self.client.get(url).send()).await {
            Err(_elapsed) => Checked::Failed(Failure::Timeout),
            Ok(Err(error)) => Checked::Failed(failure(outgoing::cause(&error))),
            Ok(Ok(response)) => answered(response).await,
        }
    }
}

/// The result, final with the head; then the body is drained for the connection's sake.
async fn answered(response: Response) -> Checked {
    let checked =
        Checked::Answered { status: response.status().as_u16(), location: location(&response) };
    drain(response).await;
    checked
}

/// Reads a short body to its end, so that its connection can carry the next request.
async fn drain(mut response: Response) {
    if response.content_length().is_some_and(|length| length > DRAIN_BYTES as u64) {
        return;
    }
    let body = async {
        let mut left = Some(DRAIN_BYTES);
        while let (Some(bytes), Ok(Some(chunk))) = (left, response.chunk().await) {
            left = bytes.checked_sub(chunk.len());
        }
    };
    // A body that is late or breaks off costs its connection and nothing else.
    let _late = timeout(DRAIN_TIME, body).await;
}

/// The target of a redirect as sent, as far as it is UTF-8 and not longer than anyone needs.
fn location(response: &Response) -> Option<String> {
    let sent = response.headers().get(LOCATION)?;
    let text = String::from_utf8_lossy(sent.as_bytes());
    let redirect = response.status().is_redirection();
    redirect.then(|| text.chars().take(LOCATION_CHARS).collect())
}

/// What a failed request is called in the report.
fn failure(cause: Cause) -> Failure {
    match cause {
        // The client has no time-outs of its own, so this is the kernel giving up before us.
        Cause::Timeout | Cause::ConnectTimeout => Failure::Timeout,
        Cause::Dns => Failure::Dns,
        Cause::Refused => Failure::Refused,
        Cause::Reset => Failure::Reset,
        Cause::Tls => Failure::Tls,
        Cause::InvalidResponse => Failure::InvalidResponse,
    }
}
