//! One snapshot of each content type of each site: kept, refreshed in the background, and built
//! once however many ask for it.

mod hints;
mod keep;
mod reread;
mod slot;
mod state;
mod tell;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::App;
use crate::content::{Ask, BadItem, ContentError, Document, Gather, Projection};
use crate::path_index::PathIndex;
use crate::rules::ContentTypeUid;
use crate::site::{ResolveBy, Site, Sites};
use crate::snapshot::{Builder, Listing, Part, TooLarge};
use crate::traces;
pub use hints::Hint;
pub(super) use hints::Hints;
pub(super) use slot::next_second;
use slot::{Found, Landing, Outcome, Slot, Teller};
pub use slot::{Freshness, Kept};
pub use state::TypeState;
use tell::tell;

/// After how many soft limits a path index is stale: enough for a CMS that restarts.
const STALE_AFTER: u32 = 10;

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

type SharedIndex = Arc<RwLock<Option<Known>>>;

/// What a site knows about its live paths, and since when.
#[derive(Clone)]
struct Known {
    index: Arc<PathIndex>,
    oldest: Instant,
}

/// What a site knows about its live paths.
#[derive(Clone, Debug)]
pub enum Index {
    /// Nothing yet.
    Missing,
    /// What was true before refreshes began to fail, too long ago.
    Stale(Arc<PathIndex>),
    /// What was true a short while ago.
    Fresh(Arc<PathIndex>),
}

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

/// A part in the making, which says how far it is.
struct Growing<'s> {
    part: Part<'s>,
    seen: &'s AtomicU64,
}

impl Gather for Growing<'_> {
    fn take(&mut self, item: Result<&Document<'_>, &BadItem>) {
        self.seen.fetch_add(1, Ordering::Relaxed);
        match item {
            Ok(document) => self.part.add(document),
            Err(_) => self.part.add_bad_item(),
        }
    }
}

/// What a walk has found.
struct Walked<'s> {
    begun: Instant,
    listing: Listing<'s>,
    builder: Builder,
    parts: Vec<Part<'s>>,
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

    /// Puts the site's index together anew, once there is a snapshot of each of its types.
    fn reindex(&self, site: &str) {
        let Some(index) = self.indexes.get(site) else { return };
        // Before the copies are looked at: of two walks that land together the later one wins.
        let mut index = index.write().unwrap_or_else(PoisonError::into_inner);
        let kept: Option<Vec<Kept>> = self
            .slots
            .get(site)
            .into_iter()
            .flat_map(|slots| slots.values())
            .map(|s| s.kept())
            .collect();
        *index = kept.and_then(|kept| {
            let oldest = kept.iter().map(|kept| kept.begun).min()?;
            let snapshots = kept.into_iter().map(|kept| kept.snapshot).collect();
            Some(Known { index: Arc::new(PathIndex::new(snapshots)), oldest })
        });
    }
}

