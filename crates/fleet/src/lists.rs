//! The lists that instances share: the leader publishes them, the followers adopt them (D52, D53).
//!
//! In Redis, a list is a pointer, a base in chunks, and the deltas since the base. A
//! publication adds the difference between the published version and the leader's copy, whether a
//! walk or an update has changed the copy. An adoption is complete or does not happen: each value
//! from Redis is checked, and the result must have the content hash of the pointer.

mod adoption;
mod last_list;
mod not_adopted;
mod offers;
mod pointer;
mod publication;
mod publish_script;
mod publisher;
mod reading;
mod state;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::SharedListId;
use crate::changes::SharedChanges;
use crate::redis::{self, Event};
use crate::status::VersionStatus;
pub use adoption::{FoundList, Purpose};
use frontend_map_catalog::snapshot::Snapshot;
use frontend_map_store::SnapshotKey;
pub use not_adopted::NotAdopted;
use offers::Offers;
pub use pointer::Position;
pub use reading::{has_valid_paths, max_decompressed};
use state::ListState;

/// The kind of the event by which a leader announces a version.
pub(super) const LIST: &str = "list";
/// The kind of the event by which an instance asks for a new base, because it cannot use the
/// published one.
const BASE: &str = "base";
/// The time limit of a command in the background.
const WITHIN: Duration = Duration::from_secs(2);
/// How long a list stays in Redis without a leader.
const TTL: Duration = Duration::from_hours(24);
/// The most bytes of a base in Redis.
const MAX_BASE_BYTES: usize = 1 << 30;

/// A snapshot of a list, with the time of its walk.
#[derive(Clone, Debug)]
pub struct PublishedList {
    /// The URLs.
    pub snapshot: Arc<Snapshot>,
    /// When the walk began; the snapshot may lack later changes of the CMS.
    pub begun: Instant,
    /// How long the walk took.
    pub took: Duration,
}

/// A copy of a list that this instance serves, for publication.
#[derive(Clone, Debug)]
pub struct Offer {
    /// What the snapshot is a snapshot of.
    pub key: SnapshotKey,
    /// What decides the content of the site.
    pub content: u128,
    /// The copy.
    pub list: PublishedList,
}

/// The lists of an instance that shares a Redis.
pub struct Lists {
    redis: redis::Client,
    changes: SharedChanges,
    states: Mutex<HashMap<SharedListId, Arc<ListState>>>,
    /// The copies that wait to be published.
    offers: Mutex<Offers>,
    offered: Notify,
    /// The lists of which another instance has announced a version.
    announced: Mutex<Announced>,
    is_announced: Notify,
}

#[derive(Default)]
struct Announced {
    lists: BTreeSet<SharedListId>,
    /// Whether all lists count as announced, because events may have been missed.
    all: bool,
}

/// Which lists are to be adopted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// All that this instance follows.
    All,
    /// These, if it follows them.
    These(BTreeSet<SharedListId>),
}

impl Lists {
    /// The lists in this Redis; publications append to these change logs.
    #[must_use]
    pub fn new(redis: redis::Client, changes: SharedChanges) -> Self {
        Self {
            redis,
            changes,
            states: Mutex::default(),
            offers: Mutex::default(),
            offered: Notify::new(),
            announced: Mutex::default(),
            is_announced: Notify::new(),
        }
    }

    /// Handles an event of the stream. Returns `false` if it is not about lists.
    pub fn read_event(&self, event: &Event) -> bool {
        if event.kind != LIST && event.kind != BASE {
            return false;
        }
        // Lists of other settings have no state on this instance.
        let known = list_of(&event.body).and_then(|list| {
            let state = self.states.lock().get(&list).cloned();
            state.map(|state| (list, state))
        });
        match known {
            Some((list, _)) if event.kind == BASE => self.publish_base(&list),
            Some((list, state)) => {
                let text = String::from_utf8_lossy(&event.body);
                let position = text.split_once(' ').map(|(_, position)| position.parse());
                if let Some(Ok(Position { version, .. })) = position {
                    let at = i64::try_from(event.id.ms).unwrap_or(i64::MAX);
                    state.versions.announced(version, self.redis.instant_of(at));
                }
                self.announce(list);
            }
            None => {}
        }
        true
    }

    /// Handles a gap of the stream: all lists count as announced.
    pub fn read_gap(&self) {
        self.announced.lock().all = true;
        self.is_announced.notify_one();
    }

    fn announce(&self, list: SharedListId) {
        self.announced.lock().lists.insert(list);
        self.is_announced.notify_one();
    }

    /// Waits until another instance announces a version, for at most this time. `None`: none did.
    pub async fn next_announced(&self, within: Duration) -> Option<Which> {
        let _ = tokio::time::timeout(within, self.is_announced.notified()).await;
        let Announced { lists, all } = std::mem::take(&mut *self.announced.lock());
        match (all, lists.is_empty()) {
            (true, _) => Some(Which::All),
            (false, false) => Some(Which::These(lists)),
            (false, true) => None,
        }
    }

    /// The versions of a list that this instance has seen.
    #[must_use]
    pub fn versions(&self, list: &SharedListId) -> Arc<VersionStatus> {
        Arc::clone(&self.state(list).versions)
    }

    /// Sets the lists of this instance. The states of other lists are dropped.
    pub(super) fn keep(&self, lists: Vec<SharedListId>) {
        let mut states = self.states.lock();
        let mut known = std::mem::take(&mut *states);
        let state = |list: SharedListId| {
            let state = known.remove(&list).unwrap_or_default();
            (list, state)
        };
        *states = lists.into_iter().map(state).collect();
    }

    /// The state of a list; an empty one if this instance no longer has the list.
    fn state(&self, list: &SharedListId) -> Arc<ListState> {
        self.states.lock().get(list).map(Arc::clone).unwrap_or_default()
    }

    fn pointer_key(&self, list: &SharedListId) -> String {
        self.redis.key(&format!("list:{list}"))
    }

    fn deltas_key(&self, list: &SharedListId) -> String {
        self.redis.key(&format!("deltas:{list}"))
    }
}

/// The list in the body of an event.
pub(super) fn list_of(body: &[u8]) -> Option<SharedListId> {
    let list = body.split(|byte| *byte == b' ').next()?;
    SharedListId::parse(std::str::from_utf8(list).ok()?)
}

impl Which {
    /// Whether a list is one of them.
    #[must_use]
    pub fn has(&self, list: &SharedListId) -> bool {
        match self {
            Self::All => true,
            Self::These(lists) => lists.contains(list),
        }
    }
}
