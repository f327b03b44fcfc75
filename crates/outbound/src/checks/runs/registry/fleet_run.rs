//! A run of a fleet: its owner checks the URLs, and the other instances follow it: they use its
//! progress and its result.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::task::block_in_place;
use tokio::time::{sleep, sleep_until, timeout};

use super::{Job, Shared};
use crate::checks::runs::last_run::LastRun;
use crate::checks::runs::publisher::Admission;
use crate::checks::runs::run::Run;
use crate::checks::runs::run_key::{RunKey, RunKind};
use crate::checks::runs::stored::{self, Stored};
use frontend_map_catalog::site::Site;
use frontend_map_fleet::SnapshotId;
use frontend_map_fleet::checks::runs::{
    FleetRuns, Followed, Following, Joined, Ownership, PERIOD, Renewed, SharedResult, WITHIN,
};
use frontend_map_fleet::redis::ANSWER_WAIT;
use frontend_map_fleet::snapshots::{has_valid_paths, max_decompressed};
use frontend_map_platform::clock::unix_ms_of;

/// The time limit for reading a result; after it, this instance checks the URLs. The result of a
/// million URLs has about 20 MB.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(10);
/// After so many failed reads of a run's state in a row, this instance checks the URLs.
const MAX_FAILURES: usize = 2;

/// The first pause between reads of a run's state, which doubles: short runs end soon.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// Drives a run until its end: checks its URLs as the owner, or follows the run of another
/// instance.
pub(super) async fn drive(shared: &Shared, fleet: &FleetRuns, mut job: Job, may_own: bool) {
    let (mut may_own, mut reuse) = (may_own, job.times.reuse);
    // Until then, responses wait for Redis.
    let admitted_by = Instant::now() + ANSWER_WAIT;
    let mut deadline = admitted_by;
    loop {
        let (kind, joined) = join(fleet, &job, may_own, reuse, deadline).await;
        let result = match joined {
            // Without an answer of Redis, this instance checks the URLs.
            Joined::Own(ownership) | Joined::Unknown(ownership) if may_own => {
                let Some(unused) = own(shared, fleet, ownership, job).await else { return };
                job = unused;
                None
            }
            Joined::Own(_) | Joined::Unknown(_) | Joined::None => {
                return job.publisher.admit(Admission::Refused);
            }
            Joined::Ended(result) => Some(result),
            Joined::Follow(following) => {
                shared.metrics.validations_followed.inc();
                shared.entries.set_own(&job.key, &job.run, false);
                job.run.set_remote_progress(following.progress);
                job.publisher.admit(Admission::Accepted);
                follow(fleet, &job.run, following).await
            }
        };
        if let Some(result) = result {
            if complete(shared, fleet, &job, kind, &result, admitted_by).await {
                return;
            }
            // The result is refused: it is not requested again.
            reuse = Duration::ZERO;
        }
        if job.publisher.is_accepted() {
            (may_own, deadline) = (true, Instant::now() + WITHIN);
        }
    }
}

/// Joins a run, and returns its kind: one of another instance that also judges pages serves for the
/// statuses, too.
async fn join(
    fleet: &FleetRuns,
    job: &Job,
    may_own: bool,
    reuse: Duration,
    deadline: Instant,
) -> (RunKind, Joined) {
    let Job { key, run, .. } = job;
    let (site, progress) = (&run.targets().site, run.progress());
    let id = |kind| SnapshotId::of(site, &RunKey { kind, ..key.clone() }.name());
    if key.kind == RunKind::Status {
        let other = id(RunKind::Content);
        let joined = fleet.join(other.as_str(), false, reuse, &progress, deadline).await;
        if matches!(joined, Joined::Follow(_) | Joined::Ended(_)) {
            return (RunKind::Content, joined);
        }
    }
    let joined = fleet.join(id(key.kind).as_str(), may_own, reuse, &progress, deadline).await;
    (key.kind, joined)
}

/// Follows the run of another instance until its end. Returns its result; `None`: there is none.
async fn follow(fleet: &FleetRuns, run: &Run, following: Following) -> Option<SharedResult> {
    let (mut failures, mut pause) = (0, FIRST_PAUSE);
    loop {
        sleep(pause).await;
        pause = (pause * 2).min(PERIOD);
        match following.poll().await {
            Ok(Followed::Progress(progress)) => {
                failures = 0;
                if progress.is_some() {
                    run.set_remote_progress(progress);
                }
            }
            Ok(Followed::Ended(result)) => return Some(result),
            Ok(Followed::Gone) => break,
            Err(_) => failures += 1,
        }
        if failures == MAX_FAILURES || !fleet.is_available() {
            break;
        }
    }
    run.set_remote_progress(None);
    None
}

/// Ends the run with the result of another instance, of a run of this kind. Returns `false` if the result
/// is refused. If reading takes until `admitted_by`, the run is accepted before.
async fn complete(
    shared: &Shared,
    fleet: &FleetRuns,
    job: &Job,
    kind: RunKind,
    result: &SharedResult,
    admitted_by: Instant,
) -> bool {
    let key = RunKey { kind, ..job.key.clone() };
    let mut reading = pin!(read(fleet, &job.run.targets().site, &key, result));
    let stored = tokio::select! {
        stored = &mut reading => stored,
        () = sleep_until(admitted_by.into()) => {
            job.publisher.admit(Admission::Accepted);
            reading.await
        }
    };
    let Some(Stored { findings, record }) = stored else {
        job.run.set_remote_progress(None);
        return false;
    };
    job.publisher.admit(Admission::Accepted);
    block_in_place(|| job.run.complete(&job.publisher, findings, fleet.instant_of(result.ended)));
    shared.keep(&job.key, &Arc::new(record.of(Arc::clone(&job.run))));
    true
}

