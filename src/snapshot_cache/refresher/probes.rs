//! Probes of the CMS: how many versions a content type has, and which are the newest. They notice
//! changes that no event has announced: imports into the database, restored dumps, lost webhooks.

mod unannounced;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::content::{Content, ContentError, ContentQuery, Newest, Projection};
use crate::rules::{ContentTypeUid, FieldPath, Locale};
use crate::snapshot_cache::SnapshotCache;
use crate::snapshot_cache::invalidation::{Change, Invalidation};
use crate::snapshot_cache::refresh::TypeGroup;
use unannounced::{Unannounced, unannounced};

/// From one probe of a content type to the next one.
const PERIOD: Duration = Duration::from_secs(30);
/// The same after a refused or unusable response: the settings or the token have to change first.
const REFUSED_PERIOD: Duration = Duration::from_mins(10);
/// How often it is checked whether a probe is due.
const TICK: Duration = Duration::from_secs(1);
/// How long a change waits for its event: a busy Strapi sends it late. Events that precede what a
/// probe has seen of their change by less than this count for the next one, too.
const EVENT_DELAY: Duration = Duration::from_secs(5);
/// The versions that a probe reads.
const SIZE: usize = 25;
/// After a webhook event, webhooks are in use for this long.
const HOUR: Duration = Duration::from_hours(1);

/// Probes the content types that this instance walks, and those that their relations lead to, while
/// walks are less frequent than `snapshots.soft_seconds` says. Works on the current cache until it is
/// dropped.
pub async fn probe_changes(current: impl Fn() -> Arc<SnapshotCache>) {
    let mut probes = Probes::new(&current().content);
    loop {
        sleep(TICK).await;
        let cache = current();
        if !Arc::ptr_eq(&probes.content, &cache.content) {
            probes = Probes::new(&cache.content);
        }
        probes.run(&cache).await;
    }
}

/// The last probes of the content types.
struct Probes {
    content: Arc<Content>,
    by_type: HashMap<ContentTypeUid, Probed>,
}

/// The last probe of a content type.
#[derive(Default)]
struct Probed {
    /// What it has found, and when it began; `None`: no probe has succeeded yet.
    newest: Option<(Newest, Instant)>,
    /// What a later one has found that differs, and when it began. It waits for the events.
    later: Option<(Newest, Instant)>,
    /// When the next one is due.
    next: Option<Instant>,
    /// How long the last one took.
    took: Duration,
}

/// What to request of a content type.
struct Wanted {
    query: ContentQuery,
    locales: Vec<Locale>,
}

impl Probes {
    fn new(content: &Arc<Content>) -> Self {
        Self { content: Arc::clone(content), by_type: HashMap::new() }
    }

    async fn run(&mut self, cache: &SnapshotCache) {
        if !cache.content.may_change() || !are_walks_rare(cache) {
            // What changes until the next probe is found by walks.
            self.by_type.clear();
            return;
        }
        let wanted = wanted(cache).await;
        self.by_type.retain(|uid, _| wanted.contains_key(uid));
        for (uid, wanted) in &wanted {
            if cache.content.circuit_open().is_some() {
                return;
            }
            let probed = self.by_type.entry(uid.clone()).or_default();
            if probed.later.is_none() && probed.next.is_none_or(|next| next <= Instant::now()) {
                probed.request(cache, wanted).await;
            }
            probed.judge(cache, uid, wanted.locales.len());
        }
    }
}

impl Probed {
    /// Sends a probe if the share of the CMS permits it.
    async fn request(&mut self, cache: &SnapshotCache, Wanted { query, locales }: &Wanted) {
        let walks = &cache.triggers.background_walks;
        if walks.wait(self.took, cache.cms_share()) != Some(Duration::ZERO) {
            return;
        }
        let Some(locale) = locales.first() else { return };
        let (begun, walk) = (Instant::now(), walks.begin());
        let found = cache.content.newest(query, locale, SIZE).await;
        drop(walk);
        self.took = begun.elapsed();
        let is_refused = matches!(found, Err(ContentError::Setup(_) | ContentError::Unusable(_)));
        self.next = Some(begun + if is_refused { REFUSED_PERIOD } else { PERIOD });
        match found {
            Ok(Some(newest)) if self.newest.is_none() => self.newest = Some((newest, begun)),
            Ok(newest) => self.later = newest.map(|newest| (newest, begun)),
            Err(error) => {
                let (uid, error) = (&query.uid, cache.content.detail(&error));
                tracing::debug!(%uid, error, "a content type could not be probed");
            }
        }
    }

