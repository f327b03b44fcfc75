//! Builds a snapshot from the documents of a walk.

mod order;
mod page;
mod part;
mod sort;
mod title;

pub use page::PageVersion;
pub use part::Part;

use super::arena::Arena;
use super::entry::Entry;
use super::no_url::{NoUrlDraft, NoUrlRow};
use super::path_table::{PathHash, PathTable};
use super::references::{References, ReferencesDraft};
use super::{PublicUrl, Skipped, Snapshot};
use crate::frontend_url::Hosts;
use crate::rules::{AbsentKey, RuleSet, without_trailing_slash};
use order::{Arranged, arrange};

/// Why there is no snapshot of these documents.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSnapshot {
    /// The URLs of one content type have more text than a snapshot can hold: 4 GiB.
    #[error("the URLs of the content type are too many for a snapshot")]
    TooLarge,
    /// A document lacks a key that decides about its URL (D32).
    #[error("a document lacks the key `{0}`")]
    Absent(AbsentKey),
}

/// The rules and the base URLs from which the URLs of one content type's documents are built.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'s> {
    /// The rules of the site.
    pub rules: &'s RuleSet,
    /// The base URLs of the site, which limit the length of a path.
    pub hosts: &'s Hosts,
    /// The content type.
    pub uid: &'s str,
}

impl<'s> Listing<'s> {
    /// An empty part.
    #[must_use]
    pub fn part(self) -> Part<'s> {
        Part::new(self)
    }
}

/// Builds snapshots.
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    /// Whether the snapshot gets a path table, for [`Snapshot::owner`].
    pub path_table: bool,
}

impl Builder {
    /// The snapshot of these parts, in any order. Of two versions with the same path on one host, one
    /// that has it as its own path owns it (D41); of two such, one that sitemaps list; then the first
    /// by locale, then by `documentId`.
    ///
    /// # Errors
    /// [`NoSnapshot`].
    pub fn finish(self, parts: Vec<Part<'_>>) -> Result<Snapshot, NoSnapshot> {
        let mut draft = Draft::default();
        let mut references = ReferencesDraft::default();
        if let Some(part) = parts.first() {
            draft.hosts = part.hosts();
        }
        for mut part in parts {
            if let Some(key) = part.absent {
                return Err(NoSnapshot::Absent(key));
            }
            if part.too_large {
                return Err(NoSnapshot::TooLarge);
            }
            let shift = draft.arena.append(part.arena).ok_or(NoSnapshot::TooLarge)?;
            for entry in &mut part.entries {
                entry.text += shift;
            }
            // There is one part as a rule, which needs no copy.
            match draft.entries.len() {
                0 => draft.entries = part.entries,
                _ => draft.entries.append(&mut part.entries),
            }
            references.append(part.references);
            draft.no_url.append(part.no_url, shift);
            draft.skipped.add(&part.skipped);
            draft.without_row.add(&part.without_row);
        }
        draft.references = references.finish();
        self.finish_draft(draft)
    }

    /// The snapshot of a draft.
    pub(super) fn finish_draft(self, mut draft: Draft) -> Result<Snapshot, NoSnapshot> {
        let Arranged { owners, owner_index, duplicate_index, listed, unlisted } =
            arrange(&mut draft.entries, &draft.arena, &draft.hosts)?;
        let mut snapshot = Snapshot {
            owners,
            owner_index,
            duplicate_index,
            in_order: listed.into(),
            unlisted: unlisted.into(),
            no_url: draft.no_url.finish(&draft.arena),
            hosts: draft.hosts,
            references: draft.references,
            entries: draft.entries.into(),
            arena: draft.arena,
            skipped: draft.skipped,
            without_row: draft.without_row,
            ..Snapshot::default()
        };
        snapshot.digest();
        if self.path_table {
            let owners = snapshot.entries[..owners].iter();
            let paths = owners.map(|entry| without_trailing_slash(entry.path(&snapshot.arena)));
            snapshot.path_table = Some(PathTable::new(paths, PathHash::seeded()));
        }
        Ok(snapshot)
    }
}

/// What a snapshot has, before its entries are put in order.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) arena: Arena,
    pub(super) entries: Vec<Entry>,
    pub(super) no_url: NoUrlDraft,
    pub(super) references: References,
    pub(super) hosts: Box<[u16]>,
    pub(super) skipped: Skipped,
    pub(super) without_row: Skipped,
}

impl Draft {
    /// Adds a URL of another snapshot of the same listing.
    pub(super) fn keep(&mut self, url: PublicUrl<'_>) -> Result<(), NoSnapshot> {
        let texts = [url.path(), url.document_id(), url.title().unwrap_or_default()];
        let text = self.arena.push(texts).ok_or(NoSnapshot::TooLarge)?;
        self.entries.push(Entry { text, ..*url.entry() });
        Ok(())
    }

    /// Adds a version without a URL of another snapshot of the same listing.
    pub(super) fn keep_no_url(&mut self, row: NoUrlRow<'_>) {
        self.no_url.add(row, [row.title.unwrap_or_default(), ""], &mut self.arena);
    }
}
