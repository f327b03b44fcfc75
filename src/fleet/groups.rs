//! Groups of lists that one walk serves, and the role of this instance for each of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_64;

use super::liveness::Liveness;
use super::walk_failure::FailureEvent;
use super::{Role, SharedListId, WalkFailure};
use crate::shared_engine::{Engine, EngineState, Lease};

/// The kind of the events by which an instance asks a leader for a refresh.
pub(super) const WANT: &str = "want";
/// The kind of the events about failed walks.
pub(super) const FAILED: &str = "failed";
/// The kind of the events by which a leader acknowledges such a request.
pub(super) const KEPT: &str = "kept";
/// How long such an event may take.
const WANT_WAIT: Duration = Duration::from_secs(2);
/// The shortest time between two requests of an instance to the leader for the same refresh.
const WANT_PERIOD: Duration = Duration::from_secs(5);
/// Walks that begin because the engine went away begin within this time.
const JITTER: Duration = Duration::from_secs(5);

/// The lists of one content type, one of each site that has it. Dropping it releases its lease.
pub struct ListGroup {
    lists: Vec<SharedListId>,
    sharing: Option<Sharing>,
}

/// How a group is shared with other instances.
struct Sharing {
    engine: Engine,
    lease: Lease,
    /// The epoch for which this instance has adopted what the previous leader has published.
    ready: AtomicU64,
    /// Whether what is published cannot be adopted.
    is_unusable: AtomicBool,
    liveness: Liveness,
    /// Whether the leases are released, because the service stops.
    is_released: Arc<AtomicBool>,
    /// When the leader was last asked for a refresh.
    wanted: Mutex<Option<Instant>>,
}

impl ListGroup {
    /// A group that is not shared.
    #[must_use]
    pub fn alone() -> Self {
        Self { lists: Vec::new(), sharing: None }
    }

    pub(super) fn shared(
        lists: Vec<SharedListId>,
        engine: Engine,
        lease: Lease,
        is_released: Arc<AtomicBool>,
    ) -> Self {
        let sharing = Sharing {
            engine,
            lease,
            ready: AtomicU64::new(0),
            is_unusable: AtomicBool::new(false),
            liveness: Liveness::new(),
            is_released,
            wanted: Mutex::default(),
        };
        Self { lists, sharing: Some(sharing) }
    }

    /// Its lists, as they are shared; none without an engine.
    #[must_use]
    pub fn lists(&self) -> &[SharedListId] {
        &self.lists
    }

    /// The lease of its leader; `None`: it is not shared.
    #[must_use]
    pub fn lease(&self) -> Option<&Lease> {
        self.sharing.as_ref().map(|sharing| &sharing.lease)
    }

    /// What this instance does for the group now.
    #[must_use]
    pub fn role(&self) -> Role {
        let Some(sharing) = &self.sharing else { return Role::Alone };
        if sharing.is_released.load(Ordering::Relaxed) || sharing.is_away() {
            return Role::Alone;
        }
        match sharing.lease.epoch() {
            Some(epoch) if sharing.ready.load(Ordering::Relaxed) == epoch => Role::Leader(epoch),
            None if sharing.is_unusable.load(Ordering::Relaxed) => Role::Alone,
            None if sharing.liveness.is_silent() => Role::Alone,
            _ => Role::Follower,
        }
    }

    /// Whether this instance walks for the others.
    #[must_use]
    pub fn is_led(&self) -> bool {
        matches!(self.role(), Role::Leader(_))
    }