fn slots_of(site: &Site) -> Slots {
    let slot = |uid: &ContentTypeUid| {
        let projection = Projection::new(site.rules.listing_fields(uid.as_str()));
        let alternatives = site.rules.alternatives(uid.as_str());
        let ask = Ask { uid: uid.clone(), projection, alternatives };
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
        let resting = self.content.resting();
        if let Found::Copy { kept, due, mut failing } = slot.find(freshness) {
            if due && resting.is_some() {
                failing = true;
                self.leave(slot);
            } else if due && self.content.changes() {
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
        let kept = landed.unwrap_or(Err(ContentError::TimedOut))?;
        Ok(self.served(kept, How::Miss { collapsed }))
    }

    fn served(&self, kept: Kept, how: How) -> Served {
        // What cannot change has no age.
        let age = if self.content.changes() { kept.begun.elapsed() } else { Duration::ZERO };
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

    /// The live paths of a site; `None` when it does not want to know them.
    #[must_use]
    pub fn index(&self, site: &Site) -> Option<Index> {
        let index = self.snapshots.indexes.get(&site.key)?;
        let known = index.read().unwrap_or_else(PoisonError::into_inner).clone();
        Some(match known {
            None => Index::Missing,
            Some(Known { index, oldest }) if self.is_stale(oldest) => Index::Stale(index),
            Some(Known { index, .. }) => Index::Fresh(index),
        })
    }

    fn is_stale(&self, since: Instant) -> bool {
        self.content.changes() && since.elapsed() > self.snapshots.freshness.soft * STALE_AFTER
    }

    /// Begins a walk, or joins the one under way. It does not end with who asked for it, unless
    /// another app is in use that has no such place.
    fn launch(self: &Arc<Self>, slot: &Arc<Slot>) -> (Landing, bool) {
        let (landing, teller) = slot.join();
        let collapsed = teller.is_none();
        if let Some(teller) = teller {
            let (app, slot) = (Arc::clone(self), Arc::clone(slot));
            tokio::spawn(async move {
                tokio::select! {
                    biased;
                    () = slot.given_up(&teller) => {}
                    walked = app.walk_traced(&slot) => app.land(&slot, walked, &teller).await,
                }
            });
        }
        (landing, collapsed)
    }

    async fn land(
        self: &Arc<Self>,
        slot: &Arc<Slot>,
        walked: Result<Walked<'_>, ContentError>,
        teller: &Teller,
    ) {
        // What is put into the copy from here on would be lost.
        let turn = slot.turn.lock().await;
        let built = walked.and_then(|walked| self.build_snapshot(slot, walked));
        let landed = slot.land(built);
        drop(turn);
        self.snapshots.reindex(&slot.site);
        tell(slot, &landed);
        self.type_counts(slot).walked(landed.outcome.is_ok());
        teller.send_replace(Some(landed.outcome));
        self.lasting.landed.notify_one();
        if landed.again {
            self.launch(slot);
        }
    }

    /// This app is in use now in the place of another one: what only that one has is for those who
    /// wait there, and for nobody else.
    pub fn replaces(&self, previous: &Self) {
        let (own, before) = (&self.snapshots.slots, &previous.snapshots.slots);
        let shared = |key: &String, slots| own.get(key).is_some_and(|own| Arc::ptr_eq(own, slots));
        let gone = before.iter().filter(|(key, slots)| !shared(key, slots));
        gone.flat_map(|(_, slots)| slots.values()).for_each(|slot| slot.retire());
        self.lasting.landed.notify_one();
    }

    /// Has a walk wait until the CMS answers again.
    fn leave(&self, slot: &Slot) {
        slot.fail();
        self.lasting.landed.notify_one();
    }

    /// By what the snapshots of a place are made.
    fn listing<'a>(&'a self, slot: &'a Slot) -> Option<(Listing<'a>, Builder)> {
        let site = self.sites.get(&slot.site)?;
        let (rules, base, uid) = (&site.rules, site.base.as_ref(), slot.ask.uid.as_str());
        let builder = Builder { owners: site.resolve == ResolveBy::Documents };
        Some((Listing { rules, base, uid }, builder))
    }

    async fn walk_traced<'a>(&'a self, slot: &'a Slot) -> Result<Walked<'a>, ContentError> {
        let span = traces::work("walk");
        let walked = traces::within(span.as_ref(), self.walk_slot(slot)).await;
        if let Some(span) = span {
            span.note("site", slot.site.clone());
            span.note("content_type", slot.ask.uid.as_str().to_owned());
            if walked.is_err() {
                span.fail();
            }
        }
        walked
    }

    async fn walk_slot<'a>(&'a self, slot: &'a Slot) -> Result<Walked<'a>, ContentError> {
        let gone = ContentError::Unusable("no such site");
        let (listing, builder) = self.listing(slot).ok_or(gone)?;
        let begun = Instant::now();
        let locales = listing.rules.locales().as_slice();
        slot.seen.store(0, Ordering::Relaxed);
        let growing = || Growing { part: listing.part(), seen: &slot.seen };
        let parts = self.content.walk(&slot.ask, locales, growing).await?;
        let parts = parts.into_iter().map(|growing| growing.part).collect();
        Ok(Walked { begun, listing, builder, parts })
    }

    /// What a walk found, with the documents that were read by themselves after it began.
    fn build_snapshot(&self, slot: &Slot, walked: Walked<'_>) -> Outcome {
        let Walked { begun, listing, builder, parts } = walked;
        let kept = tokio::task::block_in_place(|| {
            let (mut snapshot, reread) = (builder.finish(parts)?, slot.reread_since(begun));
            if !reread.is_empty() {
                snapshot = snapshot.with(&reread, listing, builder).unwrap_or(snapshot);
            }
            let before = slot.kept();
            let files = self.frames.files(&slot.site, &snapshot, before.as_ref());
            Ok(Kept::new(snapshot, files, begun, before.as_ref()))
        });
        let too_large = ContentError::Unusable("more text in its URLs than a snapshot can hold");
        kept.map_err(|TooLarge| too_large)
    }
}

/// What a walk comes to.
async fn landed(mut landing: Landing) -> Outcome {
    let landed = landing.wait_for(Option::is_some).await;
    // A walk that panicked says nothing more.
    let lost = ContentError::Unavailable { retry_after: None };
    landed.map_or(Err(lost.clone()), |outcome| outcome.clone().unwrap_or(Err(lost)))
}

fn seconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).unwrap_or(i64::MAX)
}
