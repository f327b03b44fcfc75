//! The task that publishes the snapshots that this instance leads.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::block_in_place;

use super::publication::Publication;
use super::publish_queue::Pauses;
use super::publish_script::Outcome;
use super::state::{Known, PublishedSnapshot, SnapshotState};
use super::{PublishRequest, SharedSnapshotId, SharedSnapshots};
use crate::redis::{self, Chunks};
use crate::snapshot_position::Position;
use crate::{Fleet, Role};
use frontend_map_catalog::snapshot::Delta;

/// How often the leader extends the lifetimes of its published snapshots.
const EXTENSION: Duration = Duration::from_mins(30);
/// How long chunks stay that no pointer names any more: a follower may be reading them.
const REPLACED_TTL: Duration = Duration::from_mins(1);
/// How often a publication is tried without a pause.
const ATTEMPTS: usize = 3;

/// Why a snapshot is not published.
#[derive(Debug, thiserror::Error)]
enum NotPublished {
    /// This instance is not the leader: another one publishes, or will.
    #[error("this instance does not lead")]
    NotLeader,
    /// Other publications have come first, at each attempt.
    #[error("the version that is published keeps changing")]
    KeepsChanging,
    #[error(transparent)]
    Redis(#[from] redis::Error),
}

impl SharedSnapshots {
    /// Requests the publication of the present snapshot, in place of an earlier request. It is
    /// published if this instance leads, and dropped otherwise: a new leader requests the
    /// publication of what it has.
    pub fn request_publication(&self, id: SharedSnapshotId, request: PublishRequest) {
        self.queue.lock().put(id, request);
        self.requested.notify_one();
    }

    /// Publishes the whole snapshot again if this instance has published it, because another
    /// instance cannot use its base.
    pub(super) fn publish_base(&self, id: &SharedSnapshotId) {
        let state = self.state(id);
        let Some(request) = state.status.lock().published.clone() else { return };
        state.status.lock().wants_base = true;
        self.queue.lock().put_older(id, request);
        self.requested.notify_one();
    }

    /// Whether the last publication of a snapshot by this instance has failed.
    pub fn is_unpublished(&self, id: &SharedSnapshotId) -> bool {
        self.state(id).status.lock().failure.is_some()
    }

    /// Publishes what is requested; runs for ever.
    pub async fn publish(&self, fleet: &Fleet) {
        let mut extended = Instant::now();
        loop {
            let next = self.queue.lock().take_due();
            if let Some((id, request, pauses)) = next {
                self.publish_or_keep(fleet, id, request, pauses).await;
            } else {
                let pause = self.queue.lock().pause().unwrap_or(EXTENSION).min(EXTENSION);
                tokio::select! {
                    _ = tokio::time::timeout(pause, self.requested.notified()) => {}
                    () = self.changes.wait_for_missing_base() => self.publish_missing_bases(),
                }
            }
            if extended.elapsed() >= EXTENSION {
                extended = Instant::now();
                self.extend_all(fleet).await;
            }
        }
    }

    /// Publishes the snapshots again of which a log that has just begun has no base: readers that get a
    /// reset wait for it.
    fn publish_missing_bases(&self) {
        let states = self.states.lock().clone();
        for (id, state) in states {
            let key = state.status.lock().published.as_ref().map(|request| request.key.clone());
            if key.is_some_and(|key| self.changes.lacks_base(&key.site, &key.content_type)) {
                self.publish_base(&id);
            }
        }
    }

    async fn publish_or_keep(
        &self,
        fleet: &Fleet,
        id: SharedSnapshotId,
        request: PublishRequest,
        pauses: Pauses,
    ) {
        let key = &request.key;
        let result = self.publish_one(fleet, &id, &request).await;
        let state = self.state(&id);
        let error = match &result {
            Ok(()) | Err(NotPublished::NotLeader) => None,
            Err(error) => Some(error.to_string()),
        };
        let has_failed = |one: &Arc<SnapshotState>| one.status.lock().failure == error;
        let is_known = error.is_some() && self.states.lock().values().any(has_failed);
        state.status.lock().failure.clone_from(&error);
        self.changes.set_unpublished(key, error);
        match result {
            Ok(()) => {}
            Err(NotPublished::NotLeader) => {
                state.status.lock().published = None;
                tracing::debug!(site = key.site, uid = key.content_type, "another instance leads");
            }
            Err(error) => {
                let (site, uid) = (&key.site, &key.content_type);
                let is_brief = matches!(error, NotPublished::Redis(redis::Error::Unavailable));
                if is_brief {
                    // The heartbeat logs the outage of Redis.
                    tracing::debug!(site, uid, %error, "a snapshot is not published yet");
                } else if is_known {
                    // An outage is one line, however many snapshots there are and however often each
                    // is tried.
                    tracing::debug!(site, uid, %error, "a snapshot could not be published either; the publication is repeated");
                } else {
                    tracing::warn!(site, uid, %error, "a snapshot could not be published; the publication is repeated");
                }
                self.queue.lock().put_back(id, request, pauses, is_brief);
            }
        }
    }

