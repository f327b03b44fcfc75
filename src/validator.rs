//! Asks each public URL once and tells what answered, as a stream.

use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, Stream, StreamExt};
use reqwest::Response;
use reqwest::header::LOCATION;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::frontend_url::BaseUrl;
use crate::outgoing::{self, BuildError, Cause};

mod checked;
mod finding;
mod location;
pub mod report;
mod retry_after;
mod targets;

pub use checked::{Checked, Failure};
pub use finding::Finding;
pub use location::LOCATION_CHARS;
use report::Report;
pub use targets::{Subject, Targets};

/// Requests in flight at a time in the whole process (specification, section 8).
pub const CONCURRENT_CHECKS: usize = 10;

/// How long a URL has for the head of its answer, connecting included (specification, section 8).
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of a body that are read to keep the connection; a longer page costs a new connection,
/// which is cheaper than reading on.
pub const DRAIN_BYTES: usize = 256 * 1024;

/// How long a body may take before its connection is given up: endless bodies exist.
pub const DRAIN_TIME: Duration = Duration::from_secs(1);

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

    /// Checks every path on this origin once and yields `(position, result)` as each becomes
    /// known, in no particular order. Positions are the caller's own names. Nothing is requested
    /// before the stream is polled, and dropping it ends what is in flight.
    pub fn check<'a, P>(
        &'a self,
        base: &'a BaseUrl,
        paths: P,
    ) -> impl Stream<Item = (usize, Checked)> + Send + use<'a, P>
    where
        P: Iterator<Item = (usize, &'a str)> + Send + 'a,
    {
        stream::iter(paths)
            .map(move |(at, path)| async move { (at, self.check_one(&base.join(path)).await) })
            .buffer_unordered(CONCURRENT_CHECKS)
    }

    /// Checks every URL once and reports on all of them, in their order.
    pub async fn report(&self, targets: &Targets) -> Report {
        let mut checked: Vec<_> = self.check(&targets.base, targets.paths()).collect().await;
        checked.sort_unstable_by_key(|(position, _)| *position);
        let url = |(position, checked)| (targets.subject(position).url(), checked);
        Report::new(&targets.site, &targets.content_type, checked.into_iter().map(url))
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
    let (status, headers) = (response.status(), response.headers());
    let location = headers.get(LOCATION).filter(|_| status.is_redirection());
    let checked = Checked::Answered {
        status: status.as_u16(),
        location: location.map(|sent| location::harmless(sent.as_bytes())),
        retry_after: retry_after::retry_after(&response),
    };
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
