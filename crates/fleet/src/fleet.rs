//! The fleet as one instance sees it: alone, or with others through Redis.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::changes::{Readiness, SharedChanges, Wanted};
use crate::checks::limit::CheckCounts;
use crate::cms_events::{CmsEvent, CmsEvents};
use crate::groups::SnapshotGroup;
use crate::history::SharedHistory;
use crate::known_groups::KnownGroups;
use crate::lead::Lead;
use crate::links::SharedLinks;
use crate::misses::SharedMisses;
use crate::positions::SharedPositions;
use crate::redis::{self, Event};
use crate::snapshot_id::{SharedSnapshotId, SnapshotId};
use crate::snapshots::{PublishRequest, SharedSnapshots};
use crate::status::{RedisStatus, SnapshotStatus};
use frontend_map_catalog::changes::log::ChangeLog;
use frontend_map_catalog::moved::history::PathHistory;
use frontend_map_catalog::site::{Site, Sites};

/// The time limit for the release of the leases.
const RELEASE_WAIT: Duration = Duration::from_secs(1);
/// A new leader applies the events of so long ago again. A lease expires sooner, and the previous
/// leader has published its updates sooner.
const REPLAYED: Duration = Duration::from_mins(1);
/// An adoption usually takes less time.
const ADOPTION: Duration = Duration::from_secs(3);
/// From an edit to its publication.
const PUBLICATION: Duration = Duration::from_secs(2);
/// The time limit for reading these events.
const REPLAY_WAIT: Duration = Duration::from_secs(5);

/// The fleet as this instance sees it: the instances that share a Redis, or this one alone.
#[derive(Default)]
pub struct Fleet {
    pub(crate) redis: Option<redis::Client>,
    changes: Option<SharedChanges>,
    history: Option<SharedHistory>,
    snapshots: Option<SharedSnapshots>,
    groups: KnownGroups,
    pub(crate) cms_events: CmsEvents,
    /// Whether the stream of events is read.
    pub(crate) is_reading: watch::Sender<bool>,
    /// Whether this instance has released its leases, because it stops.
    is_released: Arc<AtomicBool>,
}

impl Fleet {
    /// The fleet of a single instance, without Redis.
    pub fn alone() -> Self {
        Self::default()
    }

    /// The fleet of the instances that share this Redis; `log` and `history` are those of this
    /// instance.
    pub fn sharing(redis: redis::Client, log: Arc<ChangeLog>, history: Arc<PathHistory>) -> Self {
        let history = Some(SharedHistory::new(redis.clone(), history));
        let changes = SharedChanges::new(redis.clone(), log);
        let snapshots = Some(SharedSnapshots::new(redis.clone(), changes.clone()));
        Self { redis: Some(redis), changes: Some(changes), history, snapshots, ..Self::default() }
    }

    /// The change logs that instances share; `None` without `[shared]`.
    pub fn changes(&self) -> Option<&SharedChanges> {
        self.changes.as_ref()
    }

    /// The positions up to which webhooks have been sent; `None` without `[shared]`.
    pub fn positions(&self) -> Option<SharedPositions> {
        Some(SharedPositions::new(self.redis.clone()?, self.changes.clone()?))
    }

    /// The paths that were not found on a site, of all instances; `None` without `[shared]`.
    pub fn misses(&self, site: &Site) -> Option<SharedMisses> {
        Some(SharedMisses::new(self.redis.clone()?, site.source, &site.key))
    }

    /// The links in the content of a site, as the leader has read them; `None` without `[shared]`.
    pub fn links(&self, site: &Site) -> Option<SharedLinks> {
        Some(SharedLinks::new(self.redis.clone()?, site))
    }

    /// Follows the change logs and shares the path history. With a Redis it runs for ever,
    /// without one it ends at once.
    pub async fn share_changes(&self) {
        if let (Some(changes), Some(history)) = (&self.changes, &self.history) {
            tokio::join!(changes.clone().run(), history.clone().run());
        }
    }

    /// Sets the sites, which tell this deployment from others.
    pub fn set_deployment(&self, sites: &Sites) {
        if let Some(redis) = &self.redis {
            redis.set_deployment(&crate::changes::describe(sites));
        }
    }

    /// How a reader of a site can be answered now. `None` without `[shared]`.
    pub async fn readiness(&self, site: &Site, wanted: Wanted) -> Option<Readiness> {
        let changes = self.changes.as_ref()?;
        // Without the leader of a snapshot of the site, this instance walks by itself: it may know
        // changes that no log has.
        let is_without_leader = |uid: &String| {
            let newest = self.groups.newest(&SnapshotId::of(site, uid));
            newest.is_some_and(|(_, group)| group.is_without_leader())
        };
        if !self.is_unavailable() && changes.types_of(&site.key).iter().any(is_without_leader) {
            return Some(Readiness::NotYet);
        }
        Some(changes.readiness(&site.key, wanted).await)
    }

