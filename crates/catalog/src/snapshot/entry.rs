//! The entry of a URL: a record of fixed size, whose texts are in the arena.

use bitflags::bitflags;
use xxhash_rust::xxh3::Xxh3Default;

use super::arena::{Arena, Offset};

/// No modification date.
pub(super) const UNDATED: i64 = i64::MIN;

/// One version of a document with its URL.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Where its path begins in the arena; the `documentId` and the title follow right behind. In place
    /// of a title, a redirect has where it leads.
    pub(super) text: Offset,
    /// The position of its rule in the settings.
    pub(super) rule: u32,
    pub(super) path_len: u16,
    pub(super) id_len: u8,
    /// 0 where the rule has no title field, or the document no title.
    pub(super) title_len: u16,
    /// The position of its locale in the site's locales.
    pub(super) locale: u16,
    pub(super) flags: Flags,
    /// Milliseconds since 1970, or [`UNDATED`].
    pub(super) modified: i64,
}

bitflags! {
    /// Facts about an entry, one bit each.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(super) struct Flags: u8 {
        /// It is the first version of its document, among its neighbours.
        const FIRST = 1;
        /// Sitemaps list it.
        const LISTED = 1 << 1;
        /// The document has a locale; one that is not localized counts as one in the default locale.
        const LOCALIZED = 1 << 2;
        /// Its path is the document's own path (D41).
        const OWN_PATH = 1 << 3;
        /// It owns its path. Its place among the entries says the same; the flag survives where
        /// entries stand alone, as in a delta.
        const OWNER = 1 << 4;
        /// It is a redirect.
        const REDIRECT = 1 << 5;
        /// It is a redirect that comes before a live page.
        const FORCED = 1 << 6;
    }
}

impl Flags {
    /// These flags without the ones that say where the entry stands in its snapshot.
    fn without_place(self) -> Self {
        self - (Self::FIRST | Self::OWNER)
    }

    /// These flags with one of them set or not.
    pub(super) fn with(mut self, flag: Self, is_set: bool) -> Self {
        self.set(flag, is_set);
        self
    }
}

/// Everything about an entry but its `documentId`: its locale, path, title, rule, flags but those
/// about its place ([`Flags::FIRST`], [`Flags::OWNER`]), and date. Entries of a document are in this
/// order.
pub(super) type EntryFacts<'s> = (u16, &'s str, &'s str, u32, u8, i64);

impl Entry {
    pub(super) fn facts(self, arena: &Arena) -> EntryFacts<'_> {
        let flags = self.flags.without_place().bits();
        let (path, title) = (self.path(arena), self.title(arena));
        (self.locale, path, title, self.rule, flags, self.modified)
    }

    pub(super) fn path(self, arena: &Arena) -> &str {
        arena.get(self.text, 0..self.path_len.into())
    }

    pub(super) fn id(self, arena: &Arena) -> &str {
        let start = usize::from(self.path_len);
        arena.get(self.text, start..start + usize::from(self.id_len))
    }

    pub(super) fn title(self, arena: &Arena) -> &str {
        let start = usize::from(self.path_len) + usize::from(self.id_len);
        arena.get(self.text, start..start + usize::from(self.title_len))
    }

    /// Adds everything to a hash.
    pub(super) fn hash_with_title(self, arena: &Arena, hash: &mut Xxh3Default) {
        self.hash(arena, hash);
        hash.update(&self.title_len.to_le_bytes());
        hash.update(self.title(arena).as_bytes());
    }

    /// Adds everything but the title to a hash, and of a redirect where it leads. The lengths keep texts
    /// apart.
    pub(super) fn hash(self, arena: &Arena, hash: &mut Xxh3Default) {
        let of_redirect = if self.flags.contains(Flags::REDIRECT) { self.title_len } else { 0 };
        let length = usize::from(self.path_len) + usize::from(self.id_len);
        let length = length + usize::from(of_redirect);
        hash.update(arena.get(self.text, 0..length).as_bytes());
        let mut facts = [0; 19];
        facts[..2].copy_from_slice(&self.path_len.to_le_bytes());
        facts[2..4].copy_from_slice(&u16::from(self.id_len).to_le_bytes());
        facts[4..6].copy_from_slice(&self.locale.to_le_bytes());
        facts[6..10].copy_from_slice(&self.rule.to_le_bytes());
        facts[10..18].copy_from_slice(&self.modified.to_le_bytes());
        facts[18] = self.flags.without_place().bits();
        hash.update(&facts);
    }
}

