//! Groups of snapshots that one walk serves, and the role of this instance for each of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::lead::Lead;
use crate::{Role, SharedSnapshotId};

/// The kind of the events by which a follower asks the leader for a refresh.
pub(super) const WANT: &str = "want";
/// The kind of the events by which a follower asks the leader for a walk, although no refresh is due.
pub(super) const WALK: &str = "walk";
/// The kind of the events by which a leader reports a failed walk.
pub(super) const FAILED: &str = "failed";
/// The kind of the events by which a leader acknowledges a request for a refresh.
pub(super) const ACKNOWLEDGED: &str = "acknowledged";
/// The time limit for appending one of these events.
const APPEND_WITHIN: Duration = Duration::from_secs(2);
/// The shortest time between two requests of an instance for a refresh of the same group.
const WANT_PERIOD: Duration = Duration::from_secs(5);
/// The shortest time between two requests of an instance for a walk of the same group.
const WALK_PERIOD: Duration = Duration::from_secs(30);
/// The follower asks the leader for a refresh if it has not responded for so long.
const GRACE: Duration = Duration::from_secs(2);
/// The follower walks by itself if the leader has not responded for so long.
const SILENCE: Duration = Duration::from_secs(10);
/// The longest random time that is added to [`SILENCE`], so that not all followers begin at once.
const SPREAD: Duration = Duration::from_secs(4);

/// The snapshots of one content type, one of each site that has it.
pub struct SnapshotGroup {
    ids: Vec<SharedSnapshotId>,
    sharing: Option<Sharing>,
}

/// How a group is shared with other instances.
struct Sharing {
    lead: Arc<Lead>,
    /// Names the group in events, together with the lead.
    name: String,
    /// Whether the published snapshots cannot be adopted.
    is_unusable: AtomicBool,
    /// Since when a response of the leader is expected; `None`: none is. Responses are acknowledgements,
    /// publications and reports of failed walks. One is expected after a request for a refresh, and after
    /// an event of the CMS about the snapshots of the group.
    expected: Mutex<Option<Instant>>,
    /// The time without a response after which this instance walks by itself.
    silence: Duration,
    /// When the leader was last asked for a refresh.
    wanted: Mutex<Option<Instant>>,
    /// When the leader was last asked for a walk.
    walk_wanted: Mutex<Option<Instant>>,
}

impl SnapshotGroup {
    /// A group that is not shared.
    pub fn alone() -> Self {
        Self { ids: Vec::new(), sharing: None }
    }

    pub(super) fn shared(ids: Vec<SharedSnapshotId>, lead: Arc<Lead>, name: String) -> Self {
        lead.add_group();
        let sharing = Sharing {
            lead,
            name,
            is_unusable: AtomicBool::new(false),
            expected: Mutex::default(),
            silence: SILENCE + SPREAD.mul_f64(fastrand::f64()),
            wanted: Mutex::default(),
            walk_wanted: Mutex::default(),
        };
        Self { ids, sharing: Some(sharing) }
    }

    /// Its snapshots, as they are shared; none without Redis.
    pub fn ids(&self) -> &[SharedSnapshotId] {
        &self.ids
    }

    /// The lead; `None`: it is not shared.
    pub fn lead(&self) -> Option<&Arc<Lead>> {
        self.sharing.as_ref().map(|sharing| &sharing.lead)
    }

    /// Whether events with this name are about the group.
    pub fn has_name(&self, name: &str) -> bool {
        self.sharing.as_ref().is_some_and(|sharing| sharing.name == name)
    }

    /// The role of this instance for the group now.
    pub fn role(&self) -> Role {
        let Some(sharing) = &self.sharing else { return Role::Alone };
        match sharing.lead.role() {
            Role::Follower if !sharing.is_holder() && sharing.must_walk() => Role::Alone,
            role => role,
        }
    }

    /// Whether this instance is the leader, which walks for all.
    pub fn leads(&self) -> bool {
        matches!(self.role(), Role::Leader(_))
    }

    /// Whether this instance is a follower: another instance walks for it.
    pub fn follows(&self) -> bool {
        self.role() == Role::Follower
    }

    /// Whether another instance is the leader, or will be; also if its snapshots cannot be used.
    pub fn is_led_elsewhere(&self) -> bool {
        self.sharing.as_ref().is_some_and(|sharing| !sharing.is_holder())
    }

    /// Whether this instance refreshes and updates its snapshots in the background by itself: as
    /// the leader or alone, unless it stops and other instances take over.
    pub fn refreshes_here(&self) -> bool {
        let is_released =
            |sharing: &Sharing| sharing.lead.is_released() && !sharing.lead.is_unavailable();
        !self.sharing.as_ref().is_some_and(is_released) && !self.follows()
    }

    /// Records whether the published snapshots cannot be adopted: this instance walks by itself
    /// then.
    pub fn set_unusable(&self, is_unusable: bool) {
        if let Some(sharing) = &self.sharing {
            sharing.is_unusable.store(is_unusable, Ordering::Relaxed);
        }
    }

    /// Whether this instance walks by itself because the leader does not respond.
    pub fn is_without_leader(&self) -> bool {
        let is_silent = |sharing: &Sharing| !sharing.is_holder() && sharing.is_silent();
        self.sharing.as_ref().is_some_and(is_silent)
    }

    /// Records that a response of the leader is expected: an event of the CMS is about these
    /// snapshots.
    pub fn expect_response(&self) {
        if let Some(sharing) = self.sharing.as_ref().filter(|_| self.follows()) {
            sharing.expect_response();
        }
    }

