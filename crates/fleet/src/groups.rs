//! Groups of snapshots that one walk serves, and the role of this instance for each of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_64;

use crate::liveness::Liveness;
use crate::redis::{self, Lease};
use crate::walk_failure::FailureEvent;
use crate::{Role, SharedSnapshotId, WalkFailure};

/// The kind of the events by which a follower asks the leader for a refresh.
pub(super) const WANT: &str = "want";
/// The kind of the events by which a leader reports a failed walk.
pub(super) const FAILED: &str = "failed";
/// The kind of the events by which a leader acknowledges such a request.
pub(super) const ACKNOWLEDGED: &str = "acknowledged";
/// The time limit for appending such an event.
const WANT_WAIT: Duration = Duration::from_secs(2);
/// The shortest time between two requests of an instance for a refresh of the same group.
const WANT_PERIOD: Duration = Duration::from_secs(5);
/// Walks that begin because Redis is unavailable begin within this time.
const JITTER: Duration = Duration::from_secs(5);

/// The snapshots of one content type, one of each site that has it. Dropping it releases its lease.
pub struct SnapshotGroup {
    ids: Vec<SharedSnapshotId>,
    sharing: Option<Sharing>,
}

/// How a group is shared with other instances.
struct Sharing {
    redis: redis::Client,
    lease: Lease,
    /// The epoch in which this instance leads: it has adopted what was published before.
    ready: AtomicU64,
    /// Whether the published snapshots cannot be adopted.
    is_unusable: AtomicBool,
    /// Whether this instance has given up its lease since its last successful walk.
    has_given_up: AtomicBool,
    liveness: Liveness,
    /// Whether this instance has released its leases, because it stops.
    is_released: Arc<AtomicBool>,
    /// When the leader was last asked for a refresh.
    wanted: Mutex<Option<Instant>>,
}

impl SnapshotGroup {
    /// A group that is not shared.
    #[must_use]
    pub fn alone() -> Self {
        Self { ids: Vec::new(), sharing: None }
    }

    pub(super) fn shared(
        ids: Vec<SharedSnapshotId>,
        redis: redis::Client,
        lease: Lease,
        is_released: Arc<AtomicBool>,
    ) -> Self {
        let sharing = Sharing {
            redis,
            lease,
            ready: AtomicU64::new(0),
            is_unusable: AtomicBool::new(false),
            has_given_up: AtomicBool::new(false),
            liveness: Liveness::new(),
            is_released,
            wanted: Mutex::default(),
        };
        Self { ids, sharing: Some(sharing) }
    }

    /// Its snapshots, as they are shared; none without Redis.
    #[must_use]
    pub fn ids(&self) -> &[SharedSnapshotId] {
        &self.ids
    }

    /// The lease of its leader; `None`: it is not shared.
    #[must_use]
    pub fn lease(&self) -> Option<&Lease> {
        self.sharing.as_ref().map(|sharing| &sharing.lease)
    }

    /// The role of this instance for the group now.
    #[must_use]
    pub fn role(&self) -> Role {
        let Some(sharing) = &self.sharing else { return Role::Alone };
        if sharing.is_released.load(Ordering::Relaxed) || sharing.is_unavailable() {
            return Role::Alone;
        }
        match sharing.lease.epoch() {
            Some(epoch) if sharing.ready.load(Ordering::Relaxed) == epoch => Role::Leader(epoch),
            None if sharing.is_unusable.load(Ordering::Relaxed) => Role::Alone,
            None if sharing.liveness.is_silent() => Role::Alone,
            _ => Role::Follower,
        }
    }

    /// Whether this instance is the leader, which walks for all.
    #[must_use]
    pub fn is_led(&self) -> bool {
        matches!(self.role(), Role::Leader(_))
    }

