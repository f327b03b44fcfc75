//! Checks each public URL once, and streams the results.

use std::sync::Arc;
use std::thread;

use futures::stream::{self, Stream, StreamExt};
use tokio::runtime::{Builder, Handle};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;

use client::{Client, Fetched, LONGEST_CHECK, RobotsFile, Wanted};
use content::{Judged, PageJudge};
use frontend_map_fleet::checks::limit::{CheckCounts, CheckLimit, Limits};
use frontend_map_fleet::redis;
use frontend_map_platform::http_client;
use frontend_map_platform::http_client::{BuildError, LookUp};

mod client;
pub mod content;
mod finding;
pub mod report;
pub mod runs;
mod targets;

pub use client::{DRAIN_BYTES, DRAIN_TIME, HEAD_TIMEOUT, LOCATION_CHARS};
pub use finding::{CheckResult, Failure};
pub use finding::{Finding, Source};
pub use targets::{Target, Targets};

/// Requests in flight at a time in the whole process, or in all instances of a fleet (D26).
pub const CONCURRENT_CHECKS: usize = 10;

/// Checks URLs. The clones of a validator share its connections and its limit of
/// [`CONCURRENT_CHECKS`], so a process needs one.
#[derive(Clone)]
pub struct Validator {
    client: Client,
    limit: Limit,
    event_loop: Arc<EventLoop>,
}

/// The result of the URL at a position of its targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedUrl {
    /// The position of [`Targets::urls`].
    pub position: usize,
    /// The result.
    pub result: CheckResult,
    /// The judgement of its page, if pages are judged.
    pub judged: Option<Judged>,
}

/// What limits the checks in flight.
#[derive(Clone)]
enum Limit {
    /// The limit of this process.
    Process(Arc<Semaphore>),
    /// The limit that all instances of a fleet share.
    Fleet(CheckLimit),
}

impl Validator {
    /// A validator that uses the system's resolver.
    ///
    /// # Errors
    ///
    /// [`BuildError`] when TLS cannot be set up.
    pub fn new() -> Result<Self, BuildError> {
        Self::with_look_up(http_client::system_look_up())
    }

    /// A validator that resolves names by `look_up`.
    ///
    /// # Errors
    ///
    /// As [`Validator::new`].
    pub fn with_look_up(look_up: LookUp) -> Result<Self, BuildError> {
        let limit = Limit::Process(Arc::new(Semaphore::new(CONCURRENT_CHECKS)));
        let event_loop = Arc::new(EventLoop::start()?);
        Ok(Self { client: Client::new(look_up, CONCURRENT_CHECKS)?, limit, event_loop })
    }

    /// This validator with the limit that all instances of a fleet share (D55).
    pub fn in_fleet(self, redis: redis::Client) -> Self {
        let limits = Limits { checks: CONCURRENT_CHECKS, longest_check: LONGEST_CHECK };
        Self { limit: Limit::Fleet(CheckLimit::start(redis, limits)), ..self }
    }

    /// The checks of this process in a fleet; none without one.
    pub fn counts(&self) -> CheckCounts {
        match &self.limit {
            Limit::Process(_) => CheckCounts::default(),
            Limit::Fleet(limit) => limit.counts(),
        }
    }

    /// Checks each URL once, and yields `(position, result)` in the order of arrival.
    /// Positions are the caller's own. Nothing is requested before the stream is polled; dropping it
    /// aborts the requests in flight.
    pub fn check<'a, P, U>(
        &'a self,
        urls: U,
    ) -> impl Stream<Item = (P, CheckResult)> + Send + use<'a, P, U>
    where
        P: Send + 'a,
        U: Iterator<Item = (P, String)> + Send + 'a,
    {
        stream::iter(urls)
            .map(async move |(position, url)| {
                (position, self.fetch(url, Wanted::Status).await.result)
            })
            .buffer_unordered(CONCURRENT_CHECKS)
    }

    /// Checks each URL of some targets once, as [`Validator::check`] does, and judges the pages. The URLs
    /// are pairs of an index of the targets and a position there; a result comes with the index.
    pub fn check_pages<'a, U>(
        &'a self,
        judge: &'a PageJudge,
        targets: &'a [Targets],
        urls: U,
    ) -> impl Stream<Item = (usize, CheckedUrl)> + Send + use<'a, U>
    where
        U: Iterator<Item = (usize, usize)> + Send + 'a,
    {
        stream::iter(urls)
            .map(async move |(part, position)| {
                let fetched = self.fetch(targets[part].url(position), Wanted::Page).await;
                let result = fetched.result.clone();
                let judged = Some(judge.judge(part, &targets[part], position, fetched));
                (part, CheckedUrl { position, result, judged })
            })
            .buffer_unordered(CONCURRENT_CHECKS)
    }

    async fn fetch(&self, url: String, wanted: Wanted) -> Fetched {
        self.limited(|client| async move { client.fetch(&url, wanted).await }).await
    }

    async fn fetch_robots(&self, url: String) -> RobotsFile {
        self.limited(|client| async move { client.fetch_robots(&url).await }).await
    }

    /// Counts as in flight until the body is drained: draining is traffic too.
    async fn limited<T, F>(&self, work: impl FnOnce(Client) -> F) -> T
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let work = self.event_loop.run(work(self.client.clone()));
        match &self.limit {
            Limit::Process(free) => {
                let _in_flight = free.acquire().await.expect("the semaphore is never closed");
                work.await
            }
            Limit::Fleet(limit) => {
                let _in_flight = limit.acquire().await;
                work.await
            }
        }
    }
}

/// A runtime of one thread. There, a connection is back in the pool when the check that drained it
/// continues: the tasks of a connection are woken before that of the check, and run in the order of
/// their wake-ups. With several threads the next check may find no idle connection and open one
/// more than there are checks.
struct EventLoop {
    handle: Handle,
    /// The thread ends when this is dropped.
    _running: oneshot::Sender<()>,
}

impl EventLoop {
    fn start() -> std::io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (running, dropped) = oneshot::channel();
        thread::Builder::new().name("url-checks".to_owned()).spawn(move || {
            let _ = runtime.block_on(dropped);
            // A name look-up in progress blocks a thread that cannot be cancelled.
            runtime.shutdown_background();
        })?;
        Ok(Self { handle, _running: running })
    }

    /// Runs a task to its end; dropping the returned future aborts it.
    async fn run<T>(&self, task: impl Future<Output = T> + Send + 'static) -> T
    where
        T: Send + 'static,
    {
        // A set aborts its tasks when it is dropped.
        let mut tasks = JoinSet::new();
        tasks.spawn_on(task, &self.handle);
        let ended = tasks.join_next().await.expect("the set has one task");
        ended.expect("a check does not panic, and only this future aborts it")
    }
}
