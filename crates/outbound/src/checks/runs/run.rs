//! One run: checks all URLs of a content type once, and stores the results for any number of
//! readers, each at its own pace.

use std::ops::Not;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use futures::StreamExt;
use parking_lot::RwLock;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::faults::FaultLog;
use super::publisher::{Admission, Publisher};
use super::results::{Outcome, ResultLog};
use super::run_key::RunKind;
use crate::checks::content::{Fault, Judged, PageJudge};
use crate::checks::report::{FoundInPages, Tally};
use crate::checks::{CheckResult, CheckedUrl, Failure, Targets, Validator};
use frontend_map_fleet::checks::runs::Progress;

/// A run: queued, in flight or ended.
pub struct Run {
    /// What its first subscription wanted to be checked.
    targets: Targets,
    /// What another instance has checked instead, because it owned the run.
    carried: OnceLock<Targets>,
    /// The progress of another instance.
    progress: RwLock<Option<Progress>>,
    results: RwLock<ResultLog>,
    /// What it found in the pages, if it judges them.
    faults: Option<RwLock<FaultLog>>,
    /// When its first URL was requested: not before it has left the queue.
    begun: OnceLock<SystemTime>,
    end: OnceLock<End>,
    /// How many results there are.
    result_count: watch::Receiver<usize>,
    /// Carries no value and closes at the end, so that a reader of the whole result is not woken
    /// for each URL.
    ended: watch::Receiver<()>,
    admission: watch::Receiver<Admission>,
}

/// The end of a run.
struct End {
    at: Instant,
    time: SystemTime,
    /// Indexes into the result log, by position.
    by_position: Vec<u32>,
}

/// What another process has found.
pub(super) struct Findings {
    pub(super) targets: Targets,
    /// In the order of the URLs.
    pub(super) results: Vec<CheckResult>,
    /// What it found in the pages, if it judged them.
    pub(super) faults: Option<FaultLog>,
    /// When the run began, and when it ended.
    pub(super) times: (SystemTime, SystemTime),
}

/// The run's task panicked, so its result stays incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunFailed;

impl Run {
    pub(super) fn new(targets: Targets, kind: RunKind) -> (Arc<Self>, Publisher) {
        let (count_sender, result_count) = watch::channel(0);
        let (ended_sender, ended) = watch::channel(());
        let results = RwLock::new(ResultLog::with_capacity(targets.count()));
        let (begun, end) = (OnceLock::new(), OnceLock::new());
        let (admission_sender, admission) = watch::channel(Admission::Pending);
        let (carried, progress) = (OnceLock::new(), RwLock::new(None));
        let run = Self {
            targets,
            carried,
            progress,
            results,
            faults: (kind == RunKind::Content).then(RwLock::default),
            begun,
            end,
            result_count,
            ended,
            admission,
        };
        let publisher = Publisher {
            result_count: count_sender,
            _ended: ended_sender,
            admission: admission_sender,
        };
        (Arc::new(run), publisher)
    }

    /// What it checks.
    pub fn targets(&self) -> &Targets {
        self.carried.get().unwrap_or(&self.targets)
    }

    /// The progress of the instance that checks the URLs, if that is another one.
    pub fn remote_progress(&self) -> Option<Progress> {
        *self.progress.read()
    }

    pub(super) fn set_remote_progress(&self, progress: Option<Progress>) {
        *self.progress.write() = progress;
    }

    /// The progress, for other instances.
    pub(super) fn progress(&self) -> Progress {
        let tally = self.tally();
        Progress {
            checked: usize::try_from(tally.count).unwrap_or(usize::MAX),
            total: self.targets().count(),
            skipped: self.targets().snapshot.skipped.total(),
            by_class: tally.by_class.to_array(),
        }
    }

    /// The number of URLs.
    pub fn total(&self) -> usize {
        self.remote_progress().map_or_else(|| self.targets().count(), |remote| remote.total)
    }

    /// The number of documents without a URL.
    pub fn skipped(&self) -> u64 {
        let own = || self.targets().snapshot.skipped.total();
        self.remote_progress().map_or_else(own, |remote| remote.skipped)
    }

    /// Waits until it is known whether the run is begun or followed; false: it is refused.
    pub(super) async fn is_accepted(&self) -> bool {
        let mut admission = self.admission.clone();
        let admission = admission.wait_for(|admission| *admission != Admission::Pending).await;
        // An error means that its task has panicked: readers learn that at the end of the run.
        admission.is_ok_and(|admission| *admission == Admission::Refused).not()
    }

    /// Takes the targets and the results of a run that another instance has ended.
    pub(super) fn complete(&self, publisher: &Publisher, findings: Findings, at: Instant) {
        let Findings { targets, results, faults, times: (begun, time) } = findings;
        // The run has not been executed here: nothing was set before.
        let _ = self.carried.set(targets);
        let _ = self.begun.set(begun);
        if let (Some(own), Some(faults)) = (&self.faults, faults) {
            *own.write() = faults;
        }
        let mut log = self.results.write();
        for (position, checked) in results.into_iter().enumerate() {
            log.push(position, checked);
        }
        let (count, by_position) = (log.len(), log.by_position());
        drop(log);
        self.set_remote_progress(Some(self.progress()));
        let _ = self.end.set(End { at, time, by_position });
        publisher.result_count.send_replace(count);
    }