    /// Whether this instance is a follower: another instance walks for it.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        self.role() == Role::Follower
    }

    /// Whether this instance refreshes and updates its snapshots in the background by itself: as
    /// the leader or alone, unless it stops and other instances take over.
    #[must_use]
    pub fn refreshes_here(&self) -> bool {
        let is_released = |sharing: &Sharing| {
            sharing.is_released.load(Ordering::Relaxed) && !sharing.is_unavailable()
        };
        !self.sharing.as_ref().is_some_and(is_released) && !self.is_followed()
    }

    /// The epoch of the lease if this instance has it and does not lead yet: it has not adopted
    /// what was published before.
    #[must_use]
    pub fn new_epoch(&self) -> Option<u64> {
        let sharing = self.sharing.as_ref()?;
        let epoch = sharing.lease.epoch()?;
        (sharing.ready.load(Ordering::Relaxed) != epoch).then_some(epoch)
    }

    /// Makes this instance the leader in this epoch: it has adopted what was published before.
    pub fn lead(&self, epoch: u64) {
        if let Some(sharing) = &self.sharing {
            sharing.ready.store(epoch, Ordering::Relaxed);
        }
    }

    /// Records whether the published snapshots cannot be adopted: this instance walks by itself
    /// then.
    pub fn set_unusable(&self, is_unusable: bool) {
        if let Some(sharing) = &self.sharing {
            sharing.is_unusable.store(is_unusable, Ordering::Relaxed);
        }
    }

    /// Whether this instance walks by itself because the leader does not respond.
    #[must_use]
    pub fn is_without_leader(&self) -> bool {
        let is_silent =
            |sharing: &Sharing| sharing.lease.epoch().is_none() && sharing.liveness.is_silent();
        self.sharing.as_ref().is_some_and(is_silent)
    }

    /// Records that a response of the leader is expected: an event of the CMS is about these
    /// snapshots.
    pub fn expect_response(&self) {
        if let Some(sharing) = self.sharing.as_ref().filter(|_| self.is_followed()) {
            sharing.liveness.expect();
        }
    }

    /// Whether a response of the leader has been expected for two seconds.
    #[must_use]
    pub fn lacks_response(&self) -> bool {
        self.sharing.as_ref().is_some_and(|sharing| sharing.liveness.lacks_response())
    }

    /// Records a response of the leader: an acknowledgement, a report of a failed walk, or a
    /// published version that this instance has adopted.
    pub fn record_response(&self) {
        if let Some(sharing) = &self.sharing {
            sharing.liveness.respond();
        }
    }

    /// Whether walks in the background still wait: Redis has been unavailable for less than the
    /// random delay of this instance, which keeps instances from beginning together.
    #[must_use]
    pub fn is_in_jitter(&self) -> bool {
        self.sharing.as_ref().is_some_and(Sharing::is_in_jitter)
    }

    /// Gives up the lease if there are other instances, because this one cannot walk the snapshots
    /// now: see [`Lease::give_up`]. Returns whether it did.
    pub fn give_up(&self) -> bool {
        let Some(sharing) = self.sharing.as_ref().filter(|_| self.is_led()) else { return false };
        let is_given_up = sharing.redis.instances() > 1 && sharing.lease.give_up();
        if is_given_up {
            let lease = sharing.lease.name();
            // An outage of an hour is one line, not hundreds.
            if sharing.has_given_up.swap(true, Ordering::Relaxed) {
                tracing::debug!(lease, "the walks fail again: the lease is given up");
            } else {
                tracing::warn!(lease, "the walks fail: the lease is given up for another instance");
            }
        }
        is_given_up
    }

    /// Records a successful walk of this instance.
    pub fn record_walk(&self) {
        if let Some(sharing) = &self.sharing {
            sharing.has_given_up.store(false, Ordering::Relaxed);
        }
    }

    /// Gives up the lease, so that an instance that reaches the CMS can walk; if that is not
    /// possible, reports the failed walk to the followers, whose requests wait for it. Returns at
    /// once.
    ///
    /// # Panics
    /// Never: an event has text and numbers alone.
    pub fn report_failure(&self, failure: WalkFailure) {
        let Some(sharing) = self.sharing.as_ref().filter(|_| self.is_led()) else { return };
        if self.give_up() {
            // Requests to followers wait for the walk of the next leader.
            return;
        }
        let event = FailureEvent { lease: sharing.lease.name().to_owned(), failure };
        let body = serde_json::to_vec(&event).expect("an event has text and numbers alone");
        // If the event is lost, followers ask again, or their requests end at their deadline.
        sharing.append(FAILED, body);
    }

    /// Acknowledges a request for a refresh if this instance has the lease, so that followers do
    /// not walk by themselves, however long its walk takes. Returns at once.
    pub fn acknowledge(&self) {
        let sharing = self.sharing.as_ref();
        if let Some(sharing) = sharing.filter(|sharing| sharing.lease.epoch().is_some()) {
            sharing.append(ACKNOWLEDGED, sharing.lease.name().into());
        }
    }

    /// Asks the leader for a refresh, at most every five seconds. Returns at once.
    pub fn want_refresh(&self) {
        let is_asked = self.is_followed() || self.is_without_leader();
        let Some(sharing) = self.sharing.as_ref().filter(|_| is_asked) else { return };
        sharing.liveness.expect();
        let mut wanted = sharing.wanted.lock();
        if wanted.is_some_and(|at| at.elapsed() < WANT_PERIOD) {
            return;
        }
        *wanted = Some(Instant::now());
        // If the event is lost, the next call asks again.
        sharing.append(WANT, sharing.lease.name().into());
    }
}

impl Sharing {
    /// Appends an event in a task of its own. If that fails, the event is lost.
    fn append(&self, kind: &'static str, body: Vec<u8>) {
        let redis = self.redis.clone();
        tokio::spawn(async move {
            let _ = redis.append(kind, &body, WANT_WAIT).await;
        });
    }

    fn is_unavailable(&self) -> bool {
        matches!(self.redis.availability(), redis::Availability::Unavailable { .. })
    }

    fn is_in_jitter(&self) -> bool {
        let redis::Availability::Unavailable { since, .. } = self.redis.availability() else {
            return false;
        };
        let seed = format!("{} {}", self.redis.instance_id(), self.lease.name());
        // Any hash spreads the instances evenly.
        #[expect(clippy::cast_precision_loss, reason = "53 bits are enough for a fraction")]
        let fraction = xxh3_64(seed.as_bytes()) as f64 / u64::MAX as f64;
        since.elapsed() < JITTER.mul_f64(fraction)
    }
}
