//! The run registry: runs that are in flight, queued or reusable, and their subscriptions.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::sleep;

use super::last_run::LastRun;
use super::run::{Publisher, Run};
use super::stored;
use crate::metrics::{CheckedClass, Metrics};
use crate::site::Site;
use crate::store::Store;
use crate::traces;
use crate::validator::report::Classes;
use crate::validator::{Targets, Validator};

/// Runs in flight at a time; all of them share the ten requests of the process.
const MAX_RUNNING: usize = 2;
/// Runs that wait in the queue. A longer queue would take hours.
const MAX_QUEUED: usize = 8;

/// How long a run may take, and how long its result is reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunTimes {
    /// For the whole run, without its time in the queue. A URL without a result by then is
    /// reported as `not checked: deadline`.
    pub deadline: Duration,
    /// How long after its end a run is reused for requests for the same content type.
    pub reuse: Duration,
}

/// Requests with the same key share a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunKey {
    /// The fingerprint of the site's settings: a reload that changes them starts a new run.
    pub site: u128,
    /// The content-type UID.
    pub content_type: String,
}

impl RunKey {
    /// The key of the runs over a content type of a site.
    #[must_use]
    pub fn of(site: &Site, content_type: &str) -> Self {
        Self { site: site.fingerprint, content_type: content_type.to_owned() }
    }
}

/// No further run is accepted: two are in flight and eight are queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyRuns;

/// All runs of the process. Clones share them.
#[derive(Clone)]
pub struct RunRegistry(Arc<Shared>);

struct Shared {
    entries: Mutex<HashMap<RunKey, Entry>>,
    /// The last run of each key that has ended.
    last_runs: Mutex<HashMap<RunKey, Arc<LastRun>>>,
    places: Semaphore,
    validator: Validator,
    metrics: Arc<Metrics>,
    store: Arc<Store>,
}

struct Entry {
    run: Arc<Run>,
    subscriptions: usize,
    task: AbortHandle,
}

/// A share in a run. Dropping the last one of a run in flight aborts it.
pub struct Subscription {
    run: Arc<Run>,
    key: RunKey,
    registry: Arc<Shared>,
}

impl Subscription {
    /// The run.
    #[must_use]
    pub fn run(&self) -> &Arc<Run> {
        &self.run
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.registry.unsubscribe(&self.key, &self.run);
    }
}

impl RunRegistry {
    /// An empty registry whose runs use `validator`, and are stored.
    #[must_use]
    pub fn new(validator: Validator, metrics: Arc<Metrics>, store: Arc<Store>) -> Self {
        let (entries, last_runs) = (Mutex::default(), Mutex::default());
        let places = Semaphore::new(MAX_RUNNING);
        Self(Arc::new(Shared { entries, last_runs, places, validator, metrics, store }))
    }

    /// The last run over a content type of a site that has ended, in this process or in one before it.
    /// The first call may block, because it reads the store.
    #[must_use]
    pub fn last_run(&self, site: &Site, content_type: &str) -> Option<Arc<LastRun>> {
        self.load_last_run(site, content_type);
        self.0.last_runs.lock().get(&RunKey::of(site, content_type)).cloned()
    }

    /// Reads the last run from the store, unless this process has it: the next run takes from it since
    /// when URLs have been dead. It blocks.
    pub fn load_last_run(&self, site: &Site, content_type: &str) {
        let key = RunKey::of(site, content_type);
        if self.0.last_runs.lock().contains_key(&key) {
            return;
        }
        let bytes = self.0.store.load_run(&site.key, content_type);
        if let Some(stored) = bytes.and_then(|bytes| stored::read(&bytes, site, content_type)) {
            // A run may have ended meanwhile.
            self.0.last_runs.lock().entry(key).or_insert_with(|| Arc::new(stored));
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

    /// Subscribes to the run with this key, or starts one over `targets`.
    ///
    /// # Errors
    /// [`TooManyRuns`] when a new run would be needed and the queue is full.
    pub fn subscribe(
        &self,
        key: RunKey,
        targets: Targets,
        times: RunTimes,
    ) -> Result<Subscription, TooManyRuns> {
        let mut entries = self.0.entries.lock();
        let subscription = |run: &Arc<Run>| {
            let (run, registry) = (Arc::clone(run), Arc::clone(&self.0));
            Subscription { run, key: key.clone(), registry }
        };
        // An expired result stays in the map until its task removes it.
        let is_fresh = |run: &Run| !run.has_ended() || run.age() < times.reuse;
        if let Some(entry) = entries.get_mut(&key).filter(|entry| is_fresh(&entry.run)) {
            entry.subscriptions += 1;
            return Ok(subscription(&entry.run));
        }
        let unfinished = entries.values().filter(|entry| !entry.run.has_ended()).count();
        if unfinished >= MAX_RUNNING + MAX_QUEUED {
            self.0.metrics.validations_refused.inc();
            return Err(TooManyRuns);
        }
        let (run, publisher) = Run::new(targets);
        let lifetime = Arc::clone(&self.0).drive(key.clone(), Arc::clone(&run), publisher, times);
        let task = tokio::spawn(lifetime);
        let (subscription, task) = (subscription(&run), task.abort_handle());
        entries.insert(key, Entry { run, subscriptions: 1, task });
        Ok(subscription)
    }
}

impl Shared {
    /// The whole life of a run: the queue, the checks, and the time in which its result is reused.
    async fn drive(
        self: Arc<Self>,
        key: RunKey,
        run: Arc<Run>,
        publisher: Publisher,
        times: RunTimes,
    ) {
        {
            let _place = self.places.acquire().await.expect("the semaphore is never closed");
            let span = traces::background_span("validation");
            run.execute(publisher, &self.validator, times.deadline).await;
            if let Some(span) = span {
                span.set("content_type", run.targets.content_type.clone());
                span.set("urls", i64::try_from(run.targets.count()).unwrap_or(i64::MAX));
            }
            count(&self.metrics, &run.tally().by_class);
            self.record(&key, &run);
        }
        sleep(times.reuse).await;
        self.remove(&key, &run);
    }

    /// Makes a run that has ended the last one with its key.
    fn record(&self, key: &RunKey, run: &Arc<Run>) {
        let previous = self.last_runs.lock().get(key).cloned();
        // Not under the lock: it reads all results.
        let last_run = LastRun::new(Arc::clone(run), previous.as_deref());
        let Some(last_run) = last_run.map(Arc::new) else { return };
        self.save(key, &last_run);
        self.last_runs.lock().insert(key.clone(), last_run);
    }

    fn save(&self, key: &RunKey, last_run: &Arc<LastRun>) {
        let (fingerprint, shared) = (key.site, Arc::clone(last_run));
        let serialize = move || stored::serialize(&shared, fingerprint);
        self.store.save_run(&last_run.run.targets.site, &key.content_type, serialize);
    }

    fn unsubscribe(&self, key: &RunKey, run: &Arc<Run>) {
        let mut entries = self.entries.lock();
        let Some(entry) = entries.get_mut(key).filter(|entry| Arc::ptr_eq(&entry.run, run)) else {
            return;
        };
        entry.subscriptions -= 1;
        if entry.subscriptions == 0 && !run.has_ended() {
            entry.task.abort();
            entries.remove(key);
        }
    }

    /// Removes this run, but not a newer one with the same key.
    fn remove(&self, key: &RunKey, run: &Arc<Run>) {
        let mut entries = self.entries.lock();
        if entries.get(key).is_some_and(|entry| Arc::ptr_eq(&entry.run, run)) {
            entries.remove(key);
        }
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
