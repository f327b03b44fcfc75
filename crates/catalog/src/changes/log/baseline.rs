//! A snapshot of a content type, and the changes that lead from it to a later one.

use std::sync::Arc;

use super::entries::Entries;
use super::entry::{Entry, Order};
use super::site_log::Batch;
use crate::changes::difference::{Difference, LocaleNames, Side};
use crate::snapshot::Snapshot;

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
        let entries = Entries::new(uid, &difference);
        let all = || difference.all().map(|change| entries.entry(change, now));
        let mut few: Vec<_> = all().take(FEW + 1).collect();
        if few.len() <= FEW {
            few.sort_by_key(Entry::order);
            for entry in few {
                batch.push(entry, keep);
            }
            return batch;
        }
        // One pass for each kind of change keeps no more entries in memory than the log does.
        for order in [Order::Frees, Order::Moves, Order::Takes] {
            all().filter(|entry| entry.order() == order).for_each(|entry| batch.push(entry, keep));
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
