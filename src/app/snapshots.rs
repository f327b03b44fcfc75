//! One snapshot of each content type of each site: kept, refreshed in the background, and built
//! once however many ask for it.

mod hints;
mod index;
mod keep;
mod reread;
mod slot;
mod state;
mod tell;
mod walk;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::timeout;

use super::App;
use crate::content::{ContentError, ContentQuery, Projection};
use crate::rules::ContentTypeUid;
use crate::site::{ResolveBy, Site, Sites};
pub use hints::Hint;
pub(super) use hints::Hints;
pub use index::Index;
use index::SharedIndex;
pub(super) use slot::next_second;
use slot::{Found, Slot};
pub use slot::{Freshness, Kept};
pub use state::TypeState;
use walk::landed;

/// Callers ask for types that have one.
const NO_RULE: ContentError =
    ContentError::Unusable("no rule of the site is for this content type");

/// The snapshots of all sites.
pub(super) struct Snapshots {
    slots: HashMap<String, Slots>,
    /// Of the sites with `resolve = "documents"`.
    indexes: HashMap<String, SharedIndex>,
    freshness: Freshness,
}

/// The places of one site, by content type.
type Slots = Arc<HashMap<ContentTypeUid, Arc<Slot>>>;

/// A snapshot as an answer has it.
#[derive(Clone, Debug)]
pub struct Served {
    /// The copy.
    pub kept: Kept,
    /// How it came to be served.
    pub how: How,
    /// How old it is.
    pub age: Duration,
}

/// How a copy came to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It was there.
    Hit {
        /// For how long it stays fresh, in seconds; negative: since when it has not been.
        ttl: i64,
        /// Whether the last walk failed.
        failing: bool,
    },
    /// It was built for this request.
    Miss {
        /// Or for an earlier one that still waited.
        collapsed: bool,
    },
}

/// Nothing keeps a service running for longer.
const FOR_EVER: Duration = Duration::from_hours(100 * 366 * 24);

impl Freshness {
    /// Of content that cannot change.
    pub(super) fn for_ever(self) -> Self {
        Self { soft: FOR_EVER, hard: FOR_EVER, ..self }
    }
}

impl Snapshots {
    /// Places for all sites: those of the snapshots that `kept` gives for a site, else new ones.
    pub(super) fn new<'k>(
        sites: &Sites,
        freshness: Freshness,
        kept: impl Fn(&Site) -> Option<&'k Self>,
    ) -> Self {
        let of_site = |site: &Site| {
            let slots = kept(site).and_then(|kept| kept.slots.get(&site.key).cloned());
            (site.key.clone(), slots.unwrap_or_else(|| slots_of(site)))
        };
        let index = |site: &Site| {
            let index = kept(site).and_then(|kept| kept.indexes.get(&site.key).cloned());
            (site.key.clone(), index.unwrap_or_default())
        };
        let indexed = sites.iter().filter(|site| site.resolve == ResolveBy::Documents);
        Self {
            slots: sites.iter().map(of_site).collect(),
            indexes: indexed.map(index).collect(),
            freshness,
        }
    }

    fn slot(&self, site: &Site, uid: &str) -> Option<&Arc<Slot>> {
        self.slots.get(&site.key)?.get(uid)
    }

    fn all(&self) -> impl Iterator<Item = &Arc<Slot>> {
        self.slots.values().flat_map(|slots| slots.values())
    }

    /// Puts a site's live paths together anew, if it wants to know them.
    fn reindex(&self, site: &str) {
        if let Some(index) = self.indexes.get(site) {
            index.rebuild(self.slots.get(site).into_iter().flat_map(|slots| slots.values()));
        }
    }
}

fn slots_of(site: &Site) -> Slots {
    let slot = |uid: &ContentTypeUid| {
        let projection = Projection::new(site.rules.listing_fields(uid.as_str()));
        let alternatives = site.rules.alternatives(uid.as_str());
        let ask = ContentQuery { uid: uid.clone(), projection, alternatives };
        (uid.clone(), Arc::new(Slot::new(site.key.clone(), ask)))
    };
    Arc::new(site.rules.content_types().into_iter().map(slot).collect())
}

impl App {
    /// All public URLs of a content type: the copy that is kept, or else a new one.
    ///
    /// # Errors
    /// [`ContentError`] of the CMS while there is no copy within its hard limit, or when the
    /// deadline for a waiting caller runs out; the walk goes on then.
    pub async fn snapshot(
        self: &Arc<Self>,
        site: &Site,
        uid: &str,
    ) -> Result<Served, ContentError> {
        let slot = self.snapshots.slot(site, uid).ok_or(NO_RULE)?;
        let freshness = self.snapshots.freshness;
        let resting = self.content.circuit_open();
        if let Found::Copy { kept, due, mut failing } = slot.find(freshness) {
            if due && resting.is_some() {
                failing = true;
                self.leave(slot);
            } else if due && self.content.may_change() {
                self.launch(slot);
            }
            let ttl = seconds(freshness.soft) - seconds(kept.begun.elapsed());
            return Ok(self.served(kept, How::Hit { ttl, failing }));
        }
        if let Some(error) = resting {
            self.leave(slot);
            return Err(error);
        }
        let (landing, collapsed) = self.launch(slot);
        let landed = timeout(self.limits.walk_deadline, landed(landing)).await;
        let kept = landed.unwrap_or_else(|_| match slot.find(freshness) {
            // By another walk: this one was parted from, and still hangs.
            Found::Copy { kept, .. } => Ok(kept),
            Found::Nothing => Err(ContentError::TimedOut),
        })?;
        Ok(self.served(kept, How::Miss { collapsed }))
    }

    fn served(&self, kept: Kept, how: How) -> Served {
        // What cannot change has no age.
        let age = if self.content.may_change() { kept.begun.elapsed() } else { Duration::ZERO };
        Served { kept, how, age }
    }

    /// All public URLs of a content type, as a walk finds them, however long it takes.
    ///
    /// # Errors
    /// [`ContentError`] of the CMS.
    pub async fn walk(self: &Arc<Self>, site: &Site, uid: &str) -> Result<Kept, ContentError> {
        let slot = self.snapshots.slot(site, uid).ok_or(NO_RULE)?;
        landed(self.launch(slot).0).await
    }

    /// How many documents the walk over a content type has seen.
    #[must_use]
    pub fn documents_seen(&self, site: &Site, uid: &str) -> u64 {
        let slot = self.snapshots.slot(site, uid);
        slot.map_or(0, |slot| slot.seen.load(Ordering::Relaxed))
    }

    /// This app is in use now in the place of another one: what only that one has, its walks with
    /// its limits toward the CMS included, is for those who wait there, and for nobody else.
    pub fn replaces(self: &Arc<Self>, previous: &Self) {
        let (own, before) = (&self.snapshots.slots, &previous.snapshots.slots);
        let shared = |key: &String, slots| own.get(key).is_some_and(|own| Arc::ptr_eq(own, slots));
        let gone = before.iter().filter(|(key, slots)| !shared(key, slots));
        gone.flat_map(|(_, slots)| slots.values()).for_each(|slot| slot.retire());
        self.part();
        self.lasting.landed.notify_one();
    }

    /// Begins anew what is walked by an earlier client of the CMS.
    fn part(self: &Arc<Self>) {
        for slot in self.snapshots.all() {
            if slot.part(self.client) {
                self.launch(slot);
            }
        }
    }

    /// Has a walk wait until the CMS answers again.
    fn leave(&self, slot: &Slot) {
        slot.fail();
        self.lasting.landed.notify_one();
    }
}

fn seconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).unwrap_or(i64::MAX)
}
