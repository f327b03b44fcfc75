//! One run: checks all URLs of a content type once, and stores the results for any number of
//! readers, each at its own pace.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use futures::StreamExt;
use parking_lot::RwLock;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::results::{Outcome, ResultLog};
use crate::validator::report::Tally;
use crate::validator::{CheckResult, Failure, Targets, Validator};

/// A run: queued, in flight or ended.
pub struct Run {
    /// What it checks.
    pub targets: Targets,
    results: RwLock<ResultLog>,
    /// When its first URL was requested: not before it has left the queue.
    begun: OnceLock<SystemTime>,
    end: OnceLock<End>,
    /// How many results there are.
    result_count: watch::Receiver<usize>,
    /// Carries no value and closes at the end, so that a reader of the whole result is not woken
    /// for each URL.
    ended: watch::Receiver<()>,
}

/// The end of a run.
struct End {
    at: Instant,
    time: SystemTime,
    /// Indexes into the result log, by position.
    by_position: Vec<u32>,
}

/// The sending half of a run's channels. Its drop wakes all readers: no further result will come.
pub(super) struct Publisher {
    result_count: watch::Sender<usize>,
    _ended: watch::Sender<()>,
}

/// The run's task panicked, so its result stays incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunFailed;

impl Run {
    pub(super) fn new(targets: Targets) -> (Arc<Self>, Publisher) {
        let (count_sender, result_count) = watch::channel(0);
        let (ended_sender, ended) = watch::channel(());
        let results = RwLock::new(ResultLog::with_capacity(targets.count()));
        let (begun, end) = (OnceLock::new(), OnceLock::new());
        let run = Self { targets, results, begun, end, result_count, ended };
        (Arc::new(run), Publisher { result_count: count_sender, _ended: ended_sender })
    }

    /// A run that has ended at these times, in another process, with the results of its URLs in order.
    pub(super) fn ended(
        targets: Targets,
        results: Vec<CheckResult>,
        (begun, ended): (SystemTime, SystemTime),
    ) -> Arc<Self> {
        let (run, _) = Self::new(targets);
        let mut log = run.results.write();
        for (position, checked) in results.into_iter().enumerate() {
            log.push(position, checked);
        }
        let by_position = log.by_position();
        drop(log);
        // The run is new: nothing was set before.
        let _ = run.begun.set(begun);
        let _ = run.end.set(End { at: Instant::now(), time: ended, by_position });
        run
    }

    /// Whether all results are there.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.end.get().is_some()
    }

    /// The time since its end; zero before.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.end.get().map_or(Duration::ZERO, |end| end.at.elapsed())
    }

    /// The times of its start and of its end, once it has ended.
    #[must_use]
    pub fn times(&self) -> Option<(SystemTime, SystemTime)> {
        Some((*self.begun.get()?, self.end.get()?.time))
    }

    /// Waits for the end of the run.
    ///
    /// # Errors
    /// [`RunFailed`] when its task panicked.
    pub async fn wait(&self) -> Result<(), RunFailed> {
        // An error says that the channel is closed, which is the end.
        let _ = self.ended.clone().changed().await;
        self.has_ended().then_some(()).ok_or(RunFailed)
    }

    /// Waits at most `patience` for more than `known` results or the end of the run; false on a
    /// timeout.
    ///
    /// # Errors
    /// [`RunFailed`] when its task panicked.
    pub async fn wait_for_more(&self, known: usize, patience: Duration) -> Result<bool, RunFailed> {
        let mut result_count = self.result_count.clone();
        let more = timeout(patience, result_count.wait_for(|count| *count > known)).await;
        match more {
            Ok(Err(_)) if !self.has_ended() => Err(RunFailed),
            waited => Ok(waited.is_ok()),
        }
    }

    /// The `nth` result in the order of arrival, from 0, with the position of its URL.
    #[must_use]
    pub fn nth(&self, nth: usize) -> Option<(usize, CheckResult)> {
        self.results.read().get(nth)
    }

    /// The `nth` result in the order of the URLs, once the run has ended.
    #[must_use]
    pub fn in_order(&self, nth: usize) -> Option<(usize, CheckResult)> {
        let arrived = *self.end.get()?.by_position.get(nth)?;
        self.nth(arrived as usize)
    }

    /// What each result says of its URL, in the order of the URLs; empty before the end.
    pub(super) fn outcomes(&self) -> Vec<Outcome> {
        let order = self.end.get().map_or(&[][..], |end| &end.by_position);
        let results = self.results.read();
        order.iter().map(|nth| results.outcome(*nth as usize)).collect()
    }

    /// The counters over all results so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.results.read().tally().clone()
    }

    /// Checks all URLs, or as many as the deadline allows.
    pub(super) async fn execute(
        &self,
        publisher: Publisher,
        validator: &Validator,
        deadline: Duration,
    ) {
        // Called once, because it takes the publisher: nothing was set before, here and below.
        let _ = self.begun.set(SystemTime::now());
        let targets = &self.targets;
        let mut results = validator.check(targets.urls());
        let mut deadline = std::pin::pin!(sleep(deadline));
        loop {
            let next = tokio::select! {
                next = results.next() => next,
                () = &mut deadline => None,
            };
            let Some((position, checked)) = next else { break };
            self.push(&publisher, position, checked);
        }
        drop(results);
        let not_checked = self.mark_rest_not_checked();
        let by_position = self.results.read().by_position();
        let (at, time) = (Instant::now(), SystemTime::now());
        let _ = self.end.set(End { at, time, by_position });
        self.log_end(not_checked);
    }

    fn log_end(&self, not_checked: usize) {
        let Targets { site, content_type: uid, .. } = &self.targets;
        let tally = self.tally();
        let (count, ok) = (tally.count, tally.by_class.success);
        tracing::info!(site, uid, count, ok, not_checked, "a validation has ended");
    }

    fn push(&self, publisher: &Publisher, position: usize, checked: CheckResult) {
        let mut results = self.results.write();
        results.push(position, checked);
        let count = results.len();
        drop(results);
        publisher.result_count.send_replace(count);
    }

    /// Adds a `not checked` result for each URL without one, and returns how many these are.
    fn mark_rest_not_checked(&self) -> usize {
        let mut results = self.results.write();
        let missing = self.targets.count() - results.len();
        if missing == 0 {
            return 0;
        }
        let mut is_checked = vec![false; self.targets.snapshot.len()];
        for (position, _) in results.iter() {
            is_checked[position] = true;
        }
        for position in (0..self.targets.count()).filter(|position| !is_checked[*position]) {
            results.push(position, CheckResult::Failed(Failure::NotChecked));
        }
        missing
    }
}