    /// Compares the last two probes. A difference without an event counts once the event is late.
    fn judge(&mut self, cache: &SnapshotCache, uid: &ContentTypeUid, locales: usize) {
        let (Some((before, since)), Some((now, at))) = (&self.newest, &self.later) else { return };
        let since = since.checked_sub(EVENT_DELAY).unwrap_or(*since);
        let named = cache.triggers.named_since(uid.as_str(), since);
        let found = match named {
            Some(named) => unannounced(before, now, &named, locales),
            // All types are walked.
            None => Unannounced::Nothing,
        };
        if found != Unannounced::Nothing && at.elapsed() < EVENT_DELAY {
            return;
        }
        self.newest = self.later.take();
        update(cache, uid, found);
    }
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
            let query = ContentQuery {
                uid: target.clone(),
                projection: dates(),
                alternatives: Vec::new(),
                selection: None,
            };
            all.entry(target).or_insert_with(|| Wanted { query, locales: group.locales.clone() });
        }
    }
    for group in own_groups(cache) {
        let query = ContentQuery { projection: dates(), ..group.query.clone() };
        // Its own conditions take the place of all documents.
        all.insert(query.uid.clone(), Wanted { query, locales: group.locales.clone() });
    }
    // A single type has no list: a read of it is as cheap as a probe.
    all.retain(|uid, _| !cache.content.is_single_type(uid));
    all
}

fn dates() -> Projection {
    Projection::new(vec![FieldPath::parse(Newest::DATE).expect("a field name")])
}

fn own_groups(cache: &SnapshotCache) -> impl Iterator<Item = &TypeGroup> {
    let is_own = |group: &&TypeGroup| {
        let has_copy = group.members.iter().any(|(_, entry)| entry.copy().is_some());
        has_copy && group.lists.refreshes_here()
    };
    cache.groups.values().map(|group| &**group).filter(is_own)
}

/// The content types that the relations of a group lead to, as far as that is known.
async fn targets(cache: &SnapshotCache, group: &TypeGroup) -> Vec<ContentTypeUid> {
    let (uid, mut found) = (&group.query.uid, Vec::new());
    for relation in group.relations() {
        let known = cache.triggers.targets.lock().target(uid, &relation).map(str::to_owned);
        let known = known.and_then(|known| ContentTypeUid::parse(&known).ok());
        let found_in_schema = match known {
            Some(known) => {
                found.push(known);
                continue;
            }
            None => cache.content.target(uid, &relation).await,
        };
        if let Some(target) = found_in_schema {
            cache.triggers.targets.lock().leads(uid, &relation, target.as_str());
            found.push(target);
        }
    }
    found
}

/// Lets what has changed without an event be read.
fn update(cache: &SnapshotCache, uid: &ContentTypeUid, found: Unannounced) {
    match found {
        Unannounced::Nothing => {}
        Unannounced::Documents(ids) => {
            let documents = ids.len();
            tracing::info!(%uid, documents, "documents were published without an event and are read");
            for document_id in ids {
                let uid = uid.to_string();
                cache.invalidate(Some(Invalidation { uid, document_id, change: Change::Written }));
            }
        }
        Unannounced::Type => {
            tracing::info!(%uid, "the CMS has changes without an event: the lists are refreshed");
            for group in own_groups(cache) {
                let targets = cache.triggers.targets.lock();
                let is_target = |relation: &FieldPath| {
                    targets.target(&group.query.uid, relation) == Some(uid.as_str())
                };
                if group.query.uid == *uid || group.relations().iter().any(is_target) {
                    group.members.iter().for_each(|(_, entry)| entry.make_due());
                }
            }
            cache.triggers.wake_refresher();
        }
    }
}
