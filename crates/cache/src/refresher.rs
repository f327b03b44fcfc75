//! The background task for refreshes that are due without a request.

mod probes;
mod refresh_interval;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::sleep;

use crate::entry::{Demand, Entry, Event, Lookup};
use crate::site_cache::SiteCache;
use crate::{SnapshotCache, refresh};
use frontend_map_cms::{BreakerState, Content};
use frontend_map_rules::FieldPath;

pub use probes::Probes;
pub(super) use refresh_interval::RefreshInterval;

/// How often the refresher checks for due refreshes.
const PERIOD: Duration = Duration::from_secs(5);
/// The shortest time between two rounds while the breaker is open. Without it, a probe that is due
/// but gets no permit would start round after round.
const MIN_PERIOD: Duration = Duration::from_millis(500);
/// The shortest time until the next look at a refresh that has to wait for the share of the CMS.
const MIN_WAIT: Duration = Duration::from_millis(10);
/// The most refreshes in flight while first walks start. The client of the CMS has its own limit.
const MAX_FIRST_WALKS: usize = 4;

/// Keeps snapshots fresh without requests: builds all of them at the start, refreshes those of a
/// path index, and makes up for refreshes that failed with the CMS. Works on the current cache
/// until it is dropped.
pub async fn keep_fresh(current: impl Fn() -> Arc<SnapshotCache>) {
    let mut refresher = Refresher::new(&current());
    loop {
        let cache = current();
        if !Arc::ptr_eq(&refresher.content, &cache.content) {
            refresher = Refresher::new(&cache);
        }
        let period = refresher.run(&cache);
        let triggers = Arc::clone(&cache.triggers);
        drop(cache);
        tokio::select! {
            () = triggers.woken() => {}
            Ok(()) = refresher.breaker.changed() => {}
            () = sleep(period) => {}
        }
    }
}

/// The state of the refresher between rounds.
struct Refresher {
    content: Arc<Content>,
    breaker: watch::Receiver<BreakerState>,
    /// How often the breaker had opened when all pending refreshes were last started. `None` for a
    /// new content source: a refresh that failed with the previous source may succeed with it.
    openings: Option<u64>,
    /// The position of the entry whose content type is probed next.
    next_probe: usize,
}

impl Refresher {
    fn new(cache: &SnapshotCache) -> Self {
        let content = Arc::clone(&cache.content);
        Self { breaker: content.watch_breaker(), content, openings: None, next_probe: 0 }
    }

    /// Starts what is due; returns the time until the next round.
    fn run(&mut self, cache: &SnapshotCache) -> Duration {
        cache.update_interval();
        cache.ask_leader();
        let period = PERIOD.min(cache.freshness().soft);
        let breaker = *self.breaker.borrow_and_update();
        let next_probe = breaker.next_probe();
        if let Some(at) = next_probe {
            mark_missing(cache);
            if at <= Instant::now() && is_any_wanted(cache) {
                self.probe(cache);
            }
        } else {
            let before = self.openings.replace(breaker.openings);
            if before.is_some_and(|before| before != breaker.openings) {
                mark_due(cache);
            }
            if before != Some(breaker.openings) {
                start_pending(cache);
            }
            start_urgent(cache);
            start_missing(cache);
            if let Some(wait) = start_due(cache) {
                return wait.clamp(MIN_WAIT, period);
            }
        }
        let left = next_probe.map(|at| at.saturating_duration_since(Instant::now()));
        left.map_or(period, |left| left.clamp(MIN_PERIOD, period.max(MIN_PERIOD)))
    }

    /// Sends a probe for another content type each time: requests for one type may always fail.
    fn probe(&mut self, cache: &SnapshotCache) {
        if let Some((_, entry)) = cache.entries().nth(self.next_probe) {
            let (content, entry) = (Arc::clone(&cache.content), Arc::clone(entry));
            tokio::spawn(async move { content.probe(&entry.query).await });
        }
        self.next_probe = (self.next_probe + 1) % cache.entries().count().max(1);
    }
}

fn is_any_wanted(cache: &SnapshotCache) -> bool {
    cache.own_entries().any(|(site, entry)| {
        // A snapshot is due when the breaker closes, and updates may wait for it.
        entry.cached().is_some() || entry.has_pending_refresh() || is_missing(cache, site, entry)
    })
}

/// After an outage: webhooks of the CMS may be lost, and it never repeats one.
fn mark_due(cache: &SnapshotCache) {
    for (_, entry) in cache.own_entries().filter(|(_, entry)| entry.cached().is_some()) {
        entry.ask_for(Demand::Background);
    }
}

