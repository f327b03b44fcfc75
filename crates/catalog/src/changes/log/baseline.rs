//! A snapshot of a content type, and the changes that lead from it to a later one.

use std::sync::Arc;

use super::entry::{Change, Entry, Kind, Order};
use super::site_log::Batch;
use crate::changes::difference::{self, Difference, LocaleNames, Side};
use crate::snapshot::{PublicUrl, Snapshot};

/// The most changes that are collected, and sorted, in one pass.
const FEW: usize = 1_000;

/// A snapshot of a content type with which the next one is compared.
#[derive(Clone, Debug)]
pub struct Baseline {
    /// The pages.
    pub snapshot: Arc<Snapshot>,
    /// The locales of the site by whose settings it was built.
    pub locales: LocaleNames,
    /// The fingerprint of these settings.
    pub fingerprint: u128,
    /// What distinguishes the CMS of the documents from others.
    pub source: u128,
    /// Whether it is from the store, where titles are left out.
    pub is_stored: bool,
}

impl Baseline {
    /// The changes that lead from this snapshot of a content type to a later one, paths that are freed
    /// first; the last `keep` ones.
    pub fn changes_to(&self, uid: &str, after: &Self, now: i64, keep: usize) -> Batch {
        let mut batch = Batch::default();
        if Arc::ptr_eq(&self.snapshot, &after.snapshot) {
            return batch;
        }
        let difference = self.difference(after);
        let all = || difference.all().map(|change| logged(change, &difference, uid, now));
        let mut few: Vec<_> = all().take(FEW + 1).collect();
        if few.len() <= FEW {
            few.sort_by_key(Change::order);
            for change in &few {
                batch.push(Entry::new(change), keep);
            }
            return batch;
        }
        // One pass for each kind of change keeps no more entries in memory than the log does.
        for order in [Order::Frees, Order::Moves, Order::Takes] {
            let of_kind = all().filter(|change| change.order() == order);
            of_kind.for_each(|change| batch.push(Entry::new(&change), keep));
        }
        batch
    }

    /// This baseline with a snapshot without pages.
    pub fn emptied(&self) -> Self {
        Self { snapshot: Arc::default(), ..self.clone() }
    }

    fn side(&self) -> Side<'_> {
        Side { snapshot: &self.snapshot, locales: &self.locales }
    }

    fn difference<'s>(&'s self, after: &'s Self) -> Difference<'s> {
        let difference = if self.fingerprint == after.fingerprint {
            Difference::of_edits(&self.snapshot, after.side())
        } else {
            Difference::of_rules(self.side(), after.side())
        };
        // Other rules may have another title field.
        let is_comparable = !self.is_stored && self.fingerprint == after.fingerprint;
        if is_comparable { difference } else { difference.without_titles() }
    }
}

/// A change between two snapshots as the log has it.
fn logged<'s>(
    change: difference::Change<'s>,
    difference: &Difference<'s>,
    uid: &'s str,
    now: i64,
) -> Change<'s> {
    let (kind, before, url) = match change {
        difference::Change::Added(after) => (Kind::Added, None, after),
        difference::Change::Gone(before) => (Kind::Gone, Some(before), before),
        difference::Change::Moved { before, after } => (Kind::Moved, Some(before), after),
        difference::Change::Updated(after) => (Kind::Updated, difference.before_of(after), after),
    };
    let side = if kind == Kind::Gone { difference.before() } else { difference.after() };
    let from = before.filter(|_| kind == Kind::Moved).map(PublicUrl::path);
    let change = Change {
        kind,
        uid,
        document_id: url.document_id(),
        locale: side.locales.code(url.locale()),
        path: url.path(),
        from,
        at: now,
        was_listed: before.is_some_and(PublicUrl::is_listed),
        is_listed: kind != Kind::Gone && url.is_listed(),
    };
    match url.redirect() {
        // Readers of the pages in sitemaps get it, too.
        Some(_) => Change {
            kind: Kind::Redirect,
            from: from.or(Some(url.path())),
            was_listed: true,
            is_listed: true,
            ..change
        },
        None => change,
    }
}
