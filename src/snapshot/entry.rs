//! The entry of a URL: a record of fixed size, whose texts are in the arena.

use xxhash_rust::xxh3::Xxh3Default;

use super::arena::{Arena, Offset};

/// No modification date.
pub(super) const UNDATED: i64 = i64::MIN;

/// One version of a document with its URL.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Where its path begins in the arena; the `documentId` and the title follow right behind.
    pub(super) text: Offset,
    /// The position of its rule in the settings.
    pub(super) rule: u32,
    pub(super) path_len: u16,
    pub(super) id_len: u16,
    /// 0 where the rule has no title field, or the document no title.
    pub(super) title_len: u8,
    /// The position of its locale in the site's locales.
    pub(super) locale: u16,
    pub(super) flags: Flags,
    /// Milliseconds since 1970, or [`UNDATED`].
    pub(super) modified: i64,
}

/// Facts about an entry, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags(u8);

impl Flags {
    /// It is the first version of its document, among its neighbours.
    pub(super) const FIRST: Self = Self(1);
    /// Sitemaps list it.
    pub(super) const LISTED: Self = Self(1 << 1);
    /// The document has a locale; one that is not localized counts as one in the default locale.
    pub(super) const LOCALIZED: Self = Self(1 << 2);
    /// Its path is the document's own path (D41).
    pub(super) const OWN_PATH: Self = Self(1 << 3);

    /// All of them in one byte.
    pub(super) fn bits(self) -> u8 {
        self.0
    }

    /// The flags of a byte; `None`: it has a bit that stands for none of them.
    pub(super) fn of_bits(bits: u8) -> Option<Self> {
        let all = Self::FIRST.0 | Self::LISTED.0 | Self::LOCALIZED.0 | Self::OWN_PATH.0;
        (bits & !all == 0).then_some(Self(bits))
    }

    pub(super) fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }

    /// The same with one bit set or not.
    pub(super) fn with(self, flag: Self, is_set: bool) -> Self {
        Self(if is_set { self.0 | flag.0 } else { self.0 & !flag.0 })
    }
}

/// Whether a version has its path from a template, whether it is left out of sitemaps, its locale and
/// its `documentId`. Of the versions with one path, the first in this order owns it (D22, D41).
pub(super) type Rank<'s> = (bool, bool, u16, &'s str);

/// Everything about an entry but its `documentId`: its locale, path, title, rule, flags but
/// [`Flags::FIRST`], and date. Entries of a document are in this order.
pub(super) type EntryFacts<'s> = (u16, &'s str, &'s str, u32, u8, i64);

impl Entry {
    pub(super) fn facts(self, arena: &Arena) -> EntryFacts<'_> {
        let flags = self.flags.with(Flags::FIRST, false).0;
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
        hash.update(&[self.title_len]);
        hash.update(self.title(arena).as_bytes());
    }

    /// Adds everything but the title to a hash. The lengths keep texts apart.
    pub(super) fn hash(self, arena: &Arena, hash: &mut Xxh3Default) {
        let length = usize::from(self.path_len) + usize::from(self.id_len);
        hash.update(arena.get(self.text, 0..length).as_bytes());
        let mut facts = [0; 19];
        facts[..2].copy_from_slice(&self.path_len.to_le_bytes());
        facts[2..4].copy_from_slice(&self.id_len.to_le_bytes());
        facts[4..6].copy_from_slice(&self.locale.to_le_bytes());
        facts[6..10].copy_from_slice(&self.rule.to_le_bytes());
        facts[10..18].copy_from_slice(&self.modified.to_le_bytes());
        facts[18] = self.flags.with(Flags::FIRST, false).0;
        hash.update(&facts);
    }

    pub(super) fn rank(self, arena: &Arena) -> Rank<'_> {
        let [is_own, is_listed] = [Flags::OWN_PATH, Flags::LISTED].map(|flag| self.flags.has(flag));
        (!is_own, !is_listed, self.locale, self.id(arena))
    }
}
