//! The snapshot cache of an instance of a fleet: which snapshots it refreshes by itself, and what
//! it asks of their leaders.

mod adoption;
mod roles;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::SnapshotCache;
use crate::entry::{Demand, Entry, Event, Lookup};
use crate::refresh::{Member, TypeGroup, walk_failure};
use crate::site_cache::SiteCache;
use frontend_map_cms::{ContentError, Outage};
use frontend_map_fleet::WalkFailure;

pub use adoption::follow_snapshots;
pub use roles::follow_roles;

impl SnapshotCache {
    /// The entries whose refreshes this instance starts by itself: those of which it is not a
    /// follower.
    pub(super) fn own_entries(&self) -> impl Iterator<Item = (&Arc<SiteCache>, &Arc<Entry>)> {
        self.entries().filter(|(_, entry)| self.group(entry).shared.refreshes_here())
    }

    /// The part of the CMS's time that walks and probes of this instance may take, from 0 to 1. Instances
    /// that walk by themselves divide it.
    pub(super) fn cms_share(&self) -> f64 {
        let instances = u32::try_from(self.fleet.separate_instances()).unwrap_or(u32::MAX);
        self.settings.freshness.cms_share / f64::from(instances)
    }

    /// The time since the last event of the CMS. While Redis is unavailable, other instances
    /// receive events that this one does not see, so that it must not rely on them.
    pub(super) fn since_event(&self) -> Option<Duration> {
        if self.fleet.is_unavailable() { None } else { self.triggers.since_event() }
    }

    /// Asks the leader for the refreshes that requests to this instance have found due, and where
    /// a response to an event of the CMS is missing.
    pub(super) fn ask_leader(&self) {
        let is_wanted = |group: &&Arc<TypeGroup>| {
            group.shared.lacks_response()
                || group.members.iter().any(|member| member.entry.is_wanted(Demand::Background))
        };
        self.groups.values().filter(is_wanted).for_each(|group| group.shared.want_refresh());
    }

    /// Records that documents of this content type may have changed; `None`: of any. The leader
    /// has to respond: by a publication, or by the acknowledgement of a later request.
    pub(super) fn expect_responses(&self, uid: Option<&str>) {
        let is_of = |group: &&Arc<TypeGroup>| uid.is_none_or(|uid| uid == group.query.uid.as_str());
        self.groups.values().filter(is_of).for_each(|group| group.shared.expect_response());
    }

    /// Records a response of the leader about the group with this name.
    pub fn record_response(&self, group: &str) {
        if let Some(group) = self.group_with_name(group) {
            group.shared.record_response();
        }
    }

    fn group_with_name(&self, name: &str) -> Option<&Arc<TypeGroup>> {
        self.groups.values().find(|group| group.shared.has_name(name))
    }

    /// Handles the request of a follower for a refresh of the group with this name: acknowledges it, and
    /// starts a refresh if this instance is the leader and finds one due.
    pub fn refresh_for_follower(&self, group: &str) {
        let Some(group) = self.group_with_name(group) else { return };
        if !self.is_any_unpublished(group) {
            group.shared.acknowledge();
        }
        if !group.shared.leads() {
            return;
        }
        for Member { entry, .. } in &group.members {
            // The requests of all instances count.
            entry.record_request();
            match entry.look_up(self.freshness()) {
                Lookup::Missing => match self.content.circuit_open() {
                    Some(error) => group.shared.fail_followers(walk_failure(&error)),
                    None => drop(self.start_missing(entry)),
                },
                Lookup::Found { due: true, .. } if self.content.may_change() => {
                    entry.ask_for(Demand::Background);
                }
                Lookup::Found { .. } => {}
            }
        }
        self.triggers.wake_refresher();
    }

    /// Handles the request of a follower for a walk of the group with this name: if this instance is the
    /// leader, it walks in the background.
    pub fn walk_for_follower(&self, group: &str) {
        let Some(group) = self.group_with_name(group).filter(|group| group.shared.leads()) else {
            return;
        };
        for member in &group.members {
            member.entry.ask_for(Demand::Background);
        }
        self.triggers.wake_refresher();
    }

    /// Asks the leader for a walk of each group of which this instance may lack changes, because it has
    /// kept its own later snapshot.
    fn ask_for_walks(&self) {
        let lacks = |Member { site, entry }: &Member| {
            self.fleet.lacks_passed_over(&site.site, entry.query.uid.as_str())
        };
        for group in self.groups.values().filter(|group| group.members.iter().any(lacks)) {
            group.shared.want_walk();
        }
    }

    /// Whether the last publication of a snapshot of this group failed: its followers must not wait
    /// for long.
    fn is_any_unpublished(&self, group: &TypeGroup) -> bool {
        let Some(snapshots) = self.fleet.snapshots() else { return false };
        group.shared.ids().iter().any(|id| snapshots.is_unpublished(id))
    }

    /// Records that events of the CMS up to this time may have been missed: this instance walks its
    /// snapshots again whose walk began before, within the share of the CMS.
    pub fn record_missed_events(&self, until: Instant) {
        for (_, entry) in self
            .own_entries()
            .filter(|(_, entry)| entry.last_begun().is_some_and(|begun| begun <= until))
        {
            entry.ask_for(Demand::Background);
        }
        self.triggers.wake_refresher();
    }
}

fn error(failure: WalkFailure) -> ContentError {
    match failure {
        WalkFailure::Unavailable { retry_after } => {
            ContentError::Unavailable { retry_after, outage: Outage::Elsewhere }
        }
        WalkFailure::TimedOut => ContentError::TimedOut,
        WalkFailure::Unusable => {
            ContentError::Unusable("the log of the instance that reads the list says why")
        }
    }
}

impl SnapshotCache {
    /// Records that the leader could not walk the group with this name: requests that wait for its
    /// snapshot fail with the same status as on the leader.
    pub fn fail_followed(&self, group: &str, failure: WalkFailure) {
        self.record_response(group);
        let group = self.group_with_name(group);
        for group in group.into_iter().filter(|group| group.shared.follows()) {
            for member in &group.members {
                if let Some(flight) = member.entry.apply(Event::LeaderFailed) {
                    flight.complete(Err(error(failure)));
                }
            }
        }
    }
}
