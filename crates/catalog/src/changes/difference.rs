//! The difference between two snapshots of one content type of one site: which versions have been
//! added, have moved to another path, are gone, or have changed at the same path.
//!
//! A version counts at the path that it owns: one whose path another version owns has none. The
//! snapshots may have been built by different rules, and by different locales of the site.
//!
//! Two snapshots are compared in one pass, because the documents of all snapshots have one order. After an
//! incremental update only the documents that were read again are compared, and the owners of their
//! paths, by the path tables.

#[cfg(test)]
pub(crate) mod fixture;
mod locale_names;

use itertools::{EitherOrBoth, Itertools};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::snapshot::{PublicUrl, Snapshot, Versions};

pub use locale_names::LocaleNames;

/// A snapshot, and the names of its locales and hosts.
#[derive(Clone, Copy, Debug)]
pub struct Side<'s> {
    /// The snapshot.
    pub snapshot: &'s Snapshot,
    /// The locales of the site by whose settings it was built.
    pub locales: &'s LocaleNames,
}

/// What has happened to a version of a document.
#[derive(Clone, Copy, Debug)]
pub enum Change<'s> {
    /// It has a path, and had none.
    Added(PublicUrl<'s>),
    /// It has another path, or its path is on another host.
    Moved {
        /// Where it was.
        before: PublicUrl<'s>,
        /// Where it is.
        after: PublicUrl<'s>,
    },
    /// It had a path, and has none.
    Gone(PublicUrl<'s>),
    /// It has the same path; its title, its date, its place in sitemaps, or where it leads has changed.
    Updated(PublicUrl<'s>),
}

/// The changes of one document.
type Changes<'s> = SmallVec<[Change<'s>; 4]>;

/// The difference between two snapshots.
#[derive(Debug)]
pub struct Difference<'s> {
    before: Side<'s>,
    after: Side<'s>,
    /// For each locale of the first snapshot, its position in the second one.
    locales: Vec<Option<usize>>,
    /// Whether both were built by the same rules.
    same_rules: bool,
    /// Whether both have the titles of their versions.
    with_titles: bool,
}

impl<'s> Difference<'s> {
    /// The difference between two snapshots that the same settings of a site have built.
    pub fn of_edits(before: &'s Snapshot, after: Side<'s>) -> Self {
        let before = Side { snapshot: before, ..after };
        Self { same_rules: true, ..Self::of_rules(before, after) }
    }

    /// The difference between two snapshots that different settings of a site have built.
    pub fn of_rules(before: Side<'s>, after: Side<'s>) -> Self {
        let locales = before.locales.positions_in(after.locales);
        Self { before, after, locales, same_rules: false, with_titles: true }
    }

    /// This difference without a look at titles, which stored snapshots do not have.
    pub fn without_titles(self) -> Self {
        Self { with_titles: false, ..self }
    }

    /// The side from before.
    pub fn before(&self) -> Side<'s> {
        self.before
    }

    /// The side from after.
    pub fn after(&self) -> Side<'s> {
        self.after
    }

    /// All changes, document by document. Takes time in proportion to the snapshots, unless they are
    /// known to be equal.
    pub fn all(&self) -> impl Iterator<Item = Change<'s>> + use<'s, '_> {
        self.pairs().flat_map(|(before, after)| self.of_document(before, after))
    }

    /// All changes, from a difference that is needed no more.
    pub fn into_all(self) -> impl Iterator<Item = Change<'s>> + use<'s> {
        self.pairs().flat_map(move |(before, after)| self.of_document(before, after))
    }

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

    /// The documents of both sides, those with the same id together; none if the sides are known to be
    /// equal.
    fn pairs(
        &self,
    ) -> impl Iterator<Item = (Option<Versions<'s>>, Option<Versions<'s>>)> + use<'s> {
        let (before, after) = (self.before.snapshot, self.after.snapshot);
        // The hash covers everything that decides, but not the titles.
        let are_equal = self.same_rules
            && before.urls_hash() == after.urls_hash()
            && !(self.with_titles && (before.has_titles() || after.has_titles()));
        let end = |snapshot: &Snapshot| if are_equal { 0 } else { snapshot.len() };
        let (before, after) = (before.documents(0..end(before)), after.documents(0..end(after)));
        let documents = before.merge_join_by(after, |before, after| {
            before.document_order().cmp(&after.document_order())
        });
        documents.map(EitherOrBoth::left_and_right)
    }

    /// The version from before of one that both sides have.
    pub fn before_of(&self, after: PublicUrl<'_>) -> Option<PublicUrl<'s>> {
        let mut versions = self.before.snapshot.versions_of(after.document_id());
        versions.find(|before| self.is_same_version(*before, after))
    }

    /// The changes of one document, from its versions on both sides.
    fn of_document(
        &self,
        before: Option<Versions<'s>>,
        after: Option<Versions<'s>>,
    ) -> Changes<'s> {
        let mut new: SmallVec<[PublicUrl<'s>; 4]> = after.into_iter().flatten().collect();
        let mut changes = Changes::new();
        for old in before.into_iter().flatten() {
            match new.iter().position(|new| self.is_same_version(old, *new)) {
                Some(at) => changes.extend(self.of_version(old, new.remove(at))),
                None => changes.push(Change::Gone(old)),
            }
        }
        changes.extend(new.into_iter().map(Change::Added));
        changes
    }

    /// Whether two URLs of a document are those of one version: of one locale, or of the only version
    /// of a document that is not localized, whichever locale is the site's first one.
    fn is_same_version(&self, before: PublicUrl<'_>, after: PublicUrl<'_>) -> bool {
        let same_locale = self.locales[before.locale()] == Some(after.locale());
        same_locale || (!before.is_localized() && !after.is_localized())
    }

    fn of_version(&self, before: PublicUrl<'s>, after: PublicUrl<'s>) -> Option<Change<'s>> {
        let host = |side: Side<'s>, url: PublicUrl<'_>| {
            self.after.locales.host_among(side.locales, url.locale())
        };
        if before.path() != after.path() || host(self.before, before) != host(self.after, after) {
            return Some(Change::Moved { before, after });
        }
        let title = |url: PublicUrl<'s>| url.title().filter(|_| self.with_titles);
        let facts =
            |url: PublicUrl<'s>| (title(url), url.redirect(), url.modified(), url.is_listed());
        (facts(before) != facts(after)).then_some(Change::Updated(after))
    }
}

/// The owner of a URL's path in another snapshot by the same rules.
fn same_path<'o>(other: &'o Snapshot, url: PublicUrl<'_>) -> Option<PublicUrl<'o>> {
    other.owner_on(url.path(), Some(url.host()))
}

#[cfg(test)]
mod tests;
