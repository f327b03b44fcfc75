//! Probes of the CMS: a request for the number of versions of a content type and for the newest ones.
//! They find changes without a webhook: imports into the database, restored dumps, lost webhooks.

mod unannounced;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crate::SnapshotCache;
use crate::incremental_update::differing;
use crate::refresh::TypeGroup;
use frontend_map_cms::{Content, ContentError, ContentQuery, Newest, Projection};
use frontend_map_fleet::cms_events::{CmsChange, CmsEvent, Invalidation};
use frontend_map_rules::{ContentTypeUid, Locale};
use unannounced::{Unannounced, unannounced};

/// From one probe of a content type to the next one.
const PERIOD: Duration = Duration::from_secs(30);
/// The pause after a refused request, unless a walk of the type succeeds: usually the token lacks a
/// permission.
const REFUSED_PERIOD: Duration = Duration::from_mins(10);
/// The event about a change may arrive this much earlier or later than a probe finds the change.
const EVENT_DELAY: Duration = Duration::from_secs(5);
/// The number of versions that a probe reads.
const SIZE: usize = 25;
/// The most documents that are read at once to compare them with the snapshots.
const CONFIRMED_AT_ONCE: usize = 50;
/// The walk that finds what had changed before the first probe begins at most this long after it, or
/// [`EVENT_DELAY`] after it where the numbers of versions show a change: an import is shown within a
/// minute, however rarely the settings ask for walks.
const WALK_AFTER_FIRST: Duration = Duration::from_secs(45);
/// For this long after a webhook event, webhooks count as in use.
const HOUR: Duration = Duration::from_hours(1);

/// The last probes: of the content types that this instance walks, and of those that their relations
/// lead to. No probe is sent while walks are as frequent as `snapshots.soft_seconds` says.
#[derive(Default)]
pub struct Probes {
    /// Where they were sent. Not kept alive: after a reload, the documents of the old file need their
    /// memory no longer.
    content: Weak<Content>,
    /// What to request, as of the last time when a probe was due.
    wanted: HashMap<ContentTypeUid, Wanted>,
    by_type: HashMap<ContentTypeUid, Probed>,
    /// How often the circuit breaker had opened when it was last found closed.
    openings: u64,
}

/// The last probe of a content type.
#[derive(Default)]
struct Probed {
    /// What it has found, and when it began; `None`: no probe has succeeded yet.
    newest: Option<(Newest, Instant)>,
    /// What a later one has found, and when it began, until both are compared.
    later: Option<(Newest, Instant)>,
    /// Documents that events have named, or that the first probe has shown. The last change of one may
    /// have been after its event, or after the walk.
    unconfirmed: BTreeSet<String>,
    /// When the next one is due; `None`: now.
    next: Option<Instant>,
    /// When the last one began, if it was refused.
    refused: Option<Instant>,
    /// How long the last one took.
    took: Duration,
    /// Whether the next one is the first after an outage: webhooks are lost, and it waits for none.
    is_after_outage: bool,
    /// When the first one began, and how many versions it has found, until the walk is due that finds
    /// what had changed before it.
    first: Option<(Instant, u64)>,
}

/// What to request of a content type.
struct Wanted {
    query: ContentQuery,
    locales: Vec<Locale>,
}

impl Probes {
    /// Sends the probes that are due, within the share of the CMS. Returns events about what has changed
    /// without one, for the caller to apply.
    pub async fn run(&mut self, cache: &SnapshotCache) -> Vec<CmsEvent> {
        let is_same = self.content.as_ptr() == Arc::as_ptr(&cache.content);
        if !is_same || !cache.content.may_change() || !are_walks_rare(cache) {
            // What changes until the next probe is found by walks.
            *self = Self { content: Arc::downgrade(&cache.content), ..Self::default() };
            return Vec::new();
        }
        if cache.content.circuit_open().is_some() {
            return Vec::new();
        }
        let openings = cache.content.breaker_state().map_or(0, |state| state.openings);
        if std::mem::replace(&mut self.openings, openings) != openings {
            for probed in self.by_type.values_mut() {
                (probed.later, probed.next, probed.is_after_outage) = (None, None, true);
            }
        }
        self.permit_walked(cache);
        if self.by_type.is_empty() || self.by_type.values().any(Probed::is_due) {
            let walks = &cache.triggers.background_walks;
            // The walk after an outage may take minutes.
            let beside = self.by_type.values().any(|probed| probed.is_after_outage);
            if !walks.permits_probe(Duration::ZERO, cache.cms_share(), beside) {
                return Vec::new();
            }
            let walk = walks.begin();
            self.wanted = wanted(cache).await;
            drop(walk);
            self.by_type.retain(|uid, _| self.wanted.contains_key(uid));
        }
        let mut events = Vec::new();
        for (uid, wanted) in &self.wanted {
            if cache.content.circuit_open().is_some() {
                break;
            }
            let probed = self.by_type.entry(uid.clone()).or_default();
            let mut is_first = false;
            if probed.is_due() {
                is_first = probed.request(cache, wanted).await;
            }
            let beside = probed.is_after_outage;
            let found = probed.judge(cache, uid, wanted.locales.len());
            // The first probe may have changes since the walk.
            let found = found.or_else(|| is_first.then_some(Unannounced::Nothing));
            let Some(mut found) = found else { continue };
            if found == Unannounced::Type {
                probed.unconfirmed.clear();
            } else {
                found.add(probed.confirm(cache, uid, beside).await);
            }
            events.extend(changes(uid, found));
        }
        self.walk_after_first(cache);
        events
    }

