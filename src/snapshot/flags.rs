//! What is true or false of an entry, a bit each: an entry has room for one byte.

/// A set of facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags(u8);

/// It is the first version of its document.
pub(super) const FIRST: Flags = Flags(1);
/// Sitemaps list it.
pub(super) const LISTED: Flags = Flags(2);
/// Its document has versions by locale.
pub(super) const LOCALIZED: Flags = Flags(4);

impl Flags {
    /// Whether one of these facts is in the set.
    pub(super) fn has(self, facts: Self) -> bool {
        self.0 & facts.0 != 0
    }

    /// The set with these facts, if they are true, and without them otherwise.
    pub(super) fn with(self, facts: Self, are_true: bool) -> Self {
        Self(if are_true { self.0 | facts.0 } else { self.0 & !facts.0 })
    }
}