    /// Sets the content types of a site; the pages outside the CMS count as one of them.
    pub fn set_site(&self, site: &Site, types: &[String]) {
        if let (Some(changes), Some(history)) = (&self.changes, &self.history) {
            changes.set_site(site, types);
            history.set_site(&site.key, site.source);
        }
    }

    /// Handles an event of the stream that is about snapshots, changes or the history. Returns whether it
    /// is about one of these.
    pub fn read_event(&self, event: &Event) -> bool {
        let (Some(changes), Some(history)) = (&self.changes, &self.history) else { return false };
        if event.kind == crate::snapshots::LIST && !self.has_snapshot(&event.body) {
            // The changes of its own snapshots are read after the adoption of the version.
            changes.read_all_soon();
        }
        let is_of_snapshot = |snapshots: &SharedSnapshots| snapshots.read_event(event);
        changes.read_event(event)
            || history.read_event(event)
            || self.snapshots.as_ref().is_some_and(is_of_snapshot)
    }

    fn has_snapshot(&self, body: &[u8]) -> bool {
        let id = crate::snapshots::id_of(body);
        id.is_some_and(|id| self.group_of(&id).is_some())
    }

    /// Handles a gap of the stream: events may have been missed. `read_before`: see [`Gap`](crate::Gap).
    pub fn read_gap(&self, read_before: Option<Instant>) {
        if let (Some(changes), Some(history), Some(snapshots)) =
            (&self.changes, &self.history, &self.snapshots)
        {
            changes.read_all_soon();
            history.read_all_soon();
            self.keep_snapshots_in_use();
            snapshots.read_gap(read_before);
        }
    }

    /// Redis; `None` without `[shared]`.
    pub fn redis(&self) -> Option<&redis::Client> {
        self.redis.as_ref()
    }

    /// The shared snapshots; `None` without `[shared]`.
    pub fn snapshots(&self) -> Option<&SharedSnapshots> {
        self.snapshots.as_ref()
    }

    /// Publishes the snapshots that this instance leads. With a Redis it runs for ever, without one
    /// it ends at once.
    pub async fn publish_snapshots(&self) {
        if let Some(snapshots) = &self.snapshots {
            snapshots.publish(self).await;
        }
    }

    /// The status of Redis, with these URL checks of this instance; `None` without `[shared]`.
    pub fn redis_status(&self, url_checks: CheckCounts) -> Option<RedisStatus> {
        let redis = self.redis.as_ref()?;
        let unpublished = self.changes.as_ref().and_then(SharedChanges::unpublished);
        Some(RedisStatus::of(redis, unpublished, url_checks))
    }

    /// The status of a snapshot on this instance; `None` without `[shared]`.
    pub fn snapshot_status(&self, id: &SnapshotId) -> Option<SnapshotStatus> {
        let (snapshots, (id, group)) = (self.snapshots.as_ref()?, self.groups.newest(id)?);
        Some(SnapshotStatus::of(&group, snapshots.versions(&id), self.is_unavailable()))
    }

    /// Whether there is `[shared]`, and Redis is unavailable.
    pub fn is_unavailable(&self) -> bool {
        self.redis.as_ref().is_some_and(redis::Client::is_unavailable)
    }

    /// The `Age` of the paths of a site while this instance may be behind the others: for more than three
    /// seconds, it has not read their events, or not adopted a version that is published or may be.
    /// `oldest_walk` is the time since the oldest walk of the site's snapshots began: the result counts
    /// from that walk at the earliest, and without Redis there is none if that walk is later. `None`: it
    /// is not behind, or follows no other instance.
    pub fn lag(&self, oldest_walk: Duration) -> Option<Duration> {
        let redis = self.redis.as_ref()?;
        let missing = self.snapshots.as_ref().and_then(SharedSnapshots::missing_for);
        let lags = [redis.event_lag(), missing.filter(|missing| *missing > ADOPTION)];
        // The usual case.
        if lags == [None; 2] {
            return None;
        }
        let is_available = redis.is_available();
        let lag = lag(lags, oldest_walk, is_available)?;
        let follows = !is_available || self.groups().iter().any(|group| group.follows());
        follows.then_some(lag + PUBLICATION)
    }

    /// The number of instances that divide the share of the CMS, because each of them walks by
    /// itself: the last known number while Redis is unavailable or the leader of some snapshot does
    /// not respond, otherwise 1.
    pub fn separate_instances(&self) -> usize {
        let is_alone =
            self.is_unavailable() || self.groups().iter().any(|one| one.is_without_leader());
        self.redis.as_ref().filter(|_| is_alone).map_or(1, redis::Client::instances)
    }

    /// The lead of all these snapshots; `None` without Redis. Two calls for the same snapshots return
    /// the same lead, as long as one of its users has it.
    pub fn lead(&self, ids: &[SnapshotId]) -> Option<Arc<Lead>> {
        let redis = self.redis.as_ref()?;
        let name = crate::snapshot_id::lease_name(ids);
        let new = || Lead::new(redis.clone(), redis.lease(&name), Arc::clone(&self.is_released));
        let lead = self.groups.lead_or_add(&name, new);
        if let Some(changes) = &self.changes {
            changes.set_lease(lead.lease().key());
        }
        Some(lead)
    }

