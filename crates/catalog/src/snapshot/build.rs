//! Builds a snapshot from the documents of a walk.

mod order;
mod ownership;
mod page;
mod part;
mod sort;

pub(super) use ownership::OwnersFrom;
pub use ownership::{Claims, CreationDates, Criterion, PreviousOwners, Undecided};
pub use page::PageVersion;
pub use part::Part;

use super::arena::Arena;
use super::entry::{Entry, Flags};
use super::no_url::{NoUrlDraft, NoUrlRow};
use super::path_table::{PathHash, PathTable};
use super::references::{References, ReferencesDraft};
use super::{PublicUrl, Skipped, Snapshot};
use frontend_map_rules::frontend_url::Hosts;
use frontend_map_rules::{AbsentKey, ENCODED_REST, RuleSet, without_trailing_slash};
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
    /// The snapshot of these parts, in any order. Of versions with the same path on one host, the first
    /// in the order of D22 owns it, as if there were no snapshot before and no date of creation were
    /// known. With both, [`Snapshot::with_claims`] decides again.
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
            draft.no_url.append(part.no_url, shift).ok_or(NoSnapshot::TooLarge)?;
            draft.without_row.add(&part.without_row);
        }
        draft.references = references.finish();
        self.finish_draft(draft, OwnersFrom::Claims(&Claims::default()))
    }

    /// The snapshot of a draft.
    pub(super) fn finish_draft(
        self,
        mut draft: Draft,
        owners_from: OwnersFrom<'_, '_>,
    ) -> Result<Snapshot, NoSnapshot> {
        let Arranged { owners, owner_index, duplicate_index, listed, unlisted, undecided } =
            arrange(&mut draft.entries, &draft.arena, &draft.hosts, owners_from)?;
        if !draft.is_part {
            for (at, entry) in draft.entries.iter_mut().enumerate() {
                entry.flags = entry.flags.with(Flags::OWNER, at < owners);
            }
        }
        let beginnings =
            draft.entries[..owners].iter().filter(|entry| entry.flags.contains(Flags::REDIRECT));
        let beginnings =
            beginnings.filter_map(|entry| entry.path(&draft.arena).strip_suffix(ENCODED_REST));
        let deepest_wildcard = beginnings.map(|path| path.matches('/').count()).max();
        let has_forced =
            draft.entries[..owners].iter().any(|entry| entry.flags.contains(Flags::FORCED));
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
            skipped: draft.without_row.clone(),
            without_row: draft.without_row,
            undecided: undecided.into(),
            has_forced,
            deepest_wildcard,
            ..Snapshot::default()
        };
        snapshot.no_url.count(&mut snapshot.skipped);
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
    pub(super) without_row: Skipped,
    /// Whether it has some documents of a snapshot alone, so that a version may own its path although
    /// the owner in the whole snapshot is another one. The flags of the entries say which it is.
    pub(super) is_part: bool,
}

impl Draft {
    /// Adds a URL of another snapshot of the same listing.
    pub(super) fn keep(&mut self, url: PublicUrl<'_>) -> Result<(), NoSnapshot> {
        let texts = [url.path(), url.document_id(), url.title_or_redirect()];
        let text = self.arena.push(texts).ok_or(NoSnapshot::TooLarge)?;
        self.entries.push(Entry { text, ..*url.entry() });
        Ok(())
    }

    /// Adds a version without a URL of another snapshot of the same listing.
    pub(super) fn keep_no_url(&mut self, row: NoUrlRow<'_>) -> Result<(), NoSnapshot> {
        let added = self.no_url.add(row, [row.title.unwrap_or_default(), ""], &mut self.arena);
        added.ok_or(NoSnapshot::TooLarge)
    }
}

impl Snapshot {
    /// This snapshot with the owners of shared paths decided again.
    ///
    /// # Panics
    /// Never: the versions fit into a snapshot.
    pub fn with_claims(self, claims: &Claims<'_>, builder: Builder) -> Self {
        let Self { arena, entries, hosts, references, without_row, .. } = self;
        let draft = Draft {
            arena,
            entries: entries.into(),
            hosts,
            references,
            without_row,
            ..Draft::default()
        };
        let arranged = builder.finish_draft(draft, OwnersFrom::Claims(claims));
        let arranged = arranged.expect("the versions fit into a snapshot");
        Self { no_url: self.no_url, skipped: self.skipped, ..arranged }
    }

    /// The versions of shared paths about which the creation of their documents decides, and of which
    /// the claims have no date: at most 10,000.
    pub fn undecided(&self) -> &[Undecided] {
        &self.undecided
    }
}
