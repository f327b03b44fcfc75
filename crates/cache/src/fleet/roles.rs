//! Changes of the role of this instance: it becomes the leader, or it is alone with a group of
//! snapshots.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::SnapshotCache;
use crate::entry::Demand;
use crate::refresh::{Member, TypeGroup};
use frontend_map_fleet::cms_events::CmsEvent;
use frontend_map_fleet::{Fleet, Lead, Role};
use frontend_map_rules::ContentTypeUid;

/// How often the roles are checked.
const PERIOD: Duration = Duration::from_millis(100);
/// How long a new leader waits until the event stream is read.
const EVENTS_WAIT: Duration = Duration::from_secs(2);
/// The time limit for adopting the snapshots of the previous leader.
const ADOPTION_WAIT: Duration = Duration::from_secs(10);

/// Takes over the snapshots when this instance has got the lease, gives the lease up when it does not
/// reach the CMS, and marks snapshots as outdated when it becomes alone. Works on the current cache
/// until the future is dropped; without Redis it ends at once.
pub async fn follow_roles(current: impl Fn() -> Arc<SnapshotCache>, fleet: Arc<Fleet>) {
    if fleet.redis().is_none() {
        return;
    }
    let mut roles = Roles::default();
    loop {
        let cache = current();
        roles.update(&cache);
        drop(cache);
        sleep(PERIOD).await;
    }
}

/// The roles at the last check, by content type.
#[derive(Default)]
struct Roles {
    last: HashMap<ContentTypeUid, Role>,
    /// The lease and the epoch in which this instance is taking over, with the task.
    new_epoch: Option<(String, u64, JoinHandle<()>)>,
}

impl Roles {
    fn update(&mut self, cache: &Arc<SnapshotCache>) {
        self.last.retain(|uid, _| cache.groups.contains_key(uid));
        if let Some(lead) = cache.groups.values().find_map(|group| group.shared.lead()) {
            if let Some(epoch) = lead.new_epoch() {
                self.take_over(cache, lead, epoch);
            }
            if cache.content.circuit_open().is_some() {
                // An instance that reaches the CMS can get the lease.
                lead.give_up("the circuit breaker is open");
            }
        }
        for (uid, group) in &cache.groups {
            let role = group.shared.role();
            let before = self.last.insert(uid.clone(), role);
            if before != Some(role) {
                tracing::info!(%uid, ?role, "the role of this instance has changed");
                record_change(group, before, role);
                if matches!(role, Role::Leader(_)) {
                    // They may have changed while Redis was unavailable for a moment.
                    SnapshotCache::request_publications(group);
                }
                cache.triggers.wake_refresher();
            }
        }
    }

    fn take_over(&mut self, cache: &Arc<SnapshotCache>, lead: &Arc<Lead>, epoch: u64) {
        let lease = lead.lease().name();
        let is_same = |(own, begun, task): &(String, u64, JoinHandle<()>)| {
            own == lease && *begun == epoch && !task.is_finished()
        };
        if self.new_epoch.as_ref().is_some_and(is_same) {
            return;
        }
        let (cache, lead, name) = (Arc::clone(cache), Arc::clone(lead), lease.to_owned());
        let task = tokio::spawn(async move { take_over(&cache, &lead, epoch).await });
        self.new_epoch = Some((name, epoch, task));
    }
}

/// Makes this instance the leader. The previous leader may not have read or published the last
/// changes, so this one adopts the published snapshots, reads the documents of the last events
/// again, and walks in the background.
async fn take_over(cache: &SnapshotCache, lead: &Lead, epoch: u64) {
    let adoptions = cache.groups.values().map(|group| adopt(cache, group));
    join_all(adoptions).await;
    // A walk that begins earlier may miss an event, and is repeated.
    let _ = timeout(EVENTS_WAIT, cache.fleet.until_events_are_read()).await;
    let known: Vec<&TypeGroup> = cache
        .groups
        .values()
        .map(|group| &**group)
        .filter(|group| mark_known_outdated(group))
        .collect();
    // From now on, this instance applies events as they come.
    lead.begin(epoch);
    cache.triggers.wake_refresher();
    if known.is_empty() {
        return;
    }
    let events = cache.fleet.recent_cms_events().await;
    // A walk finds the other changes.
    for invalidation in events.iter().filter_map(CmsEvent::document) {
        for group in &known {
            cache.triggers.invalidations.add_for(&group.query.uid, invalidation.clone());
        }
    }
}

async fn adopt(cache: &SnapshotCache, group: &TypeGroup) {
    if timeout(ADOPTION_WAIT, cache.adopt_published(group)).await.is_err() {
        tracing::warn!(
            uid = %group.query.uid,
            "the published snapshots could not be adopted in time; this instance walks"
        );
    }
}

/// Handles a change of the role: logs that the leader does not respond, and lets the snapshots be
/// refreshed if this instance becomes alone, because it may have missed the last events, and gets only
/// those that are sent to it.
fn record_change(group: &TypeGroup, before: Option<Role>, role: Role) {
    if group.shared.is_without_leader() {
        tracing::warn!(uid = %group.query.uid, "the leader does not respond: this instance walks by itself");
    }
    if before.is_some() && role == Role::Alone {
        mark_known_outdated(group);
    }
}

/// Lets the snapshots of the group be refreshed in the background. Returns whether there are any.
fn mark_known_outdated(group: &TypeGroup) -> bool {
    let is_known = |member: &&Member| member.entry.cached().is_some();
    let known: Vec<&Member> = group.members.iter().filter(is_known).collect();
    for member in &known {
        member.entry.ask_for(Demand::Background);
    }
    !known.is_empty()
}
