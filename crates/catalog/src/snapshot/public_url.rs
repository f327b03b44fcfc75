//! One public URL of a snapshot, and the versions of its document.

use std::ops::Range;

use super::Snapshot;
use super::entry::{Entry, Flags, OwnedBefore, Precedence, UNDATED};
use super::hash::document_hash;
use frontend_map_rules::{Redirect, without_trailing_slash};

/// One public URL of a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct PublicUrl<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) at: usize,
}

/// The versions of a document that own a URL, in the order of the site's locales.
#[derive(Clone, Debug)]
pub struct Versions<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) part: Range<usize>,
}

impl<'s> PublicUrl<'s> {
    /// The path on the frontend: absolute, percent-encoded ASCII.
    pub fn path(self) -> &'s str {
        self.entry().path(&self.snapshot.arena)
    }

    /// The path as a normalized pathname has it (D7), by which it is found.
    pub fn normalized_path(self) -> &'s str {
        without_trailing_slash(self.path())
    }

    /// The length of the path, in bytes, without a look into the arena.
    pub fn path_len(self) -> usize {
        self.entry().path_len.into()
    }

    /// The `documentId` of the document.
    pub fn document_id(self) -> &'s str {
        self.entry().id(&self.snapshot.arena)
    }

    /// The title of the version; `None` where its rule has no title field, or the field no text.
    pub fn title(self) -> Option<&'s str> {
        let is_title = !self.entry().flags.contains(Flags::REDIRECT);
        Some(self.title_or_redirect()).filter(|title| is_title && !title.is_empty())
    }

    /// Where the path leads, if the document is a redirect.
    pub fn redirect(self) -> Option<Redirect<'s>> {
        let is_redirect = self.entry().flags.contains(Flags::REDIRECT);
        is_redirect.then(|| Redirect::parse(self.title_or_redirect())).flatten()
    }

    /// The text of the title, or the one that says where a redirect leads; may be empty.
    pub(crate) fn title_or_redirect(self) -> &'s str {
        self.entry().title(&self.snapshot.arena)
    }

    /// The position of its locale in the site's locales.
    pub fn locale(self) -> usize {
        usize::from(self.entry().locale)
    }

    /// The position of its host among the site's hosts; 0 if there is one host.
    pub fn host(self) -> usize {
        self.snapshot.host_of(self)
    }

    /// Whether the document has a locale. One that is not localized counts as one in the site's
    /// default locale (D19).
    pub fn is_localized(self) -> bool {
        self.entry().flags.contains(Flags::LOCALIZED)
    }

    /// Whether it is the document's own path, whatever the template of its rule says (D41).
    pub fn has_own_path(self) -> bool {
        self.entry().flags.contains(Flags::OWN_PATH)
    }

    /// The position in the settings of the rule that built it.
    pub fn rule(self) -> usize {
        self.entry().rule as usize
    }

    /// When the version was last modified, in milliseconds since 1970, if it says so.
    pub fn modified(self) -> Option<i64> {
        let modified = self.entry().modified;
        (modified != UNDATED).then_some(modified)
    }

    /// Whether it is listed in sitemaps.
    pub fn is_listed(self) -> bool {
        self.entry().flags.contains(Flags::LISTED)
    }

    /// Its position among [`Snapshot::urls`].
    pub fn position(self) -> usize {
        self.at
    }

    /// Whether the version owns its path: no version with this path on its host comes before it (D22).
    pub fn is_owner(self) -> bool {
        self.at < self.snapshot.owners
    }

    /// All versions of its document that own a URL, its own among them if it does.
    pub fn versions(self) -> Versions<'s> {
        if !self.is_owner() {
            let part = self.snapshot.owned_by(self.document_id());
            return Versions { snapshot: self.snapshot, part };
        }
        let entries = &self.snapshot.entries[..=self.at];
        let first = entries.iter().rposition(|entry| entry.flags.contains(Flags::FIRST));
        self.snapshot.versions_from(first.unwrap_or(self.at))
    }

    /// The order of the versions with one path: first the owner, then the others as if they had just been
    /// published, and as far as the snapshot knows: without the creation of documents (D22).
    pub fn rank(self) -> impl Ord + use<'s> {
        let owned = OwnedBefore::of_flag(self.is_owner());
        Precedence::new(self.entry(), &self.snapshot.arena, owned, None)
    }

    pub(super) fn entry(self) -> &'s Entry {
        &self.snapshot.entries[self.at]
    }
}

impl<'s> Versions<'s> {
    /// The place of the document in the order of [`Snapshot::documents`], which is the same in all
    /// snapshots.
    pub fn document_order(&self) -> impl Ord + use<'s> {
        let id = self.clone().next().map_or("", PublicUrl::document_id);
        (document_hash(id), id)
    }
}

impl Snapshot {
    /// Whether [`Snapshot::owner`] finds paths.
    pub fn has_path_table(&self) -> bool {
        self.path_table.is_some()
    }

    /// Whether the documents are redirects.
    pub fn has_redirects(&self) -> bool {
        self.entries.first().is_some_and(|entry| entry.flags.contains(Flags::REDIRECT))
    }

    /// The most segments before the `*` of a redirect for all paths below one; `None`: there is no such
    /// redirect.
    pub fn deepest_wildcard(&self) -> Option<usize> {
        self.deepest_wildcard
    }

    /// Whether a redirect comes before a live page.
    pub fn has_forced_redirect(&self) -> bool {
        self.has_forced
    }

    /// Whether a URL has a title.
    pub fn has_titles(&self) -> bool {
        self.entries.iter().any(|entry| entry.title_len > 0)
    }
}

impl<'s> Iterator for Versions<'s> {
    type Item = PublicUrl<'s>;

    fn next(&mut self) -> Option<PublicUrl<'s>> {
        self.part.next().map(|at| self.snapshot.url(at))
    }
}