    /// Whether a response of the leader has been expected for two seconds.
    pub fn lacks_response(&self) -> bool {
        self.sharing.as_ref().is_some_and(|sharing| sharing.lacks_response_for(GRACE))
    }

    /// Records a response of the leader: an acknowledgement, a report of a failed walk, or a
    /// published version that this instance has adopted.
    pub fn record_response(&self) {
        if let Some(sharing) = &self.sharing {
            *sharing.expected.lock() = None;
        }
    }

    /// Whether walks in the background still wait: Redis has been unavailable for less than the
    /// random delay of this instance, which keeps instances from beginning together.
    pub fn is_in_jitter(&self) -> bool {
        self.sharing.as_ref().is_some_and(|sharing| sharing.lead.is_in_jitter(&sharing.name))
    }

    /// Records a successful walk of this instance.
    pub fn record_walk(&self) {
        if let Some(sharing) = &self.sharing {
            sharing.lead.record_success(&sharing.name);
        }
    }

    /// Gives up the lead if the walks of all content types fail, so that an instance that reaches the CMS
    /// can walk; otherwise reports the failed walk to the followers. Returns at once.
    pub fn report_failure(&self, failure: WalkFailure) {
        let Some(sharing) = self.sharing.as_ref().filter(|_| self.leads()) else { return };
        // Requests to followers wait for the walk of the next leader.
        if !sharing.lead.record_failure(&sharing.name) {
            self.fail_followers(failure);
        }
    }

    /// Tells the followers that their requests, which wait for a walk of this instance, have failed.
    /// Returns at once.
    ///
    /// # Panics
    /// Never: an event has text and numbers alone.
    pub fn fail_followers(&self, failure: WalkFailure) {
        let Some(sharing) = self.sharing.as_ref().filter(|_| self.leads()) else { return };
        let event = FailureEvent { group: sharing.name.clone(), failure };
        let body = serde_json::to_vec(&event).expect("an event has text and numbers alone");
        // If the event is lost, followers ask again, or their requests end at their deadline.
        sharing.append(FAILED, body);
    }

    /// Acknowledges a request for a refresh if this instance has the lease, so that followers do
    /// not walk by themselves, however long its walk takes. Returns at once.
    pub fn acknowledge(&self) {
        if let Some(sharing) = self.sharing.as_ref().filter(|sharing| sharing.is_holder()) {
            sharing.append(ACKNOWLEDGED, sharing.name.clone().into());
        }
    }

    /// Asks the leader for a refresh, at most every five seconds. Returns at once.
    pub fn want_refresh(&self) {
        let is_asked = self.follows() || self.is_without_leader();
        let Some(sharing) = self.sharing.as_ref().filter(|_| is_asked) else { return };
        sharing.expect_response();
        // If the event is lost, the next call asks again.
        if is_due(&sharing.wanted, WANT_PERIOD) {
            sharing.append(WANT, sharing.name.clone().into());
        }
    }

    /// Asks the leader for a walk although no refresh is due, at most every 30 seconds: the published
    /// snapshot and that of this instance may each lack changes of the other one. Returns at once.
    pub fn want_walk(&self) {
        let Some(sharing) = self.sharing.as_ref().filter(|_| self.follows()) else { return };
        // If the event is lost or the walk fails, a later call asks again.
        if is_due(&sharing.walk_wanted, WALK_PERIOD) {
            sharing.append(WALK, sharing.name.clone().into());
        }
    }
}

impl Sharing {
    /// Whether this instance has the lease.
    fn is_holder(&self) -> bool {
        self.lead.lease().epoch().is_some()
    }

    /// Whether this instance has to walk the snapshots by itself, because it cannot use those of the
    /// leader, or the leader does not respond.
    fn must_walk(&self) -> bool {
        self.is_unusable.load(Ordering::Relaxed) || self.is_silent()
    }

    /// Whether a response has been expected for so long that this instance walks by itself.
    fn is_silent(&self) -> bool {
        self.lacks_response_for(self.silence)
    }

    fn lacks_response_for(&self, time: Duration) -> bool {
        self.expected.lock().is_some_and(|since| since.elapsed() >= time)
    }

    /// Records that a response is expected from now on, if none was before.
    fn expect_response(&self) {
        self.expected.lock().get_or_insert_with(Instant::now);
    }

    /// Appends an event in a task of its own. If that fails, the event is lost.
    fn append(&self, kind: &'static str, body: Vec<u8>) {
        let redis = self.lead.redis().clone();
        tokio::spawn(async move {
            let _ = redis.append(kind, &body, APPEND_WITHIN).await;
        });
    }
}

/// Whether this long has passed since the last time; if so, it is now.
fn is_due(last: &Mutex<Option<Instant>>, period: Duration) -> bool {
    let mut last = last.lock();
    let is_due = last.is_none_or(|at| at.elapsed() >= period);
    if is_due {
        *last = Some(Instant::now());
    }
    is_due
}

/// Why a walk has failed, in as much detail as responses have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WalkFailure {
    /// The CMS is not available.
    Unavailable {
        /// Its `Retry-After` in seconds, if it sent one.
        retry_after: Option<u64>,
    },
    /// The CMS did not respond in time.
    TimedOut,
    /// The response cannot be used.
    Unusable,
}

/// The body of the event about a failed walk, as JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FailureEvent {
    /// The name of the group.
    pub(super) group: String,
    pub(super) failure: WalkFailure,
}