async fn read(
    fleet: &FleetRuns,
    site: &Arc<Site>,
    key: &RunKey,
    result: &SharedResult,
) -> Option<Stored> {
    let bytes = timeout(DOWNLOAD_TIMEOUT, fleet.download(result)).await;
    let stored = match bytes {
        Ok(Ok(bytes)) => block_in_place(|| {
            let max_bytes = max_decompressed(bytes.len());
            let stored = stored::read(&bytes, max_bytes, site, &key.content_type, key.kind);
            stored.filter(|stored| has_valid_paths(&stored.findings.targets.snapshot))
        }),
        Ok(Err(_)) | Err(_) => None,
    };
    if stored.is_none() {
        let (site, content_type) = (&site.key, &key.content_type);
        tracing::warn!(site, content_type, "the shared result of a validation is refused");
    }
    stored
}

/// Checks the URLs for all instances. Returns the job if another instance turns out to own the run
/// before the first check.
async fn own(shared: &Shared, fleet: &FleetRuns, ownership: Ownership, job: Job) -> Option<Job> {
    let (key, run, left) = (job.key.clone(), Arc::clone(&job.run), Arc::clone(&job.left));
    let site = &run.targets().site;
    shared.entries.set_own(&key, &run, true);
    job.publisher.admit(Admission::Accepted);
    let queued = Mutex::new(Some(job));
    let renewals = renew(shared, &ownership, &key, &run, &queued, &left);
    let work = async {
        {
            let _place = shared.places.acquire().await.expect("the semaphore is never closed");
            let Some(job) = queued.lock().take() else { return };
            shared.check(job).await;
        }
        sync(shared, fleet, site, std::slice::from_ref(&key.content_type)).await;
        let Some(last_run) = shared.record(&key, &run) else { return };
        let bytes = block_in_place(|| stored::serialize(&last_run, key.site));
        if let Err(error) = ownership.finish(&bytes, unix_ms_of(last_run.ended())).await {
            let (site, content_type) = (&site.key, &key.content_type);
            tracing::debug!(site, content_type, %error, "the result of a validation is not shared");
        }
    };
    tokio::select! {
        () = work => None,
        is_lost = renewals => queued.into_inner().filter(|_| is_lost),
    }
}

/// Renews the run and publishes its progress until no instance needs it. Returns whether another
/// instance owns the run, and this instance has not begun it: it is still `queued`.
async fn renew(
    shared: &Shared,
    ownership: &Ownership,
    key: &RunKey,
    run: &Arc<Run>,
    queued: &Mutex<Option<Job>>,
    left: &Notify,
) -> bool {
    loop {
        let is_needed = run.has_ended() || shared.entries.is_needed(key, run);
        match ownership.renew(&run.progress(), is_needed).await {
            Ok(Renewed::Continues) => {}
            Ok(Renewed::Lost) if queued.lock().is_some() => return true,
            Ok(Renewed::Unneeded) => {
                if shared.entries.stop(key, run) {
                    return false;
                }
                continue;
            }
            Ok(Renewed::Lost) | Err(_) => {
                if !is_needed && shared.entries.stop(key, run) {
                    return false;
                }
            }
        }
        tokio::select! {
            () = sleep(PERIOD) => {}
            () = left.notified() => {}
        }
    }
}

/// Reads newer last runs of other instances within the time that a response may wait. A read that
/// takes longer continues, for the next response.
pub(super) async fn sync_for_response(
    shared: &Arc<Shared>,
    site: &Arc<Site>,
    content_types: &[&str],
) {
    let begun = Instant::now();
    let Ok(guard) = timeout(ANSWER_WAIT, Arc::clone(&shared.syncing).lock_owned()).await else {
        return;
    };
    let (shared, site) = (Arc::clone(shared), Arc::clone(site));
    let content_types: Vec<String> = content_types.iter().map(ToString::to_string).collect();
    let task = tokio::spawn(async move {
        let _guard = guard;
        if let Some(fleet) = &shared.fleet {
            sync(&shared, fleet, &site, &content_types).await;
        }
    });
    let _ = timeout(ANSWER_WAIT.saturating_sub(begun.elapsed()), task).await;
}

/// Reads the last runs of other instances that are newer than those of this one.
async fn sync(shared: &Shared, fleet: &FleetRuns, site: &Arc<Site>, content_types: &[String]) {
    let keys = content_types
        .iter()
        .flat_map(|content_type| RunKind::ALL.map(|kind| RunKey::of(site, content_type, kind)));
    let keys: Vec<RunKey> = keys.collect();
    let ids: Vec<SnapshotId> = keys.iter().map(|key| SnapshotId::of(site, &key.name())).collect();
    let Ok(results) = fleet.results(&ids).await else { return };
    for (key, result) in keys.iter().zip(results) {
        let Some(result) = result else { continue };
        let is_older = |own: Arc<LastRun>| unix_ms_of(own.ended()) < result.time;
        let is_newer = || shared.last_run_with(key).is_none_or(is_older);
        if !is_newer() {
            continue;
        }
        let Some(stored) = read(fleet, site, key, &result).await else { continue };
        if is_newer() {
            let last_run = stored.into_last_run(fleet.instant_of(result.ended));
            shared.keep(key, &Arc::new(last_run));
        }
    }
}
