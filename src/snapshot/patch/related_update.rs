//! A snapshot under construction in which the versions that read related documents get their new
//! values.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Patched, finish_former};
use crate::snapshot::build::{Builder, Listing, Part};
use crate::snapshot::hash::document_hash;
use crate::snapshot::no_url::{self, NoUrlRow};
use crate::snapshot::{PublicUrl, Snapshot};

/// A version in the snapshot, by the hash of its `documentId` and the position of its locale.
pub(super) type Version = (u64, usize);

/// What becomes of a version.
pub(super) enum VersionOutcome {
    Path(String),
    NoUrl { reason: String },
    Same,
}

/// A snapshot with other values behind relations.
#[derive(Debug)]
pub struct RelatedUpdate {
    /// The snapshot; never [`Patched::NeedsWalk`] unless there is too much text.
    pub patched: Patched,
    /// The ids of documents that have to be read, because their paths do not have all that decides.
    /// The versions in question are as they were.
    pub to_read: BTreeSet<String>,
}

/// An updated snapshot under construction.
pub(super) struct UpdateBuilder<'c, 's> {
    pub(super) all: Part<'c>,
    /// Former URLs and reasons.
    pub(super) former: Part<'c>,
    /// Whether former URLs are kept. With several relations, another one may have changed meanwhile.
    keeps_former: bool,
    is_changed: bool,
    /// The ids of documents that may have lost their entries.
    without_entry: Vec<&'s str>,
    /// The versions that have their former URLs again, with their keys among those without a URL.
    restored: FxHashMap<Version, u64>,
    pub(super) to_read: BTreeSet<String>,
}

impl<'c, 's> UpdateBuilder<'c, 's> {
    pub(super) fn new(listing: Listing<'c>) -> Self {
        Self {
            all: listing.part(),
            former: listing.part(),
            keeps_former: listing.rules.relations(listing.uid).len() == 1,
            is_changed: false,
            without_entry: Vec::new(),
            restored: FxHashMap::default(),
            to_read: BTreeSet::new(),
        }
    }

    /// Adds a version with this URL. Without an outcome it has to be read.
    pub(super) fn add_url(&mut self, url: PublicUrl<'s>, outcome: Option<VersionOutcome>) {
        match outcome {
            Some(VersionOutcome::Path(path)) if path != url.path() => {
                self.is_changed = true;
                self.all.keep_with_path(url, &path);
            }
            Some(VersionOutcome::NoUrl { reason }) => {
                self.is_changed = true;
                self.without_entry.push(url.document_id());
                if self.keeps_former {
                    self.former.keep(url);
                }
                self.all.keep_no_url(NoUrlRow {
                    document_id: url.document_id(),
                    locale: Some(url.locale()),
                    is_localized: url.is_localized(),
                    reason: &reason,
                    rule: url.rule(),
                    title: url.title(),
                });
            }
            Some(VersionOutcome::Path(_) | VersionOutcome::Same) => self.all.keep(url),
            None => {
                self.to_read.insert(url.document_id().to_owned());
                self.all.keep(url);
            }
        }
    }

    /// Adds a version that has its former URL again, with this path.
    pub(super) fn restore_url(&mut self, url: PublicUrl<'_>, path: &str) {
        self.is_changed = true;
        let (id, locale) = (url.document_id(), url.locale());
        let key = no_url::key(id, Some(locale), url.is_localized());
        self.restored.insert((document_hash(id), locale), key);
        self.all.keep_with_path(url, path);
    }

    pub(super) fn is_restored(&self, version: Version) -> bool {
        self.restored.contains_key(&version)
    }

    /// Adds a version without a URL, with the reason that it had before the document was withdrawn.
    /// Without such a reason it has to be read.
    pub(super) fn restore_row(&mut self, row: NoUrlRow<'_>, before: Option<NoUrlRow<'_>>) {
        match before {
            Some(before) => {
                self.is_changed = true;
                self.all.keep_no_url(before);
            }
            None => self.add_row(row, None, None),
        }
    }

    /// Adds a version without a URL. `before` is its row from before the document was withdrawn.
    pub(super) fn add_row(
        &mut self,
        row: NoUrlRow<'_>,
        outcome: Option<VersionOutcome>,
        before: Option<NoUrlRow<'_>>,
    ) {
        match outcome {
            Some(VersionOutcome::NoUrl { reason }) if reason != row.reason => {
                self.is_changed = true;
                if self.keeps_former {
                    self.former.keep_no_url(before.unwrap_or(row));
                }
                self.all.keep_no_url(NoUrlRow { reason: &reason, ..row });
            }
            Some(_) => {
                if let Some(before) = before {
                    self.former.keep_no_url(before);
                }
                self.all.keep_no_url(row);
            }
            None => {
                self.to_read.insert(row.document_id.to_owned());
                self.all.keep_no_url(row);
            }
        }
    }

    pub(super) fn finish(mut self, before: &Snapshot, builder: Builder) -> RelatedUpdate {
        let to_read = self.to_read;
        if !self.is_changed {
            return RelatedUpdate { patched: Patched::Unchanged, to_read };
        }
        let restored: FxHashSet<u64> = self.restored.into_values().collect();
        let beyond = before.no_url.beyond().iter().copied();
        self.all.keep_beyond(beyond.filter(|key| !restored.contains(key)));
        let Ok(mut snapshot) = builder.finish(vec![self.all]) else {
            return RelatedUpdate { patched: Patched::NeedsWalk, to_read };
        };
        snapshot.without_row.clone_from(&before.without_row);
        snapshot.skipped = snapshot.counted().unwrap_or_else(|| before.skipped.clone());
        snapshot.references = before.references.with_ids(&self.without_entry);
        snapshot.former = finish_former(self.former);
        RelatedUpdate { patched: Patched::Changed(Box::new(snapshot)), to_read }
    }
}