    /// Makes each content type due for a walk once, some time after its first probe.
    fn walk_after_first(&mut self, cache: &SnapshotCache) {
        let soft = cache.settings.freshness.soft;
        let mut due = Vec::new();
        for (uid, probed) in &mut self.by_type {
            let is_due = |(begun, total): &mut (Instant, u64)| {
                begun.elapsed() >= delay_after_first(*total, &walked(cache, uid)).min(soft)
            };
            if probed.first.take_if(is_due).is_some() {
                due.push(uid.to_string());
            }
        }
        if !due.is_empty() {
            cache.refresh_types(&due);
        }
    }

    /// Makes refused probes due of the content types that were walked since.
    fn permit_walked(&mut self, cache: &SnapshotCache) {
        for group in own_groups(cache) {
            let Some(probed) = self.by_type.get_mut(&group.query.uid) else { continue };
            let walked = |since| {
                let cached_snapshots =
                    group.members.iter().filter_map(|member| member.entry.cached());
                cached_snapshots.into_iter().any(|cached| cached.begun > since)
            };
            if probed.refused.is_some_and(walked) {
                (probed.refused, probed.next) = (None, None);
            }
        }
    }
}

impl Probed {
    /// Sends a probe if the share of the CMS permits it. Returns whether it is one to compare later ones
    /// with: the documents that it shows are to be compared with the snapshots.
    async fn request(&mut self, cache: &SnapshotCache, Wanted { query, locales }: &Wanted) -> bool {
        let walks = &cache.triggers.background_walks;
        if !walks.permits_probe(self.took, cache.cms_share(), self.is_after_outage) {
            return false;
        }
        let (begun, walk) = (Instant::now(), walks.begin());
        let found = cache.content.newest(query, locales, SIZE).await;
        drop(walk);
        // A walk may have waited for it.
        cache.triggers.wake_refresher();
        self.took = begun.elapsed();
        let is_refused = matches!(found, Err(ContentError::Setup(_)));
        self.refused = is_refused.then_some(begun);
        self.next = Some(begun + if is_refused { REFUSED_PERIOD } else { PERIOD });
        match found {
            Ok(Some(newest)) if !self.is_comparable(&newest) => {
                self.unconfirmed.extend(newest.versions.iter().map(|version| version.id.clone()));
                self.first = Some((begun, newest.total));
                self.newest = Some((newest, begun));
                return true;
            }
            Ok(newest) => self.later = newest.map(|newest| (newest, begun)),
            Err(error) => {
                let (uid, error) = (&query.uid, cache.content.detail(&error));
                tracing::debug!(%uid, error, "a content type could not be probed");
            }
        }
        false
    }

    /// Whether there is a probe before, by the same date.
    fn is_comparable(&self, newest: &Newest) -> bool {
        self.newest.as_ref().is_some_and(|(before, _)| before.field == newest.field)
    }

    /// What has changed between the last two probes without an event. `None`: there is no new probe, or
    /// the event about a difference may still arrive, and the next call compares them again.
    fn judge(
        &mut self,
        cache: &SnapshotCache,
        uid: &ContentTypeUid,
        locales: usize,
    ) -> Option<Unannounced> {
        let ((before, since), (now, at)) = (self.newest.as_ref()?, self.later.as_ref()?);
        let since = since.checked_sub(EVENT_DELAY).unwrap_or(*since);
        let named = cache.triggers.named.known_of(uid.as_str(), since);
        let found = unannounced(before, now, &named, locales);
        if found != Unannounced::Nothing && !self.is_after_outage && at.elapsed() < EVENT_DELAY {
            return None;
        }
        self.is_after_outage = false;
        self.newest = self.later.take();
        self.unconfirmed.extend(named);
        Some(found)
    }

