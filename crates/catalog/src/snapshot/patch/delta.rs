//! A delta: what another instance needs to get the second of two snapshots of one listing from the
//! first.
//!
//! [`Delta::between`] compares both in one pass over their ordered entries, rows and references. A delta
//! has the hashes of the documents that differ, a small snapshot of what the later one has of them, and
//! the content hash of the later one. [`Snapshot::with_delta`] merges it as an incremental update merges
//! documents, and refuses any other result. So nothing depends on how the later snapshot came about, by
//! a walk or by updates.

use itertools::{EitherOrBoth, Itertools};

use crate::snapshot::build::{Builder, Draft, NoSnapshot, OwnersFrom};
use crate::snapshot::entry::EntryFacts;
use crate::snapshot::hash::document_hash;
use crate::snapshot::no_url::NoUrlRow;
use crate::snapshot::references::Reference;
use crate::snapshot::{PublicUrl, Snapshot};

/// Which documents differ between two snapshots, and what the later one has of them.
#[derive(Debug, Default)]
pub struct Delta {
    /// The [`Snapshot::content_hash`] of the later snapshot.
    pub(in crate::snapshot) hash: u128,
    /// `None`: the snapshots are equal.
    pub(in crate::snapshot) change: Option<Change>,
}

/// What differs.
#[derive(Debug, Default)]
pub(in crate::snapshot) struct Change {
    /// The hashes of the ids of the documents that differ, in order, each once.
    pub(in crate::snapshot) documents: Vec<u64>,
    /// What the later snapshot has of these documents, and its figures.
    pub(in crate::snapshot) present: Snapshot,
}

/// A delta was made for another snapshot, or is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the delta does not lead from this snapshot to the one that it was made from")]
pub struct OtherSnapshot;

impl Delta {
    /// The difference between two snapshots of one listing. It may have documents that are equal in
    /// both, if another document takes or leaves their paths.
    ///
    /// # Errors
    /// [`NoSnapshot::TooLarge`] if the documents that differ have nearly as much text as a snapshot
    /// can hold.
    pub fn between(before: &Snapshot, after: &Snapshot) -> Result<Self, NoSnapshot> {
        let hash = after.content_hash();
        if before.content_hash() == hash {
            return Ok(Self { hash, change: None });
        }
        let documents = differing_documents(before, after);
        let present = after.part_of(&documents)?;
        Ok(Self { hash, change: Some(Change { documents, present }) })
    }

    /// Whether the snapshots are equal.
    pub fn is_empty(&self) -> bool {
        self.change.is_none()
    }

    /// What the later snapshot has of the documents that differ; `None`: nothing differs. It says
    /// nothing of the owners of paths.
    pub fn present(&self) -> Option<&Snapshot> {
        self.change.as_ref().map(|change| &change.present)
    }
}

impl Snapshot {
    /// The snapshot that the delta leads to; `None`: it is this one.
    ///
    /// # Errors
    /// [`OtherSnapshot`] if the result is not exactly the snapshot that the delta was made from.
    pub fn with_delta(
        &self,
        delta: &Delta,
        builder: Builder,
    ) -> Result<Option<Self>, OtherSnapshot> {
        let Some(change) = &delta.change else {
            return if self.content_hash() == delta.hash { Ok(None) } else { Err(OtherSnapshot) };
        };
        let later = self.changed(change, builder).map_err(|_| OtherSnapshot)?;
        if later.content_hash() == delta.hash { Ok(Some(later)) } else { Err(OtherSnapshot) }
    }

    fn changed(&self, change: &Change, builder: Builder) -> Result<Self, NoSnapshot> {
        let Change { documents, present } = change;
        let is_replaced = |hash: u64| documents.binary_search(&hash).is_ok();
        let mut draft = self.merged(present, |id, _| is_replaced(document_hash(id)))?;
        draft.hosts.clone_from(&present.hosts);
        draft.without_row.clone_from(&present.without_row);
        draft.references = self.references.merged(&present.references, is_replaced);
        builder.finish_draft(draft, OwnersFrom::Flags)
    }

    /// What the snapshot has of these documents, and the figures of the whole snapshot.
    fn part_of(&self, documents: &[u64]) -> Result<Self, NoSnapshot> {
        let is_own = |hash: u64| documents.binary_search(&hash).is_ok();
        let mut draft = Draft { hosts: self.hosts.clone(), is_part: true, ..Draft::default() };
        for url in self.urls().filter(|url| is_own(document_hash(url.document_id()))) {
            draft.keep(url)?;
        }
        let rows = self.no_url().filter(|row| is_own(document_hash(row.document_id)));
        for row in rows {
            draft.keep_no_url(row)?;
        }
        draft.without_row.clone_from(&self.without_row);
        draft.references = self.references.part_of(is_own);
        Builder { path_table: false }.finish_draft(draft, OwnersFrom::Flags)
    }
}

/// The hashes of the ids of the documents of which the snapshots have different things, in order.
fn differing_documents(before: &Snapshot, after: &Snapshot) -> Vec<u64> {
    let mut documents = Vec::new();
    let [one, other] = [before, after].map(|one| one.owners().map(url_facts));
    documents.extend(in_one(one, other).map(|(hash, ..)| hash).dedup());
    let [one, other] = [before, after].map(|one| one.duplicates().map(url_facts));
    documents.extend(in_one(one, other).map(|(hash, ..)| hash).dedup());
    let [one, other] = [before, after].map(|one| one.no_url().map(row_facts));
    documents.extend(in_one(one, other).map(|((_, id), _)| document_hash(id)));
    let [one, other] = [before, after].map(|one| one.references.all().iter().copied());
    documents.extend(in_one(one, other).map(Reference::document).dedup());
    let [one, other] = [before, after].map(|one| one.references.ids_without_entry());
    documents.extend(in_one(one, other).map(document_hash));
    documents.sort_unstable();
    documents.dedup();
    documents
}

/// Everything about a URL, beginning with what the URLs of a snapshot are ordered by.
fn url_facts(url: PublicUrl<'_>) -> (u64, &str, EntryFacts<'_>) {
    let id = url.document_id();
    (document_hash(id), id, url.entry().facts(&url.snapshot.arena))
}

/// Everything about a version without a URL, beginning with what the rows of a snapshot are ordered by.
fn row_facts(row: NoUrlRow<'_>) -> ((usize, &str), impl Ord) {
    let NoUrlRow { document_id, locale, is_localized, reason, rule, title } = row;
    // Versions whose locale is not text come last.
    ((locale.unwrap_or(usize::MAX), document_id), (is_localized, reason, rule, title))
}

/// The elements of two ordered sequences that only one of them has.
fn in_one<T: Ord>(
    one: impl IntoIterator<Item = T>,
    other: impl IntoIterator<Item = T>,
) -> impl Iterator<Item = T> {
    one.into_iter().merge_join_by(other, Ord::cmp).filter_map(|element| match element {
        EitherOrBoth::Left(element) | EitherOrBoth::Right(element) => Some(element),
        EitherOrBoth::Both(..) => None,
    })
}
