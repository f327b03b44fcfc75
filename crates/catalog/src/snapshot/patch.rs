//! Incremental updates: single documents of a snapshot are replaced.

mod delta;

pub(super) use delta::Change;
pub use delta::{Delta, OtherSnapshot};

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::build::{Builder, Claims, Draft, Listing, NoSnapshot, OwnersFrom};
use super::hash::document_hash;
use super::references::locale_of;
use super::{PublicUrl, Snapshot};
use frontend_map_rules::{Document, Locales};

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
    /// Only a walk can determine the result: there is too much text, or a document lacks a key that
    /// decides.
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
        let single = partial.iter().flat_map(|patch| &patch.versions);
        let versions: FxHashSet<(&str, usize)> = single
            .filter_map(|version| Some((&*version.id, locale_of(version, locales)? as usize)))
            .collect();
        Self {
            document_hashes: documents.iter().map(|id| document_hash(id)).collect(),
            version_hashes: versions.iter().map(|(id, at)| (document_hash(id), *at)).collect(),
            documents,
            versions,
        }
    }

    fn has(&self, id: &str, locale: Option<usize>) -> bool {
        self.documents.contains(id)
            || locale.is_some_and(|locale| self.versions.contains(&(id, locale)))
    }

    fn has_hash(&self, document: u64, locale: usize) -> bool {
        self.document_hashes.contains(&document)
            || self.version_hashes.contains(&(document, locale))
    }
}

impl Snapshot {
    /// The snapshot with these documents replaced, one patch for each. Owners keep their paths.
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
        if self.has_same(&replaced, &own) {
            return Some(Patched::Unchanged);
        }
        let mut draft = self.merged(&own, |id, locale| replaced.has(id, locale)).ok()?;
        draft.without_row.clone_from(&self.without_row);
        let is_own = |document, locale| replaced.has_hash(document, locale);
        draft.references = self.references.replaced(&own.references, is_own);
        let claims = Claims::after(self);
        let snapshot = builder.finish_draft(draft, OwnersFrom::Claims(&claims)).ok()?;
        Some(Patched::Changed(Box::new(snapshot)))
    }

    /// The URLs and rows of this snapshot, those for which `is_replaced` holds replaced by those of
    /// `own`. The draft has nothing else yet.
    fn merged(
        &self,
        own: &Self,
        is_replaced: impl Fn(&str, Option<usize>) -> bool,
    ) -> Result<Draft, NoSnapshot> {
        let mut draft = Draft { hosts: self.hosts.clone(), ..Draft::default() };
        let kept = self.urls().filter(|url| !is_replaced(url.document_id(), Some(url.locale())));
        for url in kept.chain(own.urls()) {
            draft.keep(url)?;
        }
        let kept = self.no_url().filter(|row| !is_replaced(row.document_id, row.locale));
        for row in kept.chain(own.no_url()) {
            draft.keep_no_url(row)?;
        }
        Ok(draft)
    }

    /// Whether the replaced versions are those of `own`.
    fn has_same(&self, replaced: &Replaced<'_>, own: &Self) -> bool {
        let urls = self.urls().filter(|url| replaced.has(url.document_id(), Some(url.locale())));
        let rows = self.no_url().filter(|row| replaced.has(row.document_id, row.locale));
        let is_own = |document, locale| replaced.has_hash(document, locale);
        urls.map(facts).collect::<BTreeSet<_>>() == own.urls().map(facts).collect::<BTreeSet<_>>()
            && rows.eq(own.no_url())
            && self.references.of(is_own) == own.references.of(|_, _| true)
    }
}

/// Everything that makes two URLs equal.
fn facts(url: PublicUrl<'_>) -> impl Ord {
    (url.document_id(), url.entry().facts(&url.snapshot.arena))
}
