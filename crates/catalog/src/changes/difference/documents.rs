//! The changes after an incremental update, without a look at all other documents.

use rustc_hash::FxHashSet;

use super::{Change, Difference};
use crate::snapshot::{PublicUrl, Snapshot};

impl<'s> Difference<'s> {
    /// The changes of snapshots that differ in these documents alone. Takes time in proportion to
    /// their number, if the snapshots have path tables.
    ///
    /// Another document changes with them where it gets a path that one of them had, or loses its path
    /// to one of them.
    pub fn of_documents(&self, ids: &[&str]) -> impl Iterator<Item = Change<'s>> + use<'s, '_> {
        let (before, after) = (self.before.snapshot, self.after.snapshot);
        let has_tables = before.has_path_table() && after.has_path_table();
        let all = (!has_tables).then(|| self.all());
        let mut wanted: Vec<&'s str> = Vec::new();
        if has_tables {
            for id in ids {
                for (one, other) in [(before, after), (after, before)] {
                    let own = one.versions_of(id);
                    wanted.extend(own.clone().take(1).map(PublicUrl::document_id));
                    wanted.extend(own.filter_map(|url| Some(same_path(other, url)?.document_id())));
                }
            }
        }
        let mut seen = FxHashSet::default();
        wanted.retain(|id| seen.insert(*id));
        let changes = move |id: &str| {
            self.of_document(Some(before.versions_of(id)), Some(after.versions_of(id)))
        };
        all.into_iter().flatten().chain(wanted.into_iter().flat_map(changes))
    }
}

/// The owner of a URL's path in another snapshot by the same rules.
fn same_path<'o>(other: &'o Snapshot, url: PublicUrl<'_>) -> Option<PublicUrl<'o>> {
    other.owner_on(url.path(), Some(url.host()))
}