/// After the CMS has recovered.
fn start_pending(cache: &SnapshotCache) {
    for (_, entry) in cache.own_entries().filter(|(_, entry)| entry.has_pending_refresh()) {
        if entry.cached().is_some() {
            entry.ask_for(Demand::Background);
        } else {
            cache.start_refresh(entry);
        }
    }
}

/// Starts the refreshes that had to wait for one in flight and that the share does not delay.
fn start_urgent(cache: &SnapshotCache) {
    for (_, entry) in cache.own_entries().filter(|(_, entry)| entry.is_wanted(Demand::AtOnce)) {
        cache.start_refresh(entry);
    }
}

/// Starts the first walks of content types, up to [`MAX_FIRST_WALKS`]; a slow one does not delay
/// the others.
fn start_missing(cache: &SnapshotCache) {
    let in_flight = cache.groups.values().filter(|group| group.is_refreshing()).count();
    for entry in missing(cache).take(MAX_FIRST_WALKS.saturating_sub(in_flight)) {
        cache.start_refresh(entry);
    }
}

/// Marks the content types without a snapshot as failing: no walk starts while the breaker is open,
/// and not each of them had begun one before.
fn mark_missing(cache: &SnapshotCache) {
    for entry in missing(cache).filter(|entry| entry.failed().is_none()) {
        entry.apply(Event::NotStarted);
    }
}

/// The entries that need a first snapshot, or one that a walk of this process confirms.
fn missing(cache: &SnapshotCache) -> impl Iterator<Item = &Arc<Entry>> {
    cache
        .own_entries()
        .filter(move |(site, entry)| !entry.is_refreshing() && is_missing(cache, site, entry))
        .map(|(_, entry)| entry)
}

/// Starts the due refresh that was tried the longest time ago, if the share of the CMS permits it.
/// Returns how long to wait until it will. A type whose walks fail does not delay the others: its
/// snapshot gets older, but it was tried a short time ago.
fn start_due(cache: &SnapshotCache) -> Option<Duration> {
    let due = cache.own_entries().filter(|(site, entry)| is_due(cache, site, entry));
    let (_, oldest) = due.min_by_key(|(_, entry)| entry.last_tried())?;
    let (group, walks) = (cache.group(oldest), &cache.triggers.background_walks);
    let wait = walks.wait(group.walk_time(), cache.cms_share())?;
    if wait.is_zero() {
        refresh::start(group, oldest, &cache.triggers, None, Some(walks.begin()));
        return None;
    }
    Some(wait)
}

/// Each entry needs a snapshot after the start, and a walk that confirms one from the store;
/// entries of a path index always need one.
fn is_missing(cache: &SnapshotCache, site: &SiteCache, entry: &Entry) -> bool {
    let indexed = site.index.is_some();
    match entry.look_up(cache.freshness()) {
        _ if entry.failed_within(PERIOD) => false,
        Lookup::Found { .. } => {
            let is_confirmed = !entry.is_from_store() || cache.group(entry).shared.is_in_jitter();
            cache.settings.freshness.at_start && !is_confirmed
        }
        Lookup::Missing => {
            indexed || (cache.settings.freshness.at_start && entry.cached().is_none())
        }
    }
}

/// A refresh in the background is due when a request or an invalidation has asked for it, and always
/// by age where there is a path index.
fn is_due(cache: &SnapshotCache, site: &SiteCache, entry: &Entry) -> bool {
    if !cache.content.may_change() || cache.group(entry).shared.is_in_jitter() {
        return false;
    }
    let by_age = || matches!(entry.look_up(cache.freshness()), Lookup::Found { due: true, .. });
    entry.is_wanted(Demand::Background) || (site.index.is_some() && by_age())
}

impl SnapshotCache {
    /// Lets the lists of these content types be walked again as soon as the share of the CMS permits,
    /// and those whose relations may lead to one of them.
    pub fn refresh_types(&self, uids: &[String]) {
        let targets = self.triggers.targets.lock();
        for group in self.groups.values().filter(|group| group.shared.refreshes_here()) {
            let uid = &group.query.uid;
            let may_lead = |relation: &FieldPath| {
                uids.iter().any(|target| !targets.leads_elsewhere(uid, relation, target))
            };
            let is_selected = uids.iter().any(|selected| selected == uid.as_str());
            if is_selected || group.relations().iter().any(may_lead) {
                for member in &group.members {
                    member.entry.ask_for(Demand::Background);
                }
            }
        }
        drop(targets);
        self.triggers.wake_refresher();
    }
}
