//! Finds the versions of a document by its id.

mod index;

use std::ops::Range;

use super::entry::{Entry, Flags};
use super::hash::document_hash;
use super::no_url::NoUrlRow;
use super::{PublicUrl, Snapshot, Versions};
use frontend_map_rules::{FieldPath, without_trailing_slash};

pub(super) use index::DocumentIndex;

/// More entries than this are searched by their hashes first.
const FEW: usize = 64;

/// What a snapshot knows about a version of a document.
#[derive(Clone, Copy, Debug)]
pub enum Version<'s> {
    /// Its URL.
    Url(PublicUrl<'s>),
    /// Why it has no URL.
    NoUrl(NoUrlRow<'s>),
    /// There is no such version, or it is not on this site.
    None,
}

impl Snapshot {
    /// The path of a document in the locale at this position of the site's locales, or its only path
    /// if it is not localized (D19), with the position of the version's locale. `None`: it has no URL
    /// there.
    pub fn path_of(&self, id: &str, locale: usize) -> Option<(&str, usize)> {
        let url = self.url_of(id, locale)?;
        Some((url.path(), url.locale()))
    }

    /// What is known about the version of a document in the locale at this position of the site's
    /// locales. A document that is not localized has one version for all locales.
    pub fn version(&self, id: &str, locale: usize) -> Version<'_> {
        if let Some(url) = self.url_of(id, locale) {
            return Version::Url(url);
        }
        match self.no_url.get(id, locale, &self.arena) {
            Some(row) => Version::NoUrl(row),
            None => Version::None,
        }
    }

    fn url_of(&self, id: &str, locale: usize) -> Option<PublicUrl<'_>> {
        let hash = document_hash(id);
        let in_locale =
            |part: Range<usize>| part.map(|at| self.url(at)).find(|url| url.locale() == locale);
        let owned = self.positions_of(id, hash, &self.owner_index);
        if let Some(url) = in_locale(owned.clone()) {
            return Some(url);
        }
        let duplicates = self.positions_of(id, hash, &self.duplicate_index);
        in_locale(duplicates.clone()).or_else(|| {
            let mut versions = owned.chain(duplicates).map(|at| self.url(at));
            versions.find(|url| !url.is_localized())
        })
    }

    /// The URL with this path on a host (any, without one), with or without a slash at its end, from a
    /// search in the order of lists: it needs no path table, and takes longer.
    pub fn owner_by_order(&self, path: &str, host: Option<usize>) -> Option<PublicUrl<'_>> {
        let (path, with_slash) = (without_trailing_slash(path), format!("{path}/"));
        let lists = [&*self.in_order, &*self.unlisted];
        let last = lists.iter().filter_map(|positions| positions.last());
        let last = last.map(|at| self.url(*at as usize).locale()).max()?;
        let find = |positions: &[u32], locale: usize, path: &str| {
            let url = |at: u32| self.url(at as usize);
            let at = positions
                .binary_search_by(|at| (url(*at).locale(), url(*at).path()).cmp(&(locale, path)));
            at.ok().map(|at| url(positions[at]))
        };
        let of_locale = |locale: usize| {
            lists.into_iter().find_map(|positions| {
                find(positions, locale, path).or_else(|| find(positions, locale, &with_slash))
            })
        };
        let mut found = (0..=last).filter_map(of_locale);
        found.find(|url| host.is_none_or(|host| self.host_of(*url) == host))
    }

    /// The positions of a document's own URLs among the listed ones, in the order of the site's
    /// locales.
    pub fn listed_positions(&self, id: &str) -> impl Iterator<Item = usize> {
        let own = self.owned_by(id).map(|at| self.url(at)).filter(|url| url.is_listed());
        own.map(|own| self.listed_before(own.locale(), own.path()))
    }

    /// The positions among the listed URLs of those with this path in any locale, with or without a slash
    /// at its end.
    pub fn listed_at(&self, path: &str) -> impl Iterator<Item = usize> {
        let path = without_trailing_slash(path);
        let forms = [path.to_owned(), format!("{path}/")];
        self.listed_locales().flat_map(move |locale| {
            let [one, other] = forms.each_ref().map(|path| {
                let at = self.listed_before(locale, path);
                self.is_listed_as(at, |url| (url.locale(), url.path()) == (locale, path))
            });
            one.into_iter().chain(other)
        })
    }

    /// The positions among the listed URLs of those whose path begins with this text, in any locale.
    pub fn listed_below<'s>(&'s self, start: &'s str) -> impl Iterator<Item = usize> + 's {
        self.listed_locales().flat_map(move |locale| {
            let first = self.listed_before(locale, start);
            (first..).map_while(move |at| {
                let is_below =
                    |url: PublicUrl<'_>| url.locale() == locale && url.path().starts_with(start);
                self.is_listed_as(at, is_below)
            })
        })
    }

    /// How many of the listed URLs come before this path in a locale.
    fn listed_before(&self, locale: usize, path: &str) -> usize {
        self.in_order.partition_point(|at| {
            let url = self.url(*at as usize);
            (url.locale(), url.path()) < (locale, path)
        })
    }

    /// `at`, if `is` holds for the listed URL at this position.
    fn is_listed_as(&self, at: usize, is: impl Fn(PublicUrl<'_>) -> bool) -> Option<usize> {
        let url = self.url(*self.in_order.get(at)? as usize);
        is(url).then_some(at)
    }

    /// The positions of the locales up to the last one of a listed URL.
    fn listed_locales(&self) -> std::ops::Range<usize> {
        0..self.in_order.last().map_or(0, |at| self.url(*at as usize).locale() + 1)
    }

    /// The versions of a document that own their paths; none if it has no such version.
    pub fn versions_of(&self, id: &str) -> Versions<'_> {
        Versions { snapshot: self, part: self.owned_by(id) }
    }

    /// The positions of the document's versions that own their paths.
    pub(super) fn owned_by(&self, id: &str) -> Range<usize> {
        self.positions_of(id, document_hash(id), &self.owner_index)
    }

    /// The positions of the document's versions among the entries of one index.
    fn positions_of(&self, id: &str, hash: u64, index: &DocumentIndex) -> Range<usize> {
        let part = index.part(hash);
        let entries = &self.entries[part.clone()];
        let is_first = |entry: &Entry| entry.flags.contains(Flags::FIRST);
        let end_of = |is_before: fn(u64, u64) -> bool| {
            entries.partition_point(|entry| is_before(document_hash(entry.id(&self.arena)), hash))
        };
        // If hashes are distributed unevenly, a part may have many entries.
        let own = if entries.len() > FEW {
            end_of(|one, own| one < own)..end_of(|one, own| one <= own)
        } else {
            0..entries.len()
        };
        let is_it = |entry: &Entry| is_first(entry) && entry.id(&self.arena) == id;
        let Some(first) = entries[own.clone()].iter().position(is_it) else { return 0..0 };
        let first = own.start + first;
        let others = entries[first + 1..].iter().take_while(|entry| !is_first(entry)).count();
        let start = part.start + first;
        start..start + 1 + others
    }

    /// The ids of the documents with this hash: one, unless hashes collide.
    pub(super) fn ids_by_hash(&self, hash: u64) -> impl Iterator<Item = &str> {
        let parts = [0..self.owners, self.owners..self.entries.len()];
        let with_entry = parts.into_iter().find_map(|part| {
            let is_before = |entry: &Entry| document_hash(entry.id(&self.arena)) < hash;
            let entries = &self.entries[part];
            let entry = entries.get(entries.partition_point(is_before))?;
            Some(entry.id(&self.arena)).filter(|id| document_hash(id) == hash)
        });
        with_entry.into_iter().chain(self.references.without_entry(hash))
    }

    /// The id of a document that a version reads, or has read, through a relation; `None`: none has
    /// done so since the walk.
    pub fn related_example(&self, relation: &FieldPath) -> Option<&str> {
        self.references.example(relation)
    }
}
