//! The place of one snapshot: what is kept, how old it is, and whether a walk is under way.

mod kept;
mod teller;

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;

use crate::content::{ContentError, ContentQuery};
use crate::snapshot::Reread;
pub use kept::Kept;
pub(in crate::app) use kept::next_second;
pub(super) use teller::Teller;

/// How long after a failed walk the next one waits, while there is a copy to serve.
const AFTER_FAILURE: Duration = Duration::from_secs(2);

/// How old a copy may get.
#[derive(Clone, Copy, Debug)]
pub struct Freshness {
    /// From then on the next request has it refreshed.
    pub soft: Duration,
    /// From then on it is not served any more.
    pub hard: Duration,
    /// Whether all are built when the service starts.
    pub at_start: bool,
}

/// What all who wait for a walk get.
pub(super) type Outcome = Result<Kept, ContentError>;
/// Where they wait.
pub(super) type Landing = watch::Receiver<Option<Outcome>>;

/// A walk that has ended.
pub(super) struct Landed {
    pub(super) outcome: Outcome,
    /// Whether the one before it failed, too.
    pub(super) failed_before: bool,
    /// Whether it was only for those who waited.
    pub(super) alone: bool,
    /// Whether another one should follow at once.
    pub(super) again: bool,
}

/// What there is at a moment.
pub(super) enum Found {
    /// A copy that may be served.
    Copy {
        kept: Kept,
        /// Whether the last walk failed.
        failing: bool,
        /// Whether a walk should begin now.
        due: bool,
    },
    /// None, or one that is too old.
    Nothing,
}

/// The place of one content type of a site.
pub(super) struct Slot {
    pub(super) site: String,
    pub(super) ask: ContentQuery,
    /// How many documents the walk under way, or the last one, has seen.
    pub(super) seen: AtomicU64,
    /// For who makes a new copy out of the one that there is.
    pub(super) turn: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    kept: Option<Kept>,
    /// The walk under way.
    walk: Weak<Teller>,
    /// Whether the app in use has another place for this type, or none.
    retired: bool,
    failed: Option<Instant>,
    /// Something may have changed since the last walk began, or it failed.
    outdated: bool,
    /// By `documentId`, what was read by itself during the walk under way, and when: the walk may
    /// have met it as it was before.
    reread: HashMap<String, (Instant, Reread)>,
}

impl Slot {
    pub(super) fn new(site: String, ask: ContentQuery) -> Self {
        let (seen, turn) = (AtomicU64::new(0), tokio::sync::Mutex::default());
        Self { site, ask, seen, turn, state: Mutex::default() }
    }

    pub(super) fn find(&self, freshness: Freshness) -> Found {
        let state = self.state();
        let Some(kept) = state.kept.clone().filter(|kept| kept.begun.elapsed() < freshness.hard)
        else {
            return Found::Nothing;
        };
        let old = state.outdated || kept.begun.elapsed() >= freshness.soft;
        // A long walk is not followed by the next one at once.
        let rested = kept.landed.elapsed() >= kept.landed - kept.begun;
        let may_work = state.failed.is_none_or(|failed| failed.elapsed() >= AFTER_FAILURE);
        let due = old && rested && may_work && !state.is_under_way();
        Found::Copy { failing: state.failed.is_some(), kept, due }
    }

    /// The walk under way, or the teller of a new one, which the caller has to begin. Nobody joins
    /// one by an earlier client of the CMS, whose limits are not in use any more.
    pub(super) fn join(&self, client: u64) -> (Landing, Option<Arc<Teller>>) {
        let mut state = self.state();
        state.part(client);
        if let Some(teller) = state.walk.upgrade() {
            return (teller.join(), None);
        }
        let (teller, landing) = Teller::new(client, state.retired);
        state.walk = Arc::downgrade(&teller);
        state.outdated = false;
        (landing, Some(teller))
    }

    /// From now on each walk here is only for those who wait for it.
    pub(super) fn retire(&self) {
        let mut state = self.state();
        state.retired = true;
        if let Some(teller) = state.walk.upgrade() {
            teller.leave_alone();
        }
    }

    /// A walk by an earlier client is only for those who wait for it. Says whether there was one.
    pub(super) fn part(&self, client: u64) -> bool {
        self.state().part(client)
    }

