//! Edits that a walk, or a read of single documents, has found and no webhook event has announced.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::block_in_place;
use tokio::time::sleep;

use super::Member;
use crate::cached_snapshot::CachedSnapshot;
use crate::entry::Entry;
use crate::site_cache::SiteCache;
use crate::triggers::RefreshTriggers;
use frontend_map_catalog::changes::difference::{Change, Difference, LocaleNames, Side};
use frontend_map_catalog::snapshot::{PublicUrl, Snapshot};

/// How long after a read the event of an edit may still arrive that the read has found.
const EVENT_DELAY: Duration = Duration::from_secs(10);
/// The most documents of a walk that are counted.
const MAX_COUNTED: usize = 10_000;

/// Documents that have changed, for all that is known without an event.
pub(crate) struct Suspects {
    documents: HashSet<String>,
    /// When the walk of the snapshot before began.
    since: Instant,
}

/// The documents that a walk has found to differ from the snapshot before, which has the changes of
/// all events that were applied. `None`: there are none, or that is not known.
pub(crate) fn suspects(
    Member { site, entry }: &Member,
    before: &CachedSnapshot,
    after: &Snapshot,
    triggers: &RefreshTriggers,
) -> Option<Suspects> {
    let since = before.begun;
    triggers.named.all_since(since)?;
    let locales = LocaleNames::of(site.site.rules.locales(), &site.site.hosts);
    let after_side = Side { snapshot: after, locales: &locales };
    let difference = Difference::of_edits(&before.snapshot, after_side).without_titles();
    let mut documents = HashSet::new();
    for change in difference.all() {
        let (Change::Added(version)
        | Change::Moved { after: version, .. }
        | Change::Gone(version)
        | Change::Updated(version)) = change;
        if documents.len() < MAX_COUNTED && !documents.contains(version.document_id()) {
            documents.insert(version.document_id().to_owned());
        }
    }
    let suspects = Suspects { documents, since };
    suspects.not_announced(site, entry, [&before.snapshot, after], triggers)
}

/// The documents among these that were read again and differ from the snapshot before, for all
/// that is known without an event. `None`: there are none, or that is not known.
pub(crate) fn suspects_among(
    Member { site, entry }: &Member,
    ids: &[&str],
    before: &CachedSnapshot,
    after: &Snapshot,
    triggers: &RefreshTriggers,
) -> Option<Suspects> {
    let (uid, since) = (entry.query.uid.as_str(), before.begun);
    let facts = |url: PublicUrl<'_>| {
        (url.locale(), url.path().to_owned(), url.rule(), url.is_listed(), url.modified())
    };
    let versions =
        |snapshot: &Snapshot, id: &str| snapshot.versions_of(id).map(facts).collect::<Vec<_>>();
    let not_named = triggers.named.not_named(uid, ids, since).into_iter();
    let changed = not_named.filter(|id| versions(&before.snapshot, id) != versions(after, id));
    let documents = changed.map(str::to_owned).collect();
    let suspects = Suspects { documents, since };
    suspects.not_announced(site, entry, [&before.snapshot, after], triggers)
}

/// Counts those that no event has named when the last one may have arrived.
pub(crate) async fn count_later(
    mut suspects: Suspects,
    Member { site, entry }: Member,
    triggers: Arc<RefreshTriggers>,
) {
    sleep(EVENT_DELAY).await;
    let Some(cached) = entry.cached() else { return };
    let snapshots = [&*cached.snapshot];
    let known = block_in_place(|| suspects.clear_announced(&site, &entry, &snapshots, &triggers));
    if known.is_none() {
        return;
    }
    let documents = suspects.documents.len();
    if documents > 0 {
        entry.counters.unannounced.inc_by(documents as u64);
        let (site, uid) = (&entry.site, entry.query.uid.as_str());
        tracing::debug!(site, uid, documents, "edits without a webhook were found");
    }
}

impl Suspects {
    /// The suspects that no event has announced so far; `None`: there are none, or that is not
    /// known.
    fn not_announced(
        mut self,
        site: &SiteCache,
        entry: &Entry,
        snapshots: [&Snapshot; 2],
        triggers: &RefreshTriggers,
    ) -> Option<Self> {
        if !self.documents.is_empty() {
            self.clear_announced(site, entry, &snapshots, triggers)?;
        }
        (!self.documents.is_empty()).then_some(self)
    }

    /// Drops the documents that events have named, and those that read one of these in one of the
    /// snapshots. `None`: any document may have been meant.
    fn clear_announced(
        &mut self,
        site: &SiteCache,
        entry: &Entry,
        snapshots: &[&Snapshot],
        triggers: &RefreshTriggers,
    ) -> Option<()> {
        let named = triggers.named.all_since(self.since)?;
        self.documents.retain(|id| !named.contains(id));
        let relations = site.site.rules.relations(entry.query.uid.as_str());
        for snapshot in snapshots {
            for relation in &relations {
                for id in &named {
                    for (dependent, _) in snapshot.referring(relation, id) {
                        self.documents.remove(dependent);
                    }
                }
            }
        }
        Some(())
    }
}
