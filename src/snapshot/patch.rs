//! Incremental updates: single documents of a snapshot are replaced.

use rustc_hash::{FxHashMap, FxHashSet};

use super::build::{Builder, Listing, path_hash};
use super::{PublicUrl, Rank, Snapshot};
use crate::rules::Document;

/// The current state of one document.
#[derive(Clone, Debug)]
pub struct Patch {
    /// The `documentId`.
    pub id: String,
    /// All published versions in the site's locales.
    pub versions: Vec<Document<'static>>,
}

impl Snapshot {
    /// The snapshot with these documents replaced. Skipped documents are counted as before.
    ///
    /// `None` if that changes nothing, as when an editor saves a draft. Also `None` if only a walk
    /// can determine the result: there is too much text, or another version than before would own a
    /// shared path, possibly a version of a document that has no entry in this snapshot.
    #[must_use]
    pub fn patched(
        &self,
        patches: &[Patch],
        listing: Listing<'_>,
        builder: Builder,
    ) -> Option<Self> {
        let mut own = listing.part();
        for version in patches.iter().flat_map(|document| &document.versions) {
            own.add(version);
        }
        let own = Builder { path_table: false }.finish(vec![own]).ok()?;
        let ids: FxHashSet<&str> = patches.iter().map(|document| &*document.id).collect();
        let is_own = |url: &PublicUrl<'_>| ids.contains(url.document_id());
        let before: Vec<PublicUrl<'_>> = self.urls().filter(is_own).collect();
        let is_same = before.iter().copied().map(facts).eq(own.urls().map(facts));
        let is_shared = |url: &PublicUrl<'_>| self.shared.contains(&path_hash(url.path()));
        if is_same || !keeps(&own, before.iter().copied().filter(is_shared)) {
            return None;
        }
        let mut all = listing.part();
        self.urls().filter(|url| !is_own(url)).chain(own.urls()).for_each(|url| all.keep(url));
        let mut snapshot = builder.finish(vec![all]).ok()?;
        snapshot.duplicates += self.duplicates + own.duplicates;
        snapshot.shared.extend(self.shared.iter().chain(&own.shared));
        snapshot.skipped.clone_from(&self.skipped);
        Some(snapshot)
    }

    fn urls(&self) -> impl Iterator<Item = PublicUrl<'_>> {
        (0..self.len()).map(|at| self.url(at))
    }
}

/// Whether these URLs have all the paths of `before`, each for a version of the same rank or a lower
/// one.
fn keeps<'s>(own: &Snapshot, mut before: impl Iterator<Item = PublicUrl<'s>>) -> bool {
    let ranks: FxHashMap<&str, Rank<'_>> = own.urls().map(|url| (url.path(), url.rank())).collect();
    before.all(|url| ranks.get(url.path()).is_some_and(|rank| *rank <= url.rank()))
}

/// Everything that makes two URLs equal.
fn facts(url: PublicUrl<'_>) -> (&str, Rank<'_>, usize, bool, Option<i64>) {
    (url.path(), url.rank(), url.rule(), url.is_listed(), url.modified())
}
