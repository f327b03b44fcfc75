//! Changes of the role of this instance for a group of snapshots: it becomes the leader, or alone.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::SnapshotCache;
use crate::invalidation::{Change, Invalidation};
use crate::refresh::TypeGroup;
use frontend_map_fleet::cms_events::{CmsChange, CmsEvent};
use frontend_map_fleet::{Fleet, Role};
use frontend_map_rules::ContentTypeUid;

/// How often the roles are checked.
const PERIOD: Duration = Duration::from_millis(100);
/// How long a new leader waits until the event stream is read.
const EVENTS_WAIT: Duration = Duration::from_secs(2);
/// The time limit for adopting the snapshots of the previous leader.
const ADOPTION_WAIT: Duration = Duration::from_secs(10);

/// Takes over the snapshots whose lease this instance has got, gives up the leases that it cannot
/// use, and marks snapshots as outdated when it becomes alone. Works on the current cache until the
/// future is dropped; without Redis it ends at once.
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
    /// The epochs in which this instance is taking over, with their tasks.
    new_epochs: HashMap<ContentTypeUid, (u64, JoinHandle<()>)>,
}

impl Roles {
    fn update(&mut self, cache: &Arc<SnapshotCache>) {
        self.last.retain(|uid, _| cache.groups.contains_key(uid));
        self.new_epochs.retain(|_, (_, task)| !task.is_finished());
        for (uid, group) in &cache.groups {
            if let Some(epoch) = group.shared.new_epoch() {
                self.take_over(cache, group, epoch);
            }
            if cache.content.circuit_open().is_some() {
                // An instance that reaches the CMS can get the lease.
                group.shared.give_up();
            }
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

    fn take_over(&mut self, cache: &Arc<SnapshotCache>, group: &Arc<TypeGroup>, epoch: u64) {
        let uid = &group.query.uid;
        if self.new_epochs.get(uid).is_some_and(|(begun, _)| *begun == epoch) {
            return;
        }
        let (cache, group) = (Arc::clone(cache), Arc::clone(group));
        let task = tokio::spawn(async move { take_over(&cache, &group, epoch).await });
        self.new_epochs.insert(uid.clone(), (epoch, task));
    }
}

/// Makes this instance the leader. The previous leader may not have read or published the last
/// changes, so this one adopts the published snapshots, reads the documents of the last events
/// again, and walks in the background.
async fn take_over(cache: &SnapshotCache, group: &TypeGroup, epoch: u64) {
    if timeout(ADOPTION_WAIT, cache.adopt_published(group)).await.is_err() {
        tracing::warn!(
            uid = %group.query.uid,
            "the published snapshots could not be adopted in time; this instance walks"
        );
    }
    // A walk that begins earlier may miss an event, and is repeated.
    let _ = timeout(EVENTS_WAIT, cache.fleet.until_events_are_read()).await;
    let is_any_known = mark_known_outdated(group);
    // From now on, this instance applies events as they come.
    group.shared.lead(epoch);
    cache.triggers.wake_refresher();
    if is_any_known {
        let events = cache.fleet.recent_cms_events().await;
        for invalidation in events.into_iter().filter_map(named_document) {
            cache.triggers.invalidations.add_for(&group.query.uid, invalidation);
        }
    }
}

/// Logs that the leader does not respond. A follower that becomes alone may have missed the last
/// events, and gets only those that are sent to it, so its snapshots are outdated.
fn record_change(group: &TypeGroup, before: Option<Role>, role: Role) {
    if group.shared.is_without_leader() {
        tracing::warn!(uid = %group.query.uid, "the leader does not respond: this instance walks by itself");
    }
    if before == Some(Role::Follower) && role == Role::Alone {
        mark_known_outdated(group);
    }
}

/// Lets the snapshots of the group be refreshed in the background. Returns whether there are any.
fn mark_known_outdated(group: &TypeGroup) -> bool {
    let known = group.members.iter().filter(|member| member.entry.cached().is_some());
    known.inspect(|member| member.entry.make_due()).count() > 0
}

/// The document that an event names; a walk finds the other changes.
fn named_document(event: CmsEvent) -> Option<Invalidation> {
    match event.change {
        CmsChange::Document { uid, document_id, is_withdrawn } => {
            let change = if is_withdrawn { Change::Withdrawn } else { Change::Written };
            Some(Invalidation { uid, document_id, change })
        }
        CmsChange::Nothing | CmsChange::ContentTypes(_) | CmsChange::Anything => None,
    }
}
