//! Builds a snapshot from the documents of a walk.

mod order;
mod page;
mod part;
mod title;

pub use page::PageVersion;
pub use part::Part;

use super::Snapshot;
use super::entry::Entry;
use super::no_url::NoUrlDraft;
use super::path_table::{PathHash, PathTable};
use super::references::ReferencesDraft;
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
        let mut snapshot = Snapshot::default();
        let mut entries: Vec<Entry> = Vec::new();
        let mut references = ReferencesDraft::default();
        let mut no_url = NoUrlDraft::default();
        if let Some(part) = parts.first() {
            snapshot.hosts = part.hosts();
        }
        for mut part in parts {
            if let Some(key) = part.absent {
                return Err(NoSnapshot::Absent(key));
            }
            if part.too_large {
                return Err(NoSnapshot::TooLarge);
            }
            let shift = snapshot.arena.append(part.arena).ok_or(NoSnapshot::TooLarge)?;
            for entry in &mut part.entries {
                entry.text += shift;
            }
            // There is one part as a rule, which needs no copy.
            match entries.len() {
                0 => entries = part.entries,
                _ => entries.append(&mut part.entries),
            }
            references.append(part.references);
            no_url.append(part.no_url, shift);
            snapshot.skipped.add(&part.skipped);
            snapshot.without_row.add(&part.without_row);
        }
        let Arranged { owners, owner_index, duplicate_index, listed, unlisted } =
            arrange(&mut entries, &snapshot.arena, &snapshot.hosts)?;
        snapshot.owners = owners;
        snapshot.owner_index = owner_index;
        snapshot.duplicate_index = duplicate_index;
        snapshot.in_order = listed.into();
        snapshot.unlisted = unlisted.into();
        snapshot.no_url = no_url.finish(&snapshot.arena);
        snapshot.references = references.finish();
        snapshot.entries = entries.into();
        snapshot.digest();
        if self.path_table {
            let owners = snapshot.entries[..owners].iter();
            let paths = owners.map(|entry| without_trailing_slash(entry.path(&snapshot.arena)));
            snapshot.path_table = Some(PathTable::new(paths, PathHash::seeded()));
        }
        Ok(snapshot)
    }
}
