//! The snapshots that instances share: the leader publishes them, the followers adopt them (D52,
//! D53).
//!
//! In Redis, a snapshot is a pointer, a base in chunks, and the deltas since the base. A
//! publication adds the difference between the published version and the leader's snapshot, whether
//! a walk or an update has changed the snapshot. An adoption is complete or does not happen: each
//! value from Redis is checked, and the result must have the content hash of the pointer.

mod adoption;
mod last_snapshot;
mod pointer;
mod publication;
mod publish_queue;
mod publish_script;
mod publisher;
mod reading;
mod state;
mod walked_snapshot;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::SharedSnapshotId;
use crate::changes::SharedChanges;
use crate::redis::{self, Event};
pub use crate::snapshot_position::Position;
use crate::status::VersionStatus;
pub(crate) use adoption::has_all;
#[cfg(test)]
pub(crate) use adoption::{Choice, VersionOrder, choose};
pub use adoption::{FoundSnapshot, FoundTimes, NotAdopted, Purpose, ReadTimes};
use publish_queue::PublishQueue;
#[cfg(test)]
pub(crate) use publish_script::{Outcome, PUBLISH};
pub use reading::{has_valid_paths, max_decompressed};
use state::SnapshotState;
pub use walked_snapshot::{PublishRequest, WalkedSnapshot};

/// The kind of the event by which a leader announces a version.
pub(super) const LIST: &str = "list";
/// The kind of the event by which an instance asks for a new base, because it cannot use the
/// published one.
const BASE: &str = "base";
/// The time limit of a command in the background.
const WITHIN: Duration = Duration::from_secs(2);
/// How long a snapshot stays in Redis without a leader.
const TTL: Duration = Duration::from_hours(24);
/// The most bytes of a base in Redis.
const MAX_BASE_BYTES: usize = 1 << 30;

/// The shared snapshots of this instance.
pub struct SharedSnapshots {
    redis: redis::Client,
    changes: SharedChanges,
    states: Mutex<HashMap<SharedSnapshotId, Arc<SnapshotState>>>,
    /// The requests that wait.
    queue: Mutex<PublishQueue>,
    requested: Notify,
    /// The snapshots of which another instance has announced a version.
    announced: Mutex<Announced>,
    is_announced: Notify,
    /// When the first version was published, or may have been, that this instance has not adopted; `None`:
    /// it has adopted all.
    missing_since: Mutex<Option<Instant>>,
}

#[derive(Default)]
struct Announced {
    ids: BTreeSet<SharedSnapshotId>,
    /// Whether all snapshots count as announced, because events may have been missed.
    all: bool,
}

/// Which snapshots are to be adopted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// All that this instance follows.
    All,
    /// These, if it follows them.
    These(BTreeSet<SharedSnapshotId>),
}

impl SharedSnapshots {
    /// The snapshots in this Redis; publications append to these change logs.
    pub fn new(redis: redis::Client, changes: SharedChanges) -> Self {
        Self {
            redis,
            changes,
            states: Mutex::default(),
            queue: Mutex::default(),
            requested: Notify::new(),
            announced: Mutex::default(),
            is_announced: Notify::new(),
            missing_since: Mutex::default(),
        }
    }

    /// Handles an event of the stream. Returns `false` if it is not about snapshots.
    pub fn read_event(&self, event: &Event) -> bool {
        if event.kind != LIST && event.kind != BASE {
            return false;
        }
        // Snapshots of other settings have no state on this instance.
        let known = id_of(&event.body).and_then(|id| {
            let state = self.states.lock().get(&id).cloned();
            state.map(|state| (id, state))
        });
        match known {
            Some((id, _)) if event.kind == BASE => self.publish_base(&id),
            Some((id, state)) => {
                let text = String::from_utf8_lossy(&event.body);
                let position = text.split_once(' ').map(|(_, position)| position.parse());
                if let Some(Ok(Position { version, .. })) = position {
                    let at = i64::try_from(event.id.ms).unwrap_or(i64::MAX);
                    let at = self.redis.instant_of(at);
                    state.status.lock().versions.announced(version, at);
                    self.update_missing();
                }
                self.announce(id);
            }
            None => {}
        }
        true
    }

    /// Handles a gap of the stream: all snapshots count as announced. What was published since
    /// `read_before` may be missing; `None`: nothing was known before.
    pub(super) fn read_gap(&self, read_before: Option<Instant>) {
        for state in self.states.lock().values() {
            let unknown_since = &mut state.status.lock().unknown_since;
            *unknown_since = unknown_since.or(read_before);
        }
        self.update_missing();
        self.announced.lock().all = true;
        self.is_announced.notify_one();
    }

    fn announce(&self, id: SharedSnapshotId) {
        self.announced.lock().ids.insert(id);
        self.is_announced.notify_one();
    }

    /// Waits until another instance announces a version, for at most this time. `None`: none did.
    pub async fn next_announced(&self, within: Duration) -> Option<Which> {
        let _ = tokio::time::timeout(within, self.is_announced.notified()).await;
        let Announced { ids, all } = std::mem::take(&mut *self.announced.lock());
        match (all, ids.is_empty()) {
            (true, _) => Some(Which::All),
            (false, false) => Some(Which::These(ids)),
            (false, true) => None,
        }
    }

    /// The versions of a snapshot that this instance has seen.
    pub fn versions(&self, id: &SharedSnapshotId) -> VersionStatus {
        self.state(id).status.lock().versions
    }

    /// For how long a version has been published, or may have been, that this instance has not adopted.
    pub(super) fn missing_for(&self) -> Option<Duration> {
        self.missing_since.lock().map(|since| since.elapsed())
    }

    fn update_missing(&self) {
        let states = self.states.lock();
        let since = states.values().filter_map(|state| state.status.lock().missing_since());
        *self.missing_since.lock() = since.min();
    }

    /// Sets the snapshots of this instance. The states of other snapshots are dropped. `ids` is called
    /// while no other call changes the states.
    pub(super) fn keep(&self, ids: impl FnOnce() -> Vec<SharedSnapshotId>) {
        let mut states = self.states.lock();
        let mut known = std::mem::take(&mut *states);
        let state = |id: SharedSnapshotId| {
            let state = known.remove(&id).unwrap_or_default();
            (id, state)
        };
        *states = ids().into_iter().map(state).collect();
        drop(states);
        self.update_missing();
    }

    /// The state of a snapshot; an empty one if this instance no longer has the snapshot.
    fn state(&self, id: &SharedSnapshotId) -> Arc<SnapshotState> {
        self.states.lock().get(id).map(Arc::clone).unwrap_or_default()
    }

    fn pointer_key(&self, id: &SharedSnapshotId) -> String {
        self.redis.key(&format!("list:{id}"))
    }

    fn deltas_key(&self, id: &SharedSnapshotId) -> String {
        self.redis.key(&format!("deltas:{id}"))
    }
}

/// The snapshot in the body of an event.
pub(super) fn id_of(body: &[u8]) -> Option<SharedSnapshotId> {
    let id = body.split(|byte| *byte == b' ').next()?;
    SharedSnapshotId::parse(std::str::from_utf8(id).ok()?)
}

impl Which {
    /// Whether a snapshot is one of them.
    pub fn has(&self, id: &SharedSnapshotId) -> bool {
        match self {
            Self::All => true,
            Self::These(ids) => ids.contains(id),
        }
    }
}
