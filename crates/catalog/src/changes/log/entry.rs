//! One change as it is kept, and as a reader gets it.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::snapshot::serialized::{decode, encode};

/// What has happened to a page. Entries are stored with the position of the variant: add new ones at the
/// end.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Deserialize,
    Serialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Kind {
    /// It has a path, and had none.
    Added,
    /// It has another path.
    Moved,
    /// It had a path, and has none.
    Gone,
    /// It has the same path; its title, its date or its place in sitemaps has changed.
    Updated,
    /// A redirect of the CMS is new, is gone, or leads elsewhere.
    Redirect,
}

/// The place of a change among those of one refresh: paths are freed before they are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    /// Some readers have a page less.
    Frees,
    /// A page has another path.
    Moves,
    /// All others.
    Takes,
}

/// A change as it is kept: the bytes of a [`Change`], which take less memory than its texts one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry(Box<[u8]>);

/// A change of one version of a document. The bytes of an entry have the fields in this order, without
/// names; another order needs another format of the parts in Redis and another table of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Change<'e> {
    /// What has happened.
    pub kind: Kind,
    /// The content type.
    pub uid: &'e str,
    /// The `documentId`; of a page outside the CMS its name.
    pub document_id: &'e str,
    /// The code of the locale; the site's first one of a document that is not localized.
    pub locale: &'e str,
    /// The path on the frontend; of a page that is gone, the path that it had; of a redirect, the path from
    /// which it leads.
    pub path: &'e str,
    /// The path that a page had before it moved, or from which a redirect led before; of another redirect
    /// its path.
    pub from: Option<&'e str>,
    /// When the service noticed it, in milliseconds since 1970.
    pub at: i64,
    /// Whether sitemaps listed it before.
    pub was_listed: bool,
    /// Whether they list it now.
    pub is_listed: bool,
}

/// Which changes a reader gets.
#[derive(Clone, Copy, Debug)]
pub struct Filter<'k> {
    /// Whether changes of pages that sitemaps leave out are among them.
    pub with_unlisted: bool,
    /// The kinds of changes.
    pub kinds: &'k [Kind],
}

impl Filter<'_> {
    /// The change as the reader gets it, if it does.
    pub(super) fn select<'e>(&self, change: Change<'e>) -> Option<Change<'e>> {
        let seen = if self.with_unlisted { Some(change) } else { change.among_listed() };
        seen.filter(|change| self.kinds.contains(&change.kind))
    }
}

impl Kind {
    /// All of them.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// Whether a change of this kind has the path before.
    pub fn has_from(self) -> bool {
        matches!(self, Self::Moved | Self::Redirect)
    }
}

impl Entry {
    /// Keeps a change.
    pub fn new(change: &Change<'_>) -> Self {
        Self(encode(change).into())
    }

    /// The entry of these bytes, if a change has them.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let change: Change<'_> = decode(bytes).ok()?;
        let is_path = |path: &str| path.starts_with('/') && u16::try_from(path.len()).is_ok();
        let is_valid = is_path(change.path)
            && change.from.is_none_or(is_path)
            && change.from.is_some() == change.kind.has_from();
        is_valid.then(|| Self(bytes.into()))
    }

    /// What [`Self::read`] gets.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The change.
    ///
    /// # Panics
    /// Never: the bytes are those of a change.
    pub fn change(&self) -> Change<'_> {
        decode(&self.0).expect("the bytes are those of a change")
    }
}

impl Change<'_> {
    /// Its place among the changes of one refresh.
    pub(super) fn order(&self) -> Order {
        match self.kind {
            _ if self.was_listed && !self.is_listed => Order::Frees,
            Kind::Gone => Order::Frees,
            Kind::Moved => Order::Moves,
            Kind::Added | Kind::Updated | Kind::Redirect => Order::Takes,
        }
    }

    /// The change for a reader of the pages that sitemaps list: one that is listed from now on is added,
    /// and one that is no longer listed is gone. `None`: the reader knows neither page.
    pub fn among_listed(self) -> Option<Self> {
        match (self.was_listed, self.is_listed) {
            (true, true) => Some(self),
            (false, true) => Some(Self { kind: Kind::Added, from: None, ..self }),
            (true, false) => {
                let path = self.from.unwrap_or(self.path);
                Some(Self { kind: Kind::Gone, path, from: None, ..self })
            }
            (false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_an_entry_are_those_that_the_store_and_redis_have() {
        let change = Change {
            kind: Kind::Redirect,
            uid: "u",
            document_id: "id",
            locale: "en",
            path: "/a",
            from: Some("/b"),
            at: -2,
            was_listed: false,
            is_listed: true,
        };
        let bytes = b"\x04\x01u\x02id\x02en\x02/a\x01\x02/b\x03\x00\x01";
        assert_eq!(Entry::new(&change).bytes(), bytes);
        assert_eq!(Entry::read(bytes).map(|entry| entry.change() == change), Some(true));
    }
}
