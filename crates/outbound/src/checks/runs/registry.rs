//! The run registry: runs that are in flight, queued or reusable, and their subscriptions.

mod entries;
mod fleet_run;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{sleep, timeout};

use super::last_run::LastRun;
use super::publisher::{Admission, Publisher};
use super::run::Run;
use super::run_key::{RunKey, RunKind};
use super::stored;
use crate::checks::report::Classes;
use crate::checks::{Targets, Validator};
use entries::{Entries, Entry, MAX_RUNNING};
use frontend_map_catalog::site::Site;
use frontend_map_fleet::checks::runs::FleetRuns;
use frontend_map_platform::metrics::{CheckedClass, Metrics};
use frontend_map_platform::traces;
use frontend_map_store::{RowKey, Store};

/// How long the end of the process waits for Redis.
const RELEASE_WAIT: Duration = Duration::from_millis(500);

/// How long a run may take, and how long its result is reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunTimes {
    /// For the whole run, without its time in the queue. A URL without a result by then is
    /// reported as `not checked: deadline`.
    pub deadline: Duration,
    /// How long after its end a run is reused for requests for the same content type.
    pub reuse: Duration,
}

/// No further run is accepted: two are in flight and eight are queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyRuns;

/// All runs of the process. Clones share them.
#[derive(Clone)]
pub struct RunRegistry(pub(super) Arc<Shared>);

pub(super) struct Shared {
    entries: Entries,
    /// The last run of each key that has ended.
    last_runs: Mutex<HashMap<RunKey, Arc<LastRun>>>,
    pub(super) places: Semaphore,
    validator: Validator,
    pub(super) metrics: Arc<Metrics>,
    store: Arc<Store>,
    /// The runs of the other instances.
    pub(super) fleet: Option<FleetRuns>,
    /// Held while last runs are taken from other instances.
    pub(super) syncing: Arc<tokio::sync::Mutex<()>>,
}

/// A share in a run. Dropping the last one of a run in flight aborts it.
pub struct Subscription {
    run: Arc<Run>,
    key: RunKey,
    registry: Arc<Shared>,
}

impl Subscription {
    /// The run.
    pub fn run(&self) -> &Arc<Run> {
        &self.run
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.registry.entries.unsubscribe(&self.key, &self.run);
    }
}

/// A run with all that its task needs.
pub(super) struct Job {
    pub(super) key: RunKey,
    pub(super) run: Arc<Run>,
    pub(super) publisher: Publisher,
    pub(super) times: RunTimes,
    pub(super) left: Arc<Notify>,
}

impl RunRegistry {
    /// An empty registry whose runs use `validator`, are stored, and shared with other instances.
    pub fn new(
        validator: Validator,
        metrics: Arc<Metrics>,
        store: Arc<Store>,
        fleet: Option<FleetRuns>,
    ) -> Self {
        Self(Arc::new(Shared {
            entries: Entries::new(fleet.is_some()),
            last_runs: Mutex::default(),
            places: Semaphore::new(MAX_RUNNING),
            validator,
            metrics,
            store,
            fleet,
            syncing: Arc::default(),
        }))
    }

    /// The last run over a content type of a site that has ended, in this process or in one before it.
    /// The first call may block, because it reads the store.
    pub fn last_run(&self, site: &Arc<Site>, content_type: &str) -> Option<Arc<LastRun>> {
        self.load_last_run(site, content_type);
        self.0.last_run(site, content_type)
    }

    /// As [`RunRegistry::last_run`], of those that judged pages.
    pub fn last_content_run(&self, site: &Arc<Site>, content_type: &str) -> Option<Arc<LastRun>> {
        self.load_last_run(site, content_type);
        self.0.last_run_with(&RunKey::of(site, content_type, RunKind::Content))
    }

    /// Reads the last runs from the store, unless this process has them: the next run takes from them
    /// since when URLs have been dead. It blocks.
    pub fn load_last_run(&self, site: &Arc<Site>, content_type: &str) {
        for kind in RunKind::ALL {
            let key = RunKey::of(site, content_type, kind);
            if self.0.last_runs.lock().contains_key(&key) {
                continue;
            }
            let bytes = self.0.store.load_row(&RowKey::run(&site.key, &key.name()));
            let read = |bytes: Vec<u8>| stored::read(&bytes, usize::MAX, site, content_type, kind);
            if let Some(stored) = bytes.and_then(read) {
                let last_run = Arc::new(stored.into_last_run(Instant::now()));
                // A run may have ended meanwhile.
                self.0.last_runs.lock().entry(key).or_insert(last_run);
            }
        }
    }

    /// Takes the last runs of other instances that are newer than those of this one, as far as they
    /// are there soon enough for a response. False without other instances.
    pub async fn sync(&self, site: &Arc<Site>, content_types: &[&str]) -> bool {
        if self.0.fleet.is_some() {
            fleet_run::sync_for_response(&self.0, site, content_types).await;
        }
        self.0.fleet.is_some()
    }

    /// Ends all runs with the process: instances that need them take them over at once.
    pub async fn release(&self) {
        let Some(fleet) = &self.0.fleet else { return };
        self.0.entries.stop_all();
        if timeout(RELEASE_WAIT, fleet.released()).await.is_err() {
            tracing::debug!("the runs could not be released; they expire");
        }
    }

    /// Stores the last runs again whenever the file of the store has been opened: it may be a new one.
    pub async fn follow_store(self) {
        let Some(mut openings) = self.0.store.watch_openings() else { return };
        while openings.changed().await.is_ok() {
            let last_runs = self.0.last_runs.lock().clone();
            for (key, last_run) in &last_runs {
                self.0.save(key, last_run);
            }
        }
    }

