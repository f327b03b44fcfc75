//! The state machine of a cache entry: which refresh is in flight, which one should follow, and
//! what is known of the snapshot. It has neither clock nor lock: `now` is a parameter.

use std::time::{Duration, Instant};

use super::updates::Updates;
use crate::cached_snapshot::CachedSnapshot;
use crate::settings::Freshness;

/// The shortest time from a failed refresh to the next one while there is a snapshot to serve.
pub(super) const RETRY_DELAY: Duration = Duration::from_secs(2);

/// What an entry has for a request.
pub(crate) enum Lookup {
    /// A snapshot that may be served.
    Found {
        cached: CachedSnapshot,
        /// Whether the last refresh failed.
        failing: bool,
        /// Whether a refresh should start now.
        due: bool,
    },
    /// No snapshot, or one beyond the hard limit.
    Missing,
}

/// The refresh in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Idle,
    /// This instance walks, and reads all changes before this time.
    Walking { begun: Instant },
    /// The refresh waits for a snapshot of another instance.
    Following { begun: Instant },
}

/// How soon the next refresh should start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Demand {
    #[default]
    None,
    /// The snapshot lacks a change, or the last refresh failed: when a request needs the snapshot.
    OnRequest,
    /// As soon as the share of the CMS permits.
    Background,
    /// Whatever the share permits.
    AtOnce,
}

/// What happens to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A walk of this instance begins.
    Walk,
    /// A refresh begins to wait for another instance.
    Follow,
    /// The refresh in flight has ended with a new snapshot.
    Walked,
    /// The refresh in flight has failed.
    Failed,
    /// A snapshot of another instance has taken the place of the present one.
    Adopted,
    /// The instance that leads could not walk.
    LeaderFailed,
    /// Documents were read again, and the snapshot has them.
    Updated,
    /// A process before this one has stored the snapshot: events since then may have been lost.
    Stored,
    /// Nobody waits for the refresh in flight any more, or its task has panicked.
    Abandoned,
    /// A refresh was not started because the CMS fails.
    NotStarted,
}

/// What an entry has, and what is to be done for it.
#[derive(Default)]
pub(super) struct State {
    pub(super) cached: Option<CachedSnapshot>,
    pub(super) phase: Phase,
    pub(super) demand: Demand,
    /// When the last refresh failed, if it did.
    pub(super) failed: Option<Instant>,
    /// When a request last needed the snapshot.
    pub(super) requested: Option<Instant>,
    /// Incremental updates and invalidations during the reads in flight.
    pub(super) updates: Updates,
}

impl Phase {
    /// | event | idle | walking | following |
    /// |---|---|---|---|
    /// | `Walk` | walking from now on | walking from now on | walking from now on |
    /// | `Follow` | following from now on | following | following |
    /// | `Walked`, `Failed`, `Adopted`, `Abandoned` | idle | idle | idle |
    /// | `LeaderFailed` | idle | walking | idle |
    /// | others | idle | walking | following |
    fn after(self, event: Event, now: Instant) -> Self {
        match (event, self) {
            (Event::Walk, _) => Self::Walking { begun: now },
            (Event::Follow, Self::Idle) => Self::Following { begun: now },
            (Event::Follow, Self::Walking { begun }) => Self::Following { begun },
            (Event::Walked | Event::Failed | Event::Adopted | Event::Abandoned, _)
            | (Event::LeaderFailed, Self::Following { .. }) => Self::Idle,
            (_, same) => same,
        }
    }

    /// When the refresh in flight began.
    pub(super) fn begun(self) -> Option<Instant> {
        match self {
            Self::Idle => None,
            Self::Walking { begun } | Self::Following { begun } => Some(begun),
        }
    }
}