    async fn publish_one(
        &self,
        fleet: &Fleet,
        id: &SharedSnapshotId,
        request: &PublishRequest,
    ) -> Result<(), NotPublished> {
        let state = self.state(id);
        let mut known = state.known.lock().await;
        for _ in 0..ATTEMPTS {
            let group = fleet.group_of(id).ok_or(NotPublished::NotLeader)?;
            let Role::Leader(epoch) = group.role() else { return Err(NotPublished::NotLeader) };
            let before = known.version.clone();
            // For an updated snapshot of the same walk, the time must not change by a millisecond.
            let same_walk = before.as_ref().filter(|one| one.walked.begun == request.walked.begun);
            let walked_at = same_walk
                .map_or_else(|| self.server_time_of(request.walked.begun), |one| one.walked_at);
            let as_of = self.server_time_of(request.walked.as_of);
            let delta = match &before {
                None => None,
                Some(before) => {
                    let (one, other) = (&before.walked.snapshot, &request.walked.snapshot);
                    block_in_place(|| Delta::between(one, other)).ok()
                }
            };
            let is_same = delta.as_ref().is_some_and(Delta::is_empty)
                && before.as_ref().is_some_and(|one| one.walked.begun >= request.walked.begun);
            let wants_base = state.status.lock().wants_base;
            if is_same && !wants_base {
                let mut status = state.status.lock();
                let is_first = status.published.replace(request.clone()).is_none();
                status.unknown_since = None;
                drop(status);
                self.update_missing();
                if let (true, Some(before)) = (is_first, &before) {
                    let position = before.position.to_string();
                    let snapshot = &request.walked.snapshot;
                    self.changes.settled(&request.key, id.as_str(), position, snapshot);
                }
                return Ok(());
            }
            let publication = Publication {
                id,
                group: &group,
                position: Position { epoch, version: known.next() },
                at: &known.at,
                before: before.as_ref(),
                request,
                walked_at,
                as_of,
                delta: delta.map(|delta| block_in_place(|| delta.serialize())),
                wants_base,
            };
            match self.send(publication).await? {
                Ok(version) => {
                    let replaced = self.record(id, &state, &mut known, request, version);
                    self.expire(&replaced).await;
                    return Ok(());
                }
                Err(Outcome::OtherChanges | Outcome::Expired) => {}
                Err(Outcome::OtherVersion) => self.read_again(id, &mut known).await?,
                Err(_) => return Err(NotPublished::NotLeader),
            }
        }
        Err(NotPublished::KeepsChanging)
    }

    /// Records what is published now; returns the chunks that no pointer names any more.
    fn record(
        &self,
        id: &SharedSnapshotId,
        state: &SnapshotState,
        known: &mut Known,
        request: &PublishRequest,
        version: PublishedSnapshot,
    ) -> Vec<Chunks> {
        let mut status = state.status.lock();
        status.wants_base &= version.base.position != version.position;
        status.versions.published(version.position.version);
        status.unknown_since = None;
        status.published = Some(request.clone());
        drop(status);
        self.update_missing();
        let position = version.position.to_string();
        self.changes.settled(&request.key, id.as_str(), position, &request.walked.snapshot);
        let mut replaced = std::mem::take(&mut known.replaced);
        let before = known.version.as_ref();
        if let Some(before) = before.filter(|before| before.base != version.base) {
            replaced.push(before.base.chunks.clone());
            replaced.extend(before.deltas.chunks.iter().cloned());
        }
        known.served = Some(version.order());
        known.set(&version.position.to_string(), version);
        replaced
    }

    /// Reads the pointer again, because it has changed. The next attempt replaces the snapshot as a
    /// whole, since this instance is the leader.
    async fn read_again(
        &self,
        id: &SharedSnapshotId,
        known: &mut Known,
    ) -> Result<(), NotPublished> {
        let found = self.find(id).await?;
        if let Some(pointer) = found.pointer {
            known.largest = known.largest.max(pointer.position.version);
            known.replaced.push(pointer.base.chunks);
        }
        known.forget(found.at);
        Ok(())
    }

    /// The time of this instant by Redis's clock, in ms since 1970.
    fn server_time_of(&self, instant: Instant) -> i64 {
        let age = i64::try_from(instant.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.redis.now_ms().saturating_sub(age)
    }

    async fn expire(&self, replaced: &[Chunks]) {
        for chunks in replaced {
            // Otherwise they expire later.
            let _ = self.redis.extend(chunks, REPLACED_TTL).await;
        }
    }

    /// Extends the lifetimes of the snapshots that this instance leads. Publishes a snapshot again
    /// if a part of it is missing.
    async fn extend_all(&self, fleet: &Fleet) {
        self.states.lock().retain(|id, _| fleet.group_of(id).is_some());
        let states: Vec<_> =
            self.states.lock().iter().map(|(l, s)| (l.clone(), s.clone())).collect();
        for (id, state) in states {
            let leads = fleet.group_of(&id).map(|group| group.role());
            let Some(Role::Leader(_)) = leads else { continue };
            let version = state.known.lock().await.version.clone();
            let Some(version) = version else { continue };
            let request = state.status.lock().published.clone();
            let key = request.as_ref().map(|request| &request.key);
            if let Ok(false) = self.extend(&id, key, &version).await {
                tracing::warn!(
                    snapshot = %id,
                    "a part of a published snapshot is missing; the snapshot is published again"
                );
                self.publish_base(&id);
            }
        }
    }
}