    /// Whether another instance walks for this one.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        self.role() == Role::Follower
    }

    /// Whether this instance starts refreshes and updates in the background. A service that stops
    /// leaves them to others.
    #[must_use]
    pub fn is_kept_here(&self) -> bool {
        let is_released =
            |sharing: &Sharing| sharing.is_released.load(Ordering::Relaxed) && !sharing.is_away();
        !self.sharing.as_ref().is_some_and(is_released) && !self.is_followed()
    }

    /// The epoch of a lease that this instance has got, and for which it has not yet adopted what
    /// was published before.
    #[must_use]
    pub fn new_epoch(&self) -> Option<u64> {
        let sharing = self.sharing.as_ref()?;
        let epoch = sharing.lease.epoch()?;
        (sharing.ready.load(Ordering::Relaxed) != epoch).then_some(epoch)
    }

    /// Records that what was published before this epoch is adopted: the instance leads from now on.
    pub fn lead(&self, epoch: u64) {
        if let Some(sharing) = &self.sharing {
            sharing.ready.store(epoch, Ordering::Relaxed);
        }
    }

    /// Records whether what is published cannot be adopted here: the instance walks for itself then.
    pub fn set_unusable(&self, is_unusable: bool) {
        if let Some(sharing) = &self.sharing {
            sharing.is_unusable.store(is_unusable, Ordering::Relaxed);
        }
    }

    /// Whether this instance walks for itself because the leader does not respond.
    #[must_use]
    pub fn is_without_leader(&self) -> bool {
        let is_silent =
            |sharing: &Sharing| sharing.lease.epoch().is_none() && sharing.liveness.is_silent();
        self.sharing.as_ref().is_some_and(is_silent)
    }

    /// Records that the leader should respond: an event of the CMS is about these lists.
    pub fn expect_response(&self) {
        if let Some(sharing) = self.sharing.as_ref().filter(|_| self.is_followed()) {
            sharing.liveness.expect();
        }
    }

    /// Whether a response of the leader has been expected for a while.
    #[must_use]
    pub fn lacks_response(&self) -> bool {
        self.sharing.as_ref().is_some_and(|sharing| sharing.liveness.lacks_response())
    }

    /// Records a response of the leader: it has acknowledged a request for a refresh, or has reported a
    /// failed walk, or all that was wanted here has been adopted.
    pub fn record_response(&self) {
        if let Some(sharing) = &self.sharing {
            sharing.liveness.respond();
        }
    }

    /// Whether walks in the background still have to wait, because the engine has gone away a short
    /// time ago and all instances would begin at once.
    #[must_use]
    pub fn is_in_jitter(&self) -> bool {
        self.sharing.as_ref().is_some_and(Sharing::is_in_jitter)
    }

    /// Leaves the lists to another instance, if there is one, because this one cannot walk them now.
    /// Returns whether it does: it does so at most once in a while.
    pub fn give_up(&self) -> bool {
        let Some(sharing) = self.sharing.as_ref().filter(|_| self.is_led()) else { return false };
        let is_given_up = sharing.engine.instances() > 1 && sharing.lease.give_up();
        if is_given_up {
            let lease = sharing.lease.name();
            tracing::warn!(lease, "the walks fail, and are left to another instance");
        }
        is_given_up
    }

    /// Leaves the lists to an instance that may reach the CMS, if there is one; otherwise reports the
    /// failed walk to the instances whose requests wait for it. Waits for nothing.
    ///
    /// # Panics
    /// Never: an event has text and numbers alone.
    pub fn report_failure(&self, failure: WalkFailure) {
        let Some(sharing) = self.sharing.as_ref().filter(|_| self.is_led()) else { return };
        if self.give_up() {
            // Requests elsewhere wait for the walk of the next leader.
            return;
        }
        let event = FailureEvent { lease: sharing.lease.name().to_owned(), failure };
        let body = serde_json::to_vec(&event).expect("an event has text and numbers alone");
        // The requests ask again, or end at their deadline.
        sharing.append(FAILED, body);
    }

    /// Sends the acknowledgement of a request for a refresh if this instance has the lease: followers need not walk,
    /// however long its walk takes. Waits for nothing.
    pub fn acknowledge(&self) {
        let sharing = self.sharing.as_ref();
        if let Some(sharing) = sharing.filter(|sharing| sharing.lease.epoch().is_some()) {
            sharing.append(KEPT, sharing.lease.name().into());
        }
    }

    /// Asks the leader for a refresh, at most once in a while; waits for nothing.
    pub fn want_refresh(&self) {
        let is_asked = self.is_followed() || self.is_without_leader();
        let Some(sharing) = self.sharing.as_ref().filter(|_| is_asked) else { return };
        sharing.liveness.expect();
        let mut wanted = sharing.wanted.lock();
        if wanted.is_some_and(|at| at.elapsed() < WANT_PERIOD) {
            return;
        }
        *wanted = Some(Instant::now());
        // Where this fails, the next call asks again.
        sharing.append(WANT, sharing.lease.name().into());
    }
}

impl Sharing {
    /// Appends an event, which is lost if that fails.
    fn append(&self, kind: &'static str, body: Vec<u8>) {
        let engine = self.engine.clone();
        tokio::spawn(async move {
            let _ = engine.append(kind, &body, WANT_WAIT).await;
        });
    }

    fn is_away(&self) -> bool {
        matches!(self.engine.state(), EngineState::Away { .. })
    }

    fn is_in_jitter(&self) -> bool {
        let EngineState::Away { since, .. } = self.engine.state() else { return false };
        let seed = format!("{} {}", self.engine.instance_id(), self.lease.name());
        // Any hash spreads the instances evenly.
        #[expect(clippy::cast_precision_loss, reason = "53 bits are enough for a fraction")]
        let fraction = xxh3_64(seed.as_bytes()) as f64 / u64::MAX as f64;
        since.elapsed() < JITTER.mul_f64(fraction)
    }
}
