//! Edits that a walk has found and no webhook event has announced.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::path_changes::{Change, Difference, LocaleNames, Side};
use crate::snapshot::Snapshot;
use crate::snapshot_cache::copy::CachedCopy;
use crate::snapshot_cache::entry::Entry;
use crate::snapshot_cache::site_cache::SiteCache;
use crate::snapshot_cache::triggers::RefreshTriggers;

/// How long after a walk the event of an edit may still arrive that the walk has found.
const EVENT_DELAY: Duration = Duration::from_secs(10);
/// The most documents of a walk that are counted.
const MAX_COUNTED: usize = 10_000;

/// Documents that have changed, for all that is known without an event.
pub(super) struct Suspects {
    documents: HashSet<String>,
    /// When the walk of the copy before began.
    since: Instant,
}

/// The documents that a walk has found to differ from the copy before, which has the changes of all
/// events that were applied. `None`: there are none, or that is not known.
pub(super) fn suspects(
    site: &SiteCache,
    entry: &Entry,
    before: &CachedCopy,
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
    let mut suspects = Suspects { documents, since };
    suspects.clear_announced(site, entry, &[&before.snapshot, after], triggers)?;
    (!suspects.documents.is_empty()).then_some(suspects)
}

/// Counts those that no event has named when the last one may have arrived.
pub(super) async fn count_later(
    mut suspects: Suspects,
    site: Arc<SiteCache>,
    entry: Arc<Entry>,
    triggers: Arc<RefreshTriggers>,
) {
    sleep(EVENT_DELAY).await;
    let Some(copy) = entry.copy() else { return };
    if suspects.clear_announced(&site, &entry, &[&copy.snapshot], &triggers).is_none() {
        return;
    }
    let documents = suspects.documents.len();
    if documents > 0 {
        entry.counters.unannounced.inc_by(documents as u64);
        let (site, uid) = (&entry.site, entry.query.uid.as_str());
        tracing::debug!(site, uid, documents, "a walk has found edits without a webhook");
    }
}

impl Suspects {
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
