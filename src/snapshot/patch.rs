//! Incremental updates: single documents of a snapshot are replaced.

use rustc_hash::{FxHashMap, FxHashSet};

use super::arena::Arena;
use super::build::{Builder, Listing};
use super::flags::LOCALIZED;
use super::hash::{document_hash, path_hash};
use super::references::locale_of;
use super::{Entry, PublicUrl, Rank, Snapshot};
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

/// Everything that makes two versions equal: path, rank, rule, whether it is localized, date.
type Facts<'s> = (&'s str, Rank<'s>, u32, bool, i64);

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

    fn has(&self, entry: &Entry, arena: &Arena) -> bool {
        let id = entry.id(arena);
        self.documents.contains(id) || self.versions.contains(&(id, entry.locale.into()))
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
        let locales = listing.rules.locales();
        let versions = patches.iter().flat_map(|document| &document.versions);
        versions.filter(|one| !one.locale.is_of_other_site(locales)).for_each(|one| own.add(one));
        let own = Builder { path_table: false }.finish(vec![own]).ok()?;
        let has_hash = |document, locale| replaced.has_hash(document, locale);
        let is_replaced = |entry: &&Entry| replaced.has(entry, &self.arena);
        let is_same = self.facts(is_replaced) == own.facts(|_| true)
            && self.references.of(has_hash) == own.references.of(|_, _| true);
        if is_same {
            return Some(Patched::Unchanged);
        }
        let is_shared = |url: &PublicUrl<'_>| self.shared.contains(&path_hash(url.path()));
        let before = self.urls().filter(|url| is_replaced(&url.entry()));
        if !keeps(&own, before.filter(is_shared)) {
            return None;
        }
        let mut all = listing.part();
        let kept = self.versions().filter(|entry| !is_replaced(entry));
        kept.for_each(|entry| all.keep(*entry, &self.arena));
        own.versions().for_each(|entry| all.keep(*entry, &own.arena));
        let mut snapshot = builder.finish(vec![all]).ok()?;
        snapshot.skipped.clone_from(&self.skipped);
        let new = std::mem::take(&mut snapshot.references);
        snapshot.references = self.references.replaced(&own.references, &new, has_hash);
        Some(Patched::Changed(Box::new(snapshot)))
    }

    /// All versions with a URL, those whose path belongs to another one included.
    fn versions(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().chain(&self.others)
    }

    /// The facts about these versions, in order.
    fn facts(&self, is_wanted: impl Fn(&&Entry) -> bool) -> Vec<Facts<'_>> {
        let facts = |entry: &Entry| {
            let rank = entry.rank(&self.arena);
            (entry.path(&self.arena), rank, entry.rule, entry.flags.has(LOCALIZED), entry.modified)
        };
        let mut facts: Vec<Facts<'_>> = self.versions().filter(is_wanted).map(facts).collect();
        facts.sort_unstable();
        facts
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