    /// The group of these snapshots of a content type. Two calls for the same lead and content type
    /// return the same group, as long as one of its users has it.
    pub fn group(
        &self,
        lead: Option<&Arc<Lead>>,
        uid: &str,
        ids: &[SnapshotId],
    ) -> Arc<SnapshotGroup> {
        let Some(lead) = lead else { return Arc::new(SnapshotGroup::alone()) };
        let group = self.groups.get_or_add(lead, uid, ids);
        self.keep_snapshots_in_use();
        group
    }

    /// The group of a shared snapshot.
    pub fn group_of(&self, id: &SharedSnapshotId) -> Option<Arc<SnapshotGroup>> {
        self.groups.of(id)
    }

    /// Adds the states of new snapshots, and drops those of snapshots that are in use no longer, as after
    /// a reload: these must not count as missing.
    pub fn keep_snapshots_in_use(&self) {
        if let Some(snapshots) = &self.snapshots {
            snapshots.keep(|| self.groups.ids());
        }
    }

    /// Whether the published version of a snapshot has changes that this instance may lack, because its
    /// own one was later.
    pub fn lacks_passed_over(&self, site: &Site, uid: &str) -> bool {
        self.changes.as_ref().is_some_and(|changes| changes.lacks_passed_over(&site.key, uid))
    }

    /// Requests the publication of the present snapshot.
    pub fn request_publication(&self, id: &SnapshotId, request: PublishRequest) {
        if let (Some(snapshots), Some((id, _))) = (&self.snapshots, self.groups.newest(id)) {
            snapshots.request_publication(id, request);
        }
    }

    /// All groups in use; none without Redis.
    pub fn groups(&self) -> Vec<Arc<SnapshotGroup>> {
        self.groups.all()
    }

    /// Releases all leases, so that other instances take over at once. For a graceful stop.
    pub async fn release(&self) {
        let Some(redis) = &self.redis else { return };
        self.is_released.store(true, Ordering::Relaxed);
        if tokio::time::timeout(RELEASE_WAIT, redis.release_leases()).await.is_err() {
            tracing::debug!("the leases could not be released; they expire");
        }
    }

    /// Appends an event of the CMS to the stream, within 50 ms. Returns whether the caller must
    /// apply it now, because there is no Redis or it is unavailable; otherwise
    /// [`Fleet::read_events`] returns it.
    pub async fn share_cms_event(&self, event: CmsEvent) -> bool {
        match &self.redis {
            Some(redis) => self.cms_events.share(redis, event).await,
            None => true,
        }
    }

    /// Applies the events of the CMS that this instance has received and not read back in time, for
    /// example because Redis is unavailable, and appends them again. With a Redis it runs for ever,
    /// without one it ends at once.
    pub async fn forward_cms_events(&self, apply: impl Fn(&CmsEvent)) {
        if let Some(redis) = &self.redis {
            self.cms_events.forward(redis, apply).await;
        }
    }

    /// The events of the CMS of the last minute, for a new leader. None if they cannot be read: its
    /// walk finds the changes.
    pub async fn recent_cms_events(&self) -> Vec<CmsEvent> {
        let Some(redis) = &self.redis else { return Vec::new() };
        let events = redis.recent_events(REPLAYED, REPLAY_WAIT).await;
        events.unwrap_or_default().iter().filter_map(crate::cms_events::parse_event).collect()
    }
}

/// The time since which changes may be missing, of those since which events are not read and versions
/// not adopted. With Redis, a walk bounds it: the leader goes on to publish. Without Redis, a later walk
/// ends it: this instance walks by itself.
fn lag(lags: [Option<Duration>; 2], oldest_walk: Duration, is_available: bool) -> Option<Duration> {
    let lags = lags.into_iter().flatten();
    if is_available {
        lags.max().map(|lag| lag.min(oldest_walk)).filter(|lag| *lag > ADOPTION)
    } else {
        lags.filter(|lag| oldest_walk > *lag).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lag_is_bounded_by_the_oldest_walk_with_redis_and_ended_by_it_without() {
        let seconds = Duration::from_secs;
        for (unread, missing, oldest_walk, with_redis, without_redis) in [
            (None, None, 60, None, None),
            (Some(10), None, 60, Some(10), Some(10)),
            (Some(10), Some(20), 60, Some(20), Some(20)),
            // A walk began since.
            (Some(10), None, 5, Some(5), None),
            (Some(10), None, 2, None, None),
            (Some(4), Some(60), 10, Some(10), Some(4)),
        ] {
            let lags = [unread, missing].map(|lag| lag.map(seconds));
            let found = [true, false].map(|is_available| {
                lag(lags, seconds(oldest_walk), is_available).map(|lag| lag.as_secs())
            });
            assert_eq!(found, [with_redis, without_redis], "{lags:?} {oldest_walk}");
        }
    }
}
