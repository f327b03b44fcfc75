//! A snapshot in which single documents were read anew.

use rustc_hash::FxHashSet;

use super::build::{Builder, Listing, path_hash};
use super::{PublicUrl, Snapshot};
use crate::rules::Document;

/// A document that was read anew.
#[derive(Clone, Debug)]
pub struct Reread {
    /// The document.
    pub id: String,
    /// All versions of it that are published now, in the site's locales.
    pub versions: Vec<Document<'static>>,
}

impl Snapshot {
    /// The same with these documents as they are now; who was left out is counted as before.
    ///
    /// `None` where only a walk can tell: too much text, or a path comes free that another document
    /// may have had as well, which is not in here.
    #[must_use]
    pub fn with(&self, reread: &[Reread], listing: Listing<'_>, builder: Builder) -> Option<Self> {
        let ids: FxHashSet<&str> = reread.iter().map(|document| &*document.id).collect();
        let (mut others, mut own) = (listing.part(), listing.part());
        let mut before = Vec::new();
        for url in self.urls() {
            if ids.contains(url.document_id()) {
                before.push(url);
            } else {
                others.keep(url);
            }
        }
        for version in reread.iter().flat_map(|document| &document.versions) {
            own.add(version);
        }
        let paths: FxHashSet<&str> = own.paths().collect();
        let comes_free = |url: &&PublicUrl<'_>| !paths.contains(url.path());
        let is_shared = |url: &PublicUrl<'_>| self.shared.contains(&path_hash(url.path()));
        if before.iter().filter(comes_free).any(is_shared) {
            return None;
        }
        let mut snapshot = builder.finish(vec![others, own]).ok()?;
        snapshot.duplicates += self.duplicates;
        snapshot.shared.extend(&self.shared);
        snapshot.skipped.clone_from(&self.skipped);
        Some(snapshot)
    }

    fn urls(&self) -> impl Iterator<Item = PublicUrl<'_>> {
        (0..self.len()).map(|at| self.url(at))
    }
}