/// What a version owned in the snapshots before, the strongest claim first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OwnedBefore {
    /// The path, in the snapshot at this position of the snapshots before.
    Path(usize),
    /// Another path: the page had a URL of its own, which now leads to this path.
    OtherPath,
    /// No path.
    Nothing,
}

impl OwnedBefore {
    /// As the flag of an entry says it.
    pub(super) fn of_flag(is_owner: bool) -> Self {
        if is_owner { Self::Path(0) } else { Self::Nothing }
    }
}

/// The place of a version in the order of owners: the smallest one of a path owns it. The fields are
/// compared in the order in which they stand here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Precedence<'s> {
    /// Whether a template has built the path: own paths come first (D41).
    pub(super) is_built: bool,
    /// Whether sitemaps leave it out.
    pub(super) is_unlisted: bool,
    /// What it owned in the snapshots before.
    pub(super) owned: OwnedBefore,
    /// When the document was created, in milliseconds since 1970; [`i64::MAX`] if that is not known.
    pub(super) created: i64,
    /// The position of its locale in the site's locales.
    pub(super) locale: u16,
    /// The `documentId`.
    pub(super) id: &'s str,
}

impl<'s> Precedence<'s> {
    pub(super) fn new(
        entry: &Entry,
        arena: &'s Arena,
        owned: OwnedBefore,
        created: Option<i64>,
    ) -> Self {
        Self {
            is_built: !entry.flags.contains(Flags::OWN_PATH),
            is_unlisted: !entry.flags.contains(Flags::LISTED),
            owned,
            created: created.unwrap_or(i64::MAX),
            locale: entry.locale,
            id: entry.id(arena),
        }
    }

    /// Whether the dates of creation decide between two versions.
    pub(super) fn is_decided_by_creation(&self, other: &Self) -> bool {
        let before = |one: &Self| (one.is_built, one.is_unlisted, one.owned);
        let is_kept = matches!(self.owned, OwnedBefore::Path(_));
        !is_kept && before(self) == before(other) && self.id != other.id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precedence_compares_own_path_sitemaps_paths_before_creation_locale_and_id_in_this_order() {
        let least = Precedence {
            is_built: false,
            is_unlisted: false,
            owned: OwnedBefore::Path(0),
            created: 0,
            locale: 0,
            id: "a",
        };
        // Each is last in one thing and first in all that come after it.
        let order = [
            least,
            Precedence { id: "b", ..least },
            Precedence { locale: 1, ..least },
            Precedence { created: 1, ..least },
            Precedence { created: i64::MAX, ..least },
            Precedence { owned: OwnedBefore::Path(1), ..least },
            Precedence { owned: OwnedBefore::OtherPath, ..least },
            Precedence { owned: OwnedBefore::Nothing, ..least },
            Precedence { is_unlisted: true, ..least },
            Precedence { is_built: true, ..least },
        ];
        assert!(order.is_sorted());
        for pair in order.windows(2) {
            assert!(pair[0] < pair[1], "{pair:?}");
        }
    }

    #[test]
    fn creation_decides_between_new_versions_of_two_documents_in_one_class() {
        let new = Precedence {
            is_built: true,
            is_unlisted: false,
            owned: OwnedBefore::Nothing,
            created: 5,
            locale: 0,
            id: "a",
        };
        let decides = |other: Precedence<'_>| new.is_decided_by_creation(&other);
        assert!(decides(Precedence { id: "b", ..new }));
        assert!(decides(Precedence { id: "b", locale: 1, created: i64::MAX, ..new }));
        assert!(!decides(Precedence { locale: 1, ..new }), "one document");
        assert!(!decides(Precedence { id: "b", is_unlisted: true, ..new }));
        assert!(!decides(Precedence { id: "b", is_built: false, ..new }));
        let moved = Precedence { owned: OwnedBefore::OtherPath, ..new };
        assert!(moved.is_decided_by_creation(&Precedence { id: "b", ..moved }));
        assert!(!moved.is_decided_by_creation(&Precedence { id: "b", ..new }));
        let owner = Precedence { owned: OwnedBefore::Path(0), ..new };
        assert!(!owner.is_decided_by_creation(&Precedence { id: "b", ..owner }));
    }
}
