//! The update loops of the content types, and the loop that gives them their invalidations.

use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::failure::{recover, walk};
use super::patching::Reading;
use super::plan::may_be_read;
use super::reading::{MAX_READ_BY_ID, max_versions, read_by_id};
use super::{TypeUpdates, dependents, lacking, long_reads};
use crate::SnapshotCache;
use crate::entry::Demand;
use crate::invalidation::{Batch, InvalidationQueue, PendingInvalidation, debounced};
use crate::refresh::TypeGroup;
use frontend_map_rules::ContentTypeUid;

/// How often a loop that waits for the CMS looks whether a reload has put another one in its place.
const CMS_CHECK: Duration = Duration::from_millis(500);
/// From a panic to the restart of a loop.
const RESTART_PAUSE: Duration = Duration::from_secs(1);

type Current = Arc<dyn Fn() -> Arc<SnapshotCache> + Send + Sync>;

/// One of the update loops of a content type.
#[derive(Clone, Copy)]
enum UpdateLoop {
    Named,
    Dependents,
    LongReads,
}

/// Updates the current cache after invalidations until it is dropped. Ten documents published at
/// once cause one round of requests. If anything may have changed, all types are walked.
///
/// A reload in between loses nothing: a site that the next cache shares is updated here, and the
/// first refresh of any other starts after the invalidation.
pub async fn apply_invalidations(current: impl Fn() -> Arc<SnapshotCache> + Send + Sync + 'static) {
    let current: Current = Arc::new(current);
    let triggers = Arc::clone(&current().triggers);
    let mut loops =
        Loops { current: Arc::clone(&current), types: HashMap::new(), tasks: JoinSet::new() };
    loops.tasks.spawn(refresh_after_anything(current));
    loop {
        let batch = triggers.invalidations.next().await;
        // The queues of the types must survive a panic. Its invalidations are lost.
        if catch_unwind(AssertUnwindSafe(|| loops.distribute(batch))).is_err() {
            triggers.invalidations.anything.notify_one();
        }
    }
}

/// The loops of all content types; they end when this is dropped.
struct Loops {
    current: Current,
    types: HashMap<ContentTypeUid, Arc<TypeUpdates>>,
    tasks: JoinSet<()>,
}

impl Loops {
    /// Adds invalidations to the queues of the types that they may concern.
    fn distribute(&mut self, Batch { invalidations, is_overflow }: Batch) {
        let cache = (self.current)();
        if !cache.content.may_change() {
            return;
        }
        tracing::debug!("something may have changed in the CMS");
        if is_overflow {
            cache.triggers.invalidations.anything.notify_one();
        }
        for (uid, group) in cache.groups.iter().filter(|(_, group)| group.shared.refreshes_here()) {
            for pending in &invalidations {
                let is_for_type = pending.only.as_ref().is_none_or(|only| only == uid);
                let is_named = pending.invalidation.uid == uid.as_str();
                if is_for_type && is_named {
                    self.of_type(uid).named.add(pending.clone());
                }
                // An invalidation about a document that no version reads would delay the round of
                // the others.
                if is_for_type && may_be_read(&cache, group, pending) {
                    self.of_type(uid).dependents.add(pending.clone());
                }
            }
        }
    }

    /// The queues of a type; its loops begin with the first invalidation.
    fn of_type(&mut self, uid: &ContentTypeUid) -> &TypeUpdates {
        let (current, tasks) = (&self.current, &mut self.tasks);
        self.types.entry(uid.clone()).or_insert_with(|| {
            let updates = Arc::<TypeUpdates>::default();
            for kind in [UpdateLoop::Named, UpdateLoop::Dependents, UpdateLoop::LongReads] {
                let (current, updates) = (Arc::clone(current), Arc::clone(&updates));
                tasks.spawn(kind.run(current, uid.clone(), updates));
            }
            updates
        })
    }
}

