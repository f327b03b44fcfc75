//! Runs of URL checks: one at a time for a content type of a site, shared by all who ask, and ended
//! when nobody asks any more.

mod run;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::sleep;

pub use run::{Broken, Run};

use super::App;
use crate::metrics::{Checked, Metrics};
use crate::traces;
use crate::validator::report::Classes;
use crate::validator::{Targets, Validator};
use run::Writer;

/// Runs under way at a time; all of them share the ten requests.
const RUNS: usize = 2;
/// Runs that wait for their turn. More than that would wait for hours.
const WAITING: usize = 8;

/// How long runs take, and how long their results are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidationTimes {
    /// For a whole run from its turn on; what is left then is not checked.
    pub deadline: Duration,
    /// How long after its end the result of a run is given to who asks for the same.
    pub reuse: Duration,
}

/// There are as many runs as are let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

/// The runs of the process.
pub(super) struct Validations(Arc<Fence>);

struct Fence {
    entries: Mutex<HashMap<Key, Entry>>,
    turns: Semaphore,
    validator: Validator,
    metrics: Arc<Metrics>,
}

/// [`App::mark`] of a site, and a content type.
type Key = (u128, String);

struct Entry {
    run: Arc<Run>,
    /// How many wait for it.
    askers: usize,
    task: AbortHandle,
}

/// Somebody who waits for a run. The last one who goes ends it.
pub struct Asker {
    run: Arc<Run>,
    key: Key,
    fence: Arc<Fence>,
}

impl Asker {
    /// The run.
    #[must_use]
    pub fn run(&self) -> &Arc<Run> {
        &self.run
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.fence.leave(&self.key, &self.run);
    }
}

impl Validations {
    pub(super) fn new(validator: Validator, metrics: Arc<Metrics>) -> Self {
        let (entries, turns) = (Mutex::default(), Semaphore::new(RUNS));
        Self(Arc::new(Fence { entries, turns, validator, metrics }))
    }

    /// Joins the run over these targets, or begins one.
    fn join(&self, key: Key, targets: Targets, times: ValidationTimes) -> Result<Asker, Busy> {
        let mut entries = self.0.entries();
        let asker = |run: &Arc<Run>| {
            let (run, fence) = (Arc::clone(run), Arc::clone(&self.0));
            Asker { run, key: key.clone(), fence }
        };
        // An old result is there until its task comes round to forgetting it.
        let is_young = |run: &Run| !run.has_ended() || run.age() < times.reuse;
        if let Some(entry) = entries.get_mut(&key).filter(|entry| is_young(&entry.run)) {
            entry.askers += 1;
            return Ok(asker(&entry.run));
        }
        let unfinished = entries.values().filter(|entry| !entry.run.has_ended()).count();
        if unfinished >= RUNS + WAITING {
            self.0.metrics.validations_refused.one();
            return Err(Busy);
        }
        let (run, writer) = Run::new(targets);
        let through = Arc::clone(&self.0).see_through(key.clone(), Arc::clone(&run), writer, times);
        let task = tokio::spawn(through);
        let (asker, task) = (asker(&run), task.abort_handle());
        entries.insert(key, Entry { run, askers: 1, task });
        Ok(asker)
    }
}

impl Fence {
    fn entries(&self) -> MutexGuard<'_, HashMap<Key, Entry>> {
        self.entries.lock()
    }

    /// From the wait for its turn until its result is too old.
    async fn see_through(
        self: Arc<Self>,
        key: Key,
        run: Arc<Run>,
        writer: Writer,
        times: ValidationTimes,
    ) {
        {
            // Never closed, so there is a turn for everybody.
            let _turn = self.turns.acquire().await;
            let span = traces::work("validation");
            run.go(writer, &self.validator, times.deadline).await;
            if let Some(span) = span {
                span.note("content_type", run.targets.content_type.clone());
                span.note("urls", i64::try_from(run.targets.count()).unwrap_or(i64::MAX));
            }
            count(&self.metrics, &run.tally().by_class);
        }
        sleep(times.reuse).await;
        self.forget(&key, &run);
    }

    /// One asker less.
    fn leave(&self, key: &Key, run: &Arc<Run>) {
        let mut entries = self.entries();
        let Some(entry) = entries.get_mut(key).filter(|entry| Arc::ptr_eq(&entry.run, run)) else {
            return;
        };
        entry.askers -= 1;
        if entry.askers == 0 && !run.has_ended() {
            entry.task.abort();
            entries.remove(key);
        }
    }

    fn forget(&self, key: &Key, run: &Arc<Run>) {
        let mut entries = self.entries();
        if entries.get(key).is_some_and(|entry| Arc::ptr_eq(&entry.run, run)) {
            entries.remove(key);
        }
    }
}

/// A run has ended.
fn count(metrics: &Metrics, classes: &Classes) {
    metrics.validations.one();
    for (class, urls) in [
        (Checked::Success, classes.success),
        (Checked::Redirect, classes.redirect),
        (Checked::ClientError, classes.client_error),
        (Checked::ServerError, classes.server_error),
        (Checked::Error, classes.error),
    ] {
        metrics.checked.of(class).add(urls);
    }
}

impl App {
    /// Joins the run over these targets, or begins one.
    ///
    /// # Errors
    /// [`Busy`] when two runs are under way and eight wait.
    pub fn validate(&self, targets: Targets) -> Result<Asker, Busy> {
        let key = (self.mark(&targets.site), targets.content_type.clone());
        self.lasting.validations.join(key, targets, self.validation)
    }
}