impl State {
    /// Takes an event into account. Returns whether the refresh in flight has ended with it.
    pub(super) fn on(&mut self, event: Event, now: Instant) -> bool {
        let before = self.phase;
        self.phase = before.after(event, now);
        let has_ended = before != Phase::Idle && self.phase == Phase::Idle;
        match event {
            // The walk reads all changes before, and so did that of the other instance.
            Event::Walk | Event::Adopted => self.demand = Demand::None,
            Event::Follow if before == Phase::Idle => self.demand = Demand::None,
            // Something has changed since it began.
            Event::Walked | Event::Failed if self.demand > Demand::None => {
                self.demand = self.demand.max(Demand::Background);
            }
            _ => {}
        }
        match event {
            Event::Walked | Event::Adopted => self.failed = None,
            Event::LeaderFailed if !has_ended => {}
            // The changes that the refresh should have read are still missing.
            Event::Failed | Event::LeaderFailed | Event::NotStarted => {
                self.failed = Some(now);
                self.demand = self.demand.max(Demand::OnRequest);
            }
            Event::Stored => self.demand = self.demand.max(Demand::OnRequest),
            _ => {}
        }
        self.prune_updates();
        has_ended
    }

    /// Demands a refresh after the one in flight. Without a snapshot, a demand in the background becomes one
    /// on request: the next request for the snapshot starts the refresh. Returns whether this is more urgent
    /// than the demand before.
    pub(super) fn ask_for(&mut self, demand: Demand) -> bool {
        let demand = match demand {
            Demand::Background if self.cached.is_none() => Demand::OnRequest,
            demand => demand,
        };
        let before = self.demand;
        self.demand = before.max(demand);
        before < demand
    }

    /// Whether a refresh should start this soon.
    pub(super) fn is_wanted(&self, demand: Demand) -> bool {
        self.demand >= demand && self.phase == Phase::Idle
    }

    /// Whether a refresh should start as soon as the CMS has recovered.
    pub(super) fn has_pending_refresh(&self) -> bool {
        (self.failed.is_some() || self.demand > Demand::None) && self.phase == Phase::Idle
    }

    /// The snapshot, if it is within the hard limit.
    pub(super) fn usable(&self, freshness: Freshness, now: Instant) -> Option<&CachedSnapshot> {
        self.cached.as_ref().filter(|cached| now.duration_since(cached.begun) < freshness.hard)
    }

    pub(super) fn look_up(&self, freshness: Freshness, now: Instant) -> Lookup {
        let Some(cached) = self.usable(freshness, now).cloned() else { return Lookup::Missing };
        let is_old =
            self.demand > Demand::None || now.duration_since(cached.begun) >= freshness.soft;
        // After a long refresh, the next one starts no sooner than that refresh took.
        let has_rested = now.duration_since(cached.completed) >= cached.refresh_duration();
        let may_retry = self.failed.is_none_or(|failed| now.duration_since(failed) >= RETRY_DELAY);
        let due = is_old && has_rested && may_retry && self.phase == Phase::Idle;
        Lookup::Found { failing: self.failed.is_some(), cached, due }
    }

    /// The state of an entry that starts with the snapshot of this one. A refresh is pending if
    /// there is a snapshot or a refresh in flight: updates until the reload is complete do not reach
    /// the other entry.
    pub(super) fn adopted(&self) -> Self {
        let is_pending =
            self.demand > Demand::None || self.cached.is_some() || self.phase != Phase::Idle;
        Self {
            cached: self.cached.clone(),
            demand: if is_pending { Demand::OnRequest } else { Demand::None },
            failed: self.failed,
            requested: self.requested,
            ..Self::default()
        }
    }

    /// Whether the snapshot may lack a change that is known since this time. Without a snapshot, the one that
    /// the refresh in flight builds may lack it.
    pub(super) fn may_lack(&self, at: Instant) -> bool {
        self.cached.as_ref().map_or(self.phase != Phase::Idle, |cached| cached.begun <= at)
    }

    /// When the refresh in flight began, or else the one that built the snapshot.
    pub(super) fn last_begun(&self) -> Option<Instant> {
        self.phase.begun().or(self.cached.as_ref().map(|cached| cached.begun))
    }

    /// Forgets the updates that no read in flight needs.
    pub(super) fn prune_updates(&mut self) {
        self.updates.prune(self.phase.begun());
    }
}

#[cfg(test)]
mod tests;