    /// A run that has ended at this time, in another process.
    pub(super) fn ended(findings: Findings, at: Instant) -> Arc<Self> {
        let kind = if findings.faults.is_some() { RunKind::Content } else { RunKind::Status };
        let (run, publisher) = Self::new(findings.targets.clone(), kind);
        run.complete(&publisher, findings, at);
        run
    }

    /// Whether all results are there.
    pub fn has_ended(&self) -> bool {
        self.end.get().is_some()
    }

    /// The time since its end; zero before.
    pub fn age(&self) -> Duration {
        self.end.get().map_or(Duration::ZERO, |end| end.at.elapsed())
    }

    /// The times of its start and of its end, once it has ended.
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
    pub fn nth(&self, nth: usize) -> Option<(usize, CheckResult)> {
        self.results.read().get(nth)
    }

    /// The `nth` result in the order of the URLs, once the run has ended.
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
    pub fn tally(&self) -> Tally {
        self.results.read().tally().clone()
    }

    /// Whether it judges pages.
    pub fn kind(&self) -> RunKind {
        if self.faults.is_some() { RunKind::Content } else { RunKind::Status }
    }

    /// The faults of the page of the URL at a position, in the order of reports; none without pages.
    pub fn faults(&self, position: usize) -> Vec<Fault> {
        self.faults.as_ref().map_or_else(Vec::new, |log| log.read().of(position).to_vec())
    }

    /// What was found in the pages so far; `None`: the run judges no pages.
    pub fn content(&self) -> Option<FoundInPages> {
        let log = self.faults.as_ref()?.read();
        Some(FoundInPages { tally: log.tally().clone(), robots: log.robots().to_vec() })
    }

    pub(super) fn fault_log(&self) -> Option<FaultLog> {
        self.faults.as_ref().map(|log| log.read().clone())
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
        let mut deadline = pin!(sleep(deadline));
        tokio::select! {
            () = self.check_all(&publisher, validator) => {}
            () = &mut deadline => {}
        }
        let not_checked = self.mark_rest_not_checked();
        self.mark_dead_canonicals();
        let by_position = self.results.read().by_position();
        let (at, time) = (Instant::now(), SystemTime::now());
        let _ = self.end.set(End { at, time, by_position });
        self.log_end(not_checked);
    }

    async fn check_all(&self, publisher: &Publisher, validator: &Validator) {
        let targets = self.targets();
        let Some(faults) = &self.faults else {
            let mut results = pin!(validator.check(targets.urls()));
            while let Some((position, checked)) = results.next().await {
                self.push(publisher, position, checked, Judged::default());
            }
            return;
        };
        let parts = std::slice::from_ref(targets);
        let judge = PageJudge::prepare(validator, parts).await;
        faults.write().set_robots(judge.unreadable_robots().to_vec());
        let urls = (0..targets.count()).map(|position| (0, position));
        let mut results = pin!(validator.check_pages(&judge, parts, urls));
        while let Some((_, CheckedUrl { position, result, judged })) = results.next().await {
            self.push(publisher, position, result, judged.unwrap_or_default());
        }
    }

    fn mark_dead_canonicals(&self) {
        if let Some(faults) = &self.faults {
            let results = self.results.read();
            let targets = self.targets();
            let checked = results.iter().map(|(at, checked)| (targets.url(at), checked));
            faults.write().mark_dead_canonicals(checked);
        }
    }

    fn log_end(&self, not_checked: usize) {
        let Targets { site, content_type: uid, .. } = self.targets();
        let (site, tally) = (&site.key, self.tally());
        let (count, ok) = (tally.count, tally.by_class.success);
        tracing::info!(site, uid, count, ok, not_checked, "a validation has ended");
    }

    fn push(&self, publisher: &Publisher, position: usize, checked: CheckResult, judged: Judged) {
        // Before the result, which readers wait for.
        if let Some(faults) = &self.faults {
            faults.write().push(position, judged);
        }
        let mut results = self.results.write();
        results.push(position, checked);
        let count = results.len();
        drop(results);
        publisher.result_count.send_replace(count);
    }

    /// Adds a `not checked` result for each URL without one, and returns how many these are.
    fn mark_rest_not_checked(&self) -> usize {
        let mut results = self.results.write();
        let missing = self.targets().count() - results.len();
        if missing == 0 {
            return 0;
        }
        let mut is_checked = vec![false; self.targets().snapshot.len()];
        for (position, _) in results.iter() {
            is_checked[position] = true;
        }
        for position in (0..self.targets().count()).filter(|position| !is_checked[*position]) {
            results.push(position, CheckResult::Failed(Failure::NotChecked));
        }
        missing
    }
}