    /// Reads the documents that events have named again, within the share, and with `beside` also while a
    /// walk is in flight: an event explains a difference, but the document may have changed once more.
    /// Returns those that differ from the snapshots. Those that could not be read are read after the next
    /// probe.
    async fn confirm(
        &mut self,
        cache: &SnapshotCache,
        uid: &ContentTypeUid,
        beside: bool,
    ) -> BTreeSet<String> {
        let mut different = BTreeSet::new();
        let groups: Vec<&TypeGroup> =
            own_groups(cache).filter(|group| group.query.uid == *uid).collect();
        while !self.unconfirmed.is_empty() {
            let walks = &cache.triggers.background_walks;
            if !walks.permits_probe(self.took, cache.cms_share(), beside) {
                break;
            }
            let _walk = walks.begin();
            let ids = self.unconfirmed.iter().take(CONFIRMED_AT_ONCE).cloned();
            let ids: BTreeSet<String> = ids.collect();
            let read = ids.iter().map(String::as_str).collect();
            for group in &groups {
                let Some(found) = differing(cache, group, &read).await else { return different };
                different.extend(found);
            }
            self.unconfirmed.retain(|id| !ids.contains(id));
        }
        cache.triggers.wake_refresher();
        different
    }

    fn is_due(&self) -> bool {
        self.later.is_none() && self.next.is_none_or(|next| next <= Instant::now())
    }
}

/// From the first probe of a content type to its walk. `total`: the versions that the probe has found;
/// `walked`: those of the snapshots, one of which has all that the CMS had.
fn delay_after_first(total: u64, walked: &[u64]) -> Duration {
    // The event about a difference may still arrive.
    let is_other = !walked.is_empty() && !walked.contains(&total);
    if is_other { EVENT_DELAY } else { WALK_AFTER_FIRST }
}

/// How many versions the snapshots of a content type have.
fn walked(cache: &SnapshotCache, uid: &ContentTypeUid) -> Vec<u64> {
    let members = own_groups(cache).filter(|group| group.query.uid == *uid);
    let cached = members.flat_map(|group| &group.members).filter_map(|one| one.entry.cached());
    cached.map(|one| (one.snapshot.len() + one.snapshot.no_url().len()) as u64).collect()
}

/// Whether walks are less frequent than the settings say without webhooks.
fn are_walks_rare(cache: &SnapshotCache) -> bool {
    cache.since_event().is_some_and(|since| since < HOUR)
        || cache.interval() > cache.settings.freshness.soft
}

/// The content types to probe: those that this instance walks, and those that their relations lead to.
async fn wanted(cache: &SnapshotCache) -> HashMap<ContentTypeUid, Wanted> {
    let mut all: HashMap<ContentTypeUid, Wanted> = HashMap::new();
    for group in own_groups(cache) {
        for target in targets(cache, group).await {
            let query = ContentQuery::new(target.clone(), Projection::new(Vec::new()));
            all.entry(target).or_insert_with(|| Wanted { query, locales: group.locales.clone() });
        }
    }
    for group in own_groups(cache) {
        // Its own conditions take the place of all documents.
        let wanted = Wanted { query: group.query.clone(), locales: group.locales.clone() };
        all.insert(wanted.query.uid.clone(), wanted);
    }
    all
}

fn own_groups(cache: &SnapshotCache) -> impl Iterator<Item = &TypeGroup> {
    let is_own = |group: &&TypeGroup| {
        let has_snapshot = group.members.iter().any(|member| member.entry.cached().is_some());
        has_snapshot && group.shared.refreshes_here()
    };
    cache.groups.values().map(|group| &**group).filter(is_own)
}

/// The content types that the relations of a group lead to, as far as that is known.
async fn targets(cache: &SnapshotCache, group: &TypeGroup) -> Vec<ContentTypeUid> {
    let (uid, mut found) = (&group.query.uid, Vec::new());
    for relation in group.relations() {
        found.extend(cache.target(uid, &relation).await);
    }
    found
}

/// The events about these changes of a content type.
fn changes(uid: &ContentTypeUid, found: Unannounced) -> Vec<CmsEvent> {
    let event = |change| CmsEvent { withdraws: false, change, is_found: true };
    match found {
        Unannounced::Nothing => Vec::new(),
        Unannounced::Documents(ids) => {
            let documents = ids.len();
            tracing::info!(%uid, documents, "documents have changed without a webhook: they are read");
            let document = |document_id| {
                let (uid, is_withdrawn) = (uid.to_string(), false);
                event(CmsChange::Document(Invalidation { uid, document_id, is_withdrawn }))
            };
            ids.into_iter().map(document).collect()
        }
        Unannounced::Type => {
            tracing::info!(%uid, "a content type has changed without a webhook: it is walked");
            vec![event(CmsChange::ContentTypes(vec![uid.to_string()]))]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walk_follows_the_first_probe_at_once_if_the_number_of_versions_has_changed_since_the_last() {
        for (total, walked, expected) in [
            (61, &[1][..], EVENT_DELAY),
            (1, &[1], WALK_AFTER_FIRST),
            // Another site lists some of them alone.
            (61, &[20, 61], WALK_AFTER_FIRST),
            // No site lists the type.
            (61, &[], WALK_AFTER_FIRST),
        ] {
            assert_eq!(delay_after_first(total, walked), expected, "{total} {walked:?}");
        }
    }
}