    /// Waits until nobody wants the walk any more, and gives it up: who comes later begins another.
    pub(super) async fn given_up(&self, teller: &Arc<Teller>) {
        loop {
            teller.unwanted().await;
            let mut state = self.state();
            // Who joins does so behind the same lock.
            if teller.is_unwanted() {
                if state.walks(teller) {
                    state.walk = Weak::new();
                }
                return;
            }
        }
    }

    /// The walk has ended. If it was parted from, those who waited get what is newer here, or else
    /// what it has found, and the place does not.
    pub(super) fn land(&self, outcome: Outcome, teller: &Arc<Teller>) -> Landed {
        let mut state = self.state();
        let failed_before = state.failed.is_some();
        let outcome = outcome.map(|kept| Kept { alone: teller.is_alone(), ..kept });
        if !state.walks(teller) {
            let newer = state.kept.clone().filter(|kept| kept.begun > teller.begun);
            let outcome = newer.map_or(outcome, Ok);
            return Landed { outcome, failed_before, alone: true, again: false };
        }
        state.walk = Weak::new();
        // Walks to come see all of this themselves.
        state.reread.clear();
        if let Ok(kept) = &outcome {
            state.kept = Some(kept.clone());
        }
        state.failed = outcome.is_err().then(Instant::now);
        let again = state.outdated;
        // What it was to bring is still missing.
        state.outdated |= outcome.is_err();
        Landed { outcome, failed_before, alone: teller.is_alone(), again }
    }

    /// Something may have changed. If a walk is under way, the next follows it.
    pub(super) fn outdate(&self) {
        self.state().outdated = true;
    }

    /// A walk would fail: as if one had.
    pub(super) fn fail(&self) {
        let mut state = self.state();
        state.failed = Some(Instant::now());
        state.outdated = true;
    }

    /// Whether a walk should follow as soon as the CMS answers again.
    pub(super) fn is_owed(&self) -> bool {
        let state = self.state();
        (state.failed.is_some() || state.outdated) && !state.is_under_way()
    }

    /// Documents were read by themselves, at that time at the earliest, and later than others with
    /// their ids.
    pub(super) fn remember(&self, read: Instant, reread: Vec<Reread>) {
        let mut state = self.state();
        if state.is_under_way() {
            let by_id = reread.into_iter().map(|document| (document.id.clone(), (read, document)));
            state.reread.extend(by_id);
        }
    }

    /// The documents that were read by themselves after this, each as it was last.
    pub(super) fn reread_since(&self, begun: Instant) -> Vec<Reread> {
        let state = self.state();
        let since = state.reread.values().filter(|(read, _)| *read > begun);
        since.map(|(_, document)| document.clone()).collect()
    }

    /// Another copy of the same walk.
    pub(super) fn replace(&self, kept: Kept) {
        self.state().kept = Some(kept);
    }

    /// Whether a walk is under way.
    pub(super) fn is_under_way(&self) -> bool {
        self.state().is_under_way()
    }

    /// Whether the last walk failed, no longer ago than this.
    pub(super) fn failed_within(&self, time: Duration) -> bool {
        self.state().failed.is_some_and(|failed| failed.elapsed() < time)
    }

    /// Whether the last walk failed.
    pub(super) fn is_failing(&self) -> bool {
        self.state().failed.is_some()
    }

    pub(super) fn kept(&self) -> Option<Kept> {
        self.state().kept.clone()
    }

    /// What is guarded is replaced in one step, so a panic elsewhere cannot have left it half done.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    /// A walk that panicked is over, though nobody has said so.
    fn is_under_way(&self) -> bool {
        self.walk.strong_count() > 0
    }

    fn part(&mut self, client: u64) -> bool {
        let earlier = self.walk.upgrade().filter(|teller| teller.client < client);
        if let Some(teller) = &earlier {
            teller.leave_alone();
            self.walk = Weak::new();
        }
        earlier.is_some()
    }

    /// Whether the walk under way is this one.
    fn walks(&self, teller: &Arc<Teller>) -> bool {
        std::ptr::eq(self.walk.as_ptr(), Arc::as_ptr(teller))
    }
}

#[cfg(test)]
mod tests;