    /// Forgets the last runs of all sites but those with these fingerprints.
    pub fn retain_last_runs(&self, sites: &[u128]) {
        self.0.last_runs.lock().retain(|key, _| sites.contains(&key.site));
    }

    /// Subscribes to the run of this kind over a content type of a site, or starts one over `targets`.
    /// A run in this process that also judges pages serves for the statuses, too. Of several instances
    /// one checks the URLs, and its targets count.
    ///
    /// # Errors
    /// [`TooManyRuns`] when a new run would be needed and the queue is full.
    pub async fn subscribe(
        &self,
        targets: Targets,
        kind: RunKind,
        times: RunTimes,
    ) -> Result<Subscription, TooManyRuns> {
        let subscription = self.join(targets, kind, times)?;
        if subscription.run.is_accepted().await {
            return Ok(subscription);
        }
        self.0.metrics.validations_refused.inc();
        Err(TooManyRuns)
    }

    fn join(
        &self,
        targets: Targets,
        kind: RunKind,
        times: RunTimes,
    ) -> Result<Subscription, TooManyRuns> {
        let key = RunKey::of(&targets.site, &targets.content_type, kind);
        let subscription = |key, run| Subscription { run, key, registry: self.0.clone() };
        if kind == RunKind::Status {
            let with_pages = RunKey { kind: RunKind::Content, ..key.clone() };
            if let Some(run) = self.0.entries.subscribe_to_existing(&with_pages, times.reuse) {
                return Ok(subscription(with_pages, run));
            }
        }
        let begin = |may_own| {
            let (run, publisher) = Run::new(targets, kind);
            let job = Job { key: key.clone(), run, publisher, times, left: Arc::default() };
            let (run, left) = (Arc::clone(&job.run), Arc::clone(&job.left));
            let task = tokio::spawn(Arc::clone(&self.0).drive(job, may_own)).abort_handle();
            Entry { run, subscriptions: 1, task, is_own: may_own, left }
        };
        let run = self.0.entries.subscribe(&key, times.reuse, begin);
        run.map(|run| subscription(key, run)).ok_or_else(|| {
            self.0.metrics.validations_refused.inc();
            TooManyRuns
        })
    }
}

impl Shared {
    /// The whole life of a run: the queue, the checks, and the time in which its result is reused.
    async fn drive(self: Arc<Self>, job: Job, may_own: bool) {
        let (key, run, reuse) = (job.key.clone(), Arc::clone(&job.run), job.times.reuse);
        match &self.fleet {
            None => {
                job.publisher.admit(Admission::Accepted);
                let _place = self.places.acquire().await.expect("the semaphore is never closed");
                self.check(job).await;
                self.record(&key, &run);
            }
            Some(fleet) => fleet_run::drive(&self, fleet, job, may_own).await,
        }
        if run.has_ended() {
            sleep(reuse.saturating_sub(run.age())).await;
        }
        self.entries.remove(&key, &run);
    }

    /// Checks all URLs of a run that has left the queue.
    pub(super) async fn check(&self, job: Job) {
        let Job { run, publisher, times, .. } = job;
        let span = traces::background_span("validation");
        run.execute(publisher, &self.validator, times.deadline).await;
        if let Some(span) = span {
            span.set("content_type", run.targets().content_type.clone());
            span.set("urls", i64::try_from(run.targets().count()).unwrap_or(i64::MAX));
        }
        count(&self.metrics, &run.tally().by_class);
    }

    /// The newest run of any kind over a content type of a site.
    pub(super) fn last_run(&self, site: &Site, content_type: &str) -> Option<Arc<LastRun>> {
        let runs = RunKind::ALL.into_iter();
        let runs =
            runs.filter_map(|kind| self.last_run_with(&RunKey::of(site, content_type, kind)));
        runs.max_by_key(|run| run.ended())
    }

    pub(super) fn last_run_with(&self, key: &RunKey) -> Option<Arc<LastRun>> {
        self.last_runs.lock().get(key).cloned()
    }

    /// Makes a run that has ended the last one with its key.
    pub(super) fn record(&self, key: &RunKey, run: &Arc<Run>) -> Option<Arc<LastRun>> {
        let previous = self.last_run(&run.targets().site, &key.content_type);
        // Not under the lock: it reads all results.
        let last_run = LastRun::new(Arc::clone(run), previous.as_deref()).map(Arc::new)?;
        self.keep(key, &last_run);
        Some(last_run)
    }

    /// Makes it the last run with its key.
    pub(super) fn keep(&self, key: &RunKey, last_run: &Arc<LastRun>) {
        self.save(key, last_run);
        self.last_runs.lock().insert(key.clone(), Arc::clone(last_run));
    }

    fn save(&self, key: &RunKey, last_run: &Arc<LastRun>) {
        let (fingerprint, shared) = (key.site, Arc::clone(last_run));
        let serialize = move || stored::serialize(&shared, fingerprint);
        let site = &last_run.run.targets().site.key;
        self.store.save_row(RowKey::run(site, &key.name()), serialize);
    }
}

/// Counts a run that has ended, and its URLs by class.
fn count(metrics: &Metrics, classes: &Classes) {
    metrics.validations.inc();
    for (class, urls) in [
        (CheckedClass::Success, classes.success),
        (CheckedClass::Redirect, classes.redirect),
        (CheckedClass::ClientError, classes.client_error),
        (CheckedClass::ServerError, classes.server_error),
        (CheckedClass::Error, classes.error),
    ] {
        metrics.checked_urls.inc_by(class, urls);
    }
}
