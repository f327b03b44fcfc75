//! Finds the URLs of a document by its id.

use super::flags::LOCALIZED;
use super::hash::document_hash;
use super::{Entry, Snapshot};

impl Snapshot {
    /// The path of a document in the locale at this position of the site's locales, or its only path
    /// if it is not localized (D19), with the position of the version's locale. `None`: it has no URL
    /// there.
    #[must_use]
    pub fn path_of(&self, id: &str, locale: usize) -> Option<(&str, usize)> {
        let hash = document_hash(id);
        let versions = || {
            let parts = [&self.entries, &self.others];
            parts.into_iter().flat_map(|part| self.of_document(part, id, hash))
        };
        let in_locale = versions().find(|entry| usize::from(entry.locale) == locale);
        let in_none = || versions().find(|entry| !entry.flags.has(LOCALIZED));
        let entry = in_locale.or_else(in_none)?;
        Some((entry.path(&self.arena), entry.locale.into()))
    }

    /// The entries of a document in a part of them that is ordered by document.
    fn of_document<'s>(
        &'s self,
        part: &'s [Entry],
        id: &'s str,
        hash: u64,
    ) -> impl Iterator<Item = &'s Entry> {
        let hash_of = |entry: &Entry| document_hash(entry.id(&self.arena));
        let start = part.partition_point(|entry| hash_of(entry) < hash);
        let same_hash = part[start..].iter().take_while(move |entry| hash_of(entry) == hash);
        same_hash.filter(move |entry| entry.id(&self.arena) == id)
    }
}
