//! One change as it is kept, and as a reader gets it.

use std::sync::Arc;

use serde::Serialize;

/// What has happened to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
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

/// A change of one version of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The path, then the path before it if it has moved, then the `documentId`.
    text: Box<str>,
    path_len: u16,
    from_len: u16,
    kind: Kind,
    was_listed: bool,
    is_listed: bool,
    at: i64,
    uid: Arc<str>,
    locale: Arc<str>,
}

/// A change as a reader gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub const ALL: [Self; 5] =
        [Self::Added, Self::Moved, Self::Gone, Self::Updated, Self::Redirect];

    /// Whether a change of this kind has the path before.
    pub fn has_from(self) -> bool {
        matches!(self, Self::Moved | Self::Redirect)
    }

    /// As responses have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Moved => "moved",
            Self::Gone => "gone",
            Self::Updated => "updated",
            Self::Redirect => "redirect",
        }
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl Entry {
    /// Keeps a change; `uid` and `locale` are those of the change, shared with other entries.
    ///
    /// # Panics
    /// If a path is longer than 64 KiB, which no path of a snapshot is.
    pub fn new(change: Change<'_>, uid: &Arc<str>, locale: &Arc<str>) -> Self {
        let length =
            |text: &str| u16::try_from(text.len()).expect("a path of a snapshot is below 64 KiB");
        let from = change.from.unwrap_or_default();
        Self {
            text: [change.path, from, change.document_id].concat().into(),
            path_len: length(change.path),
            from_len: length(from),
            kind: change.kind,
            was_listed: change.was_listed,
            is_listed: change.is_listed,
            at: change.at,
            uid: Arc::clone(uid),
            locale: Arc::clone(locale),
        }
    }

    /// Its place among the changes of one refresh.
    pub(super) fn order(&self) -> Order {
        match self.kind {
            _ if self.was_listed && !self.is_listed => Order::Frees,
            Kind::Gone => Order::Frees,
            Kind::Moved => Order::Moves,
            Kind::Added | Kind::Updated | Kind::Redirect => Order::Takes,
        }
    }

    /// The change with all that is known of it.
    pub fn change(&self) -> Change<'_> {
        let (path, rest) = self.text.split_at(self.path_len.into());
        let (from, document_id) = rest.split_at(self.from_len.into());
        Change {
            kind: self.kind,
            uid: &self.uid,
            document_id,
            locale: &self.locale,
            path,
            from: self.kind.has_from().then_some(from),
            at: self.at,
            was_listed: self.was_listed,
            is_listed: self.is_listed,
        }
    }
}

impl Change<'_> {
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
