//! Asks each public URL once and tells what answered, as a stream.

use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, Stream, StreamExt};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use crate::frontend_url::BaseUrl;
use crate::outgoing::{self, BuildError, FencedConnector, LookUp};

mod answer;
mod check_result;
mod connection;
mod finding;
mod lane;
mod location;
pub mod report;
pub mod runs;
mod targets;

pub use check_result::{CheckResult, Failure};
pub use finding::Finding;
use lane::{Destination, Lane};
pub use location::LOCATION_CHARS;
pub use targets::{Target, Targets};

/// Requests in flight at a time in the whole process (specification, section 8).
pub const CONCURRENT_CHECKS: usize = 10;

/// How long a URL has for the head of its answer, connecting included (specification, section 8).
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of a body that are read to keep the connection; a longer page costs a new connection,
/// which is cheaper than reading on.
pub const DRAIN_BYTES: usize = 256 * 1024;

/// How long a body may take before its connection is given up: endless bodies exist.
pub const DRAIN_TIME: Duration = Duration::from_secs(1);

/// Checks URLs. Make one per process and clone it: the clones share the [`CONCURRENT_CHECKS`]
/// permits.
#[derive(Clone)]
pub struct Validator {
    connector: FencedConnector,
    permits: Arc<Semaphore>,
}

impl Validator {
    /// A validator with its own permits.
    ///
    /// # Errors
    ///
    /// [`BuildError`] when TLS cannot be set up.
    pub fn new() -> Result<Self, BuildError> {
        Self::with_look_up(outgoing::system_look_up())
    }

    /// The same, but names are found by `look_up`.
    ///
    /// # Errors
    ///
    /// As [`Validator::new`].
    pub fn with_look_up(look_up: LookUp) -> Result<Self, BuildError> {
        let connector = outgoing::fenced_connector(look_up)?;
        Ok(Self { connector, permits: Arc::new(Semaphore::new(CONCURRENT_CHECKS)) })
    }

    /// Checks every path on this origin once and yields `(position, result)` as each becomes
    /// known, in no particular order. Positions are the caller's own names. Nothing is requested
    /// before the stream is polled, and dropping it ends what is in flight.
    pub fn check<'a, P>(
        &'a self,
        base: &BaseUrl,
        paths: P,
    ) -> impl Stream<Item = (usize, CheckResult)> + Send + use<'a, P>
    where
        P: Iterator<Item = (usize, &'a str)> + Send + 'a,
    {
        let paths = Arc::new(Mutex::new(paths));
        let to = Destination::new(self.connector.clone(), base);
        let lanes = to.into_iter().flat_map(|to| std::iter::repeat_n(to, CONCURRENT_CHECKS));
        stream::select_all(lanes.map(|to| self.lane(to, Arc::clone(&paths)).boxed()))
    }

    /// Takes paths until there are none left. A permit is held until a body is drained, which is
    /// traffic as well.
    fn lane<'a, P>(
        &'a self,
        to: Destination,
        paths: Arc<Mutex<P>>,
    ) -> impl Stream<Item = (usize, CheckResult)> + Send + use<'a, P>
    where
        P: Iterator<Item = (usize, &'a str)> + Send + 'a,
    {
        stream::unfold((Lane::new(to), paths), |(mut lane, paths)| async {
            let next = paths.lock().next();
            let (position, path) = next?;
            let _permit = self.permits.acquire().await;
            let checked = lane.check(path).await;
            Some(((position, checked), (lane, paths)))
        })
    }
}