impl UpdateLoop {
    /// Runs for ever. After a panic, whose invalidations are lost, the type is walked.
    async fn run(self, current: Current, uid: ContentTypeUid, updates: Arc<TypeUpdates>) {
        loop {
            let rounds = AssertUnwindSafe(self.run_rounds(&current, &uid, &updates));
            if rounds.catch_unwind().await.is_err() {
                sleep(RESTART_PAUSE).await;
                let cache = current();
                if let Some(group) = cache.groups.get(&uid) {
                    walk(&cache, group);
                }
            }
        }
    }

    async fn run_rounds(self, current: &Current, uid: &ContentTypeUid, updates: &TypeUpdates) {
        let queue = match self {
            Self::Named => &updates.named,
            Self::Dependents => &updates.dependents,
            Self::LongReads => &updates.long_reads,
        };
        loop {
            queue.ready().await;
            let cache = with_cms(current).await;
            let Some(group) = cache.groups.get(uid) else {
                queue.take();
                continue;
            };
            if !group.shared.refreshes_here() {
                // A new leader reads the events of the last minute again, and walks.
                queue.take();
                continue;
            }
            let Batch { invalidations, is_overflow } = queue.take();
            if is_overflow {
                walk(&cache, group);
            }
            match self {
                Self::Named => update_named(&cache, group, queue, invalidations).await,
                Self::Dependents => {
                    dependents::run_round(&cache, group, updates, invalidations).await;
                }
                Self::LongReads => {
                    long_reads::run_round(&cache, group, updates, invalidations).await;
                }
            }
        }
    }
}

/// The current cache, as soon as its circuit breaker is closed.
async fn with_cms(current: &Current) -> Arc<SnapshotCache> {
    loop {
        let cache = current();
        let mut breaker = cache.content.watch_breaker();
        if cache.content.circuit_open().is_none() {
            return cache;
        }
        drop(cache);
        // The refresher sends the probes.
        let _ = timeout(CMS_CHECK, breaker.changed()).await;
    }
}

/// Refreshes all snapshots whenever anything may have changed; after a panic, too.
async fn refresh_after_anything(current: Current) {
    let triggers = Arc::clone(&current().triggers);
    while AssertUnwindSafe(refresh_rounds(&current)).catch_unwind().await.is_err() {
        sleep(RESTART_PAUSE).await;
        triggers.invalidations.anything.notify_one();
    }
}

async fn refresh_rounds(current: &Current) {
    let triggers = Arc::clone(&current().triggers);
    loop {
        debounced(&triggers.invalidations.anything).await;
        let cache = current();
        let is_open = cache.content.circuit_open().is_some();
        for (_, entry) in cache.own_entries() {
            // When the CMS has recovered, the refresher starts what is outdated.
            entry.ask_for(if is_open { Demand::OnRequest } else { Demand::Background });
        }
        cache.triggers.wake_refresher();
    }
}

/// One round of updates of the documents that invalidations name.
async fn update_named(
    cache: &SnapshotCache,
    group: &TypeGroup,
    queue: &InvalidationQueue,
    invalidations: Vec<PendingInvalidation>,
) {
    let mut invalidations = lacking(group, invalidations);
    if invalidations.is_empty() {
        return;
    }
    if invalidations.len() > MAX_READ_BY_ID.min(max_versions(group)) {
        return walk(cache, group);
    }
    let ids: BTreeSet<&str> =
        invalidations.iter().map(|pending| &*pending.invalidation.document_id).collect();
    let reading = Reading::begin(cache, group);
    let (patches, result) = read_by_id(cache, group, &ids).await;
    let Err(reason) = reading.apply(&patches).await.and(result) else { return };
    let is_read = |pending: &PendingInvalidation| {
        patches.iter().any(|patch| patch.id == pending.invalidation.document_id)
    };
    invalidations.retain(|pending| !is_read(pending));
    recover(cache, group, queue, reason, invalidations);
}
