//! Incremental updates: single documents of a snapshot are replaced.

use rustc_hash::{FxHashMap, FxHashSet};

use super::build::{Builder, Listing};
use super::hash::{document_hash, path_hash};
use super::references::locale_of;
use super::{PublicUrl, Rank, Snapshot};
use crate::rules::{Document, Locales};

/// The current state of one document.
#[derive(Clone, Debug)]
pub struct Patch {
    /// The `documentId`.
    pub id: String,
    /// Published versions in the site's locales.
    pub versions: Vec<Document<'static>>,
    /// Whether versions in other locales stay as they are; otherwise `versions` are all.
    pub is_partial: bool,
}

impl Patch {
    /// Adds what was read later.
    pub fn add(&mut self, later: &Self) {
        if later.is_partial {
            let is_later =
                |one: &Document<'_>| later.versions.iter().any(|new| new.locale == one.locale);
            self.versions.retain(|version| !is_later(version));
            self.versions.extend(later.versions.iter().cloned());
        } else {
            self.clone_from(later);
        }
    }
}

/// The result of an incremental update.
#[derive(Debug)]
pub enum Patched {
    /// The snapshot is as it was, as when an editor publishes an equal version.
    Unchanged,
    /// The snapshot with the documents replaced.
    Changed(Box<Snapshot>),
    /// Only a walk can determine the result: there is too much text, or another version than before
    /// would own a shared path, possibly a version of a document that has no entry in the snapshot.
    NeedsWalk,
}

/// The versions that patches replace.
struct Replaced<'p> {
    /// The ids of documents of which all versions are replaced.
    documents: FxHashSet<&'p str>,
    /// The ids and locales of single versions.
    versions: FxHashSet<(&'p str, usize)>,
    document_hashes: FxHashSet<u64>,
    version_hashes: FxHashSet<(u64, usize)>,
}

impl<'p> Replaced<'p> {
    fn new(patches: &'p [Patch], locales: &Locales) -> Self {
        let (partial, whole): (Vec<&Patch>, Vec<&Patch>) =
            patches.iter().partition(|patch| patch.is_partial);
        let documents: FxHashSet<&str> = whole.iter().map(|patch| &*patch.id).collect();
        let versions = partial.iter().flat_map(|patch| {
            let at = |version| Some((&*patch.id, locale_of(version, locales)? as usize));
            patch.versions.iter().filter_map(at)
        });
        let versions: FxHashSet<(&str, usize)> = versions.collect();
        let document_hashes = documents.iter().map(|id| document_hash(id)).collect();
        let version_hashes =
            versions.iter().map(|(id, locale)| (document_hash(id), *locale)).collect();
        Self { documents, versions, document_hashes, version_hashes }
    }

    fn has(&self, url: &PublicUrl<'_>) -> bool {
        let id = url.document_id();
        self.documents.contains(id) || self.versions.contains(&(id, url.locale()))
    }

    fn has_hash(&self, document: u64, locale: usize) -> bool {
        self.document_hashes.contains(&document)
            || self.version_hashes.contains(&(document, locale))
    }
}

impl Snapshot {
    /// The snapshot with these documents replaced, one patch for each. Skipped documents are counted
    /// as before.
    #[must_use]
    pub fn patched(&self, patches: &[Patch], listing: Listing<'_>, builder: Builder) -> Patched {
        self.try_patched(patches, listing, builder).unwrap_or(Patched::NeedsWalk)
    }

    fn try_patched(
        &self,
        patches: &[Patch],
        listing: Listing<'_>,
        builder: Builder,
    ) -> Option<Patched> {
        let replaced = Replaced::new(patches, listing.rules.locales());
        let mut own = listing.part();
        for version in patches.iter().flat_map(|document| &document.versions) {
            own.add(version);
        }
        let own = Builder { path_table: false }.finish(vec![own]).ok()?;
        let before: Vec<PublicUrl<'_>> = self.urls().filter(|url| replaced.has(url)).collect();
        let has_hash = |document, locale| replaced.has_hash(document, locale);
        let is_same = before.iter().copied().map(facts).eq(own.urls().map(facts))
            && self.references.of(has_hash) == own.references.of(|_, _| true);
        if is_same {
            return Some(Patched::Unchanged);
        }
        let is_shared = |url: &PublicUrl<'_>| self.shared.contains(&path_hash(url.path()));
        if !keeps(&own, before.iter().copied().filter(is_shared)) {
            return None;
        }
        let mut all = listing.part();
        self.urls()
            .filter(|url| !replaced.has(url))
            .chain(own.urls())
            .for_each(|url| all.keep(url));
        let mut snapshot = builder.finish(vec![all]).ok()?;
        snapshot.duplicates += self.duplicates + own.duplicates;
        snapshot.shared.extend(self.shared.iter().chain(&own.shared));
        snapshot.skipped.clone_from(&self.skipped);
        let new = std::mem::take(&mut snapshot.references);
        snapshot.references = self.references.replaced(&own.references, &new, has_hash);
        Some(Patched::Changed(Box::new(snapshot)))
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
