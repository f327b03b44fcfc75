//! What happens to an entry while documents are read that may be older versions: by a refresh, or by
//! an incremental update.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::time::Instant;

use crate::invalidation::Invalidation;
use frontend_map_catalog::snapshot::Patch;
use frontend_map_rules::{Document, DocumentLocale, Locale};

/// The most invalidations that are kept during a walk; with more, another walk follows.
const MAX_INVALIDATIONS: usize = 20_000;

/// Incremental updates and invalidations, in the order of the times before their reads.
#[derive(Default)]
pub(super) struct Updates {
    /// Each with the time before the document was read.
    patches: Vec<(Instant, Patch)>,
    invalidations: Vec<(Instant, Invalidation)>,
    /// When the reads in flight of incremental updates began.
    reads: Vec<Instant>,
}

/// The reads of single versions since a time.
pub(crate) struct ReadVersions(HashMap<String, Vec<ReadVersion>>);

/// When a version was read; with `None` as its locale, when all versions of the document were.
type ReadVersion = (Instant, Option<DocumentLocale<'static>>);

impl Updates {
    pub(super) fn begin_read(&mut self, since: Instant) {
        self.reads.push(since);
    }

    pub(super) fn end_read(&mut self, since: Instant) {
        if let Some(at) = self.reads.iter().position(|read| *read == since) {
            self.reads.swap_remove(at);
        }
    }

    pub(super) fn has_reads(&self) -> bool {
        !self.reads.is_empty()
    }

    /// Forgets what no read in flight needs; `walk` is when a refresh in flight began.
    pub(super) fn prune(&mut self, walk: Option<Instant>) {
        if let Some(oldest) = self.reads.iter().copied().chain(walk).min() {
            self.patches.retain(|(since, _)| *since > oldest);
            self.invalidations.retain(|(since, _)| *since > oldest);
        } else {
            (self.patches, self.invalidations) = <(Vec<_>, Vec<_>)>::default();
        }
    }

    /// Keeps patches that were read after `since`. Returns them with what was read later on top.
    pub(super) fn keep_patches<'p>(
        &mut self,
        since: Instant,
        patches: &'p [Patch],
    ) -> Cow<'p, [Patch]> {
        let mut merged = Cow::Borrowed(patches);
        let later = self.patches_since(since);
        if !later.is_empty() {
            let later: HashMap<&str, &Patch> =
                later.iter().map(|patch| (&*patch.id, patch)).collect();
            for patch in merged.to_mut() {
                if let Some(later) = later.get(&*patch.id) {
                    patch.add(later);
                }
            }
        }
        let new: HashMap<&str, &Patch> = patches.iter().map(|patch| (&*patch.id, patch)).collect();
        self.patches.retain_mut(|(at, patch)| match new.get(&*patch.id) {
            Some(new) if *at <= since => is_needed_beside(patch, new),
            _ => true,
        });
        self.patches.extend(patches.iter().map(|patch| (since, patch.clone())));
        self.patches.sort_by_key(|(since, _)| *since);
        merged
    }

    /// Keeps invalidations, each once. `false`: there are too many, and all of them are dropped.
    pub(super) fn keep_invalidations(
        &mut self,
        since: Instant,
        invalidations: &[&Invalidation],
    ) -> bool {
        self.forget_invalidations(invalidations);
        let is_kept = self.invalidations.len() + invalidations.len() <= MAX_INVALIDATIONS;
        if is_kept {
            self.invalidations
                .extend(invalidations.iter().map(|invalidation| (since, (*invalidation).clone())));
        } else {
            self.invalidations.clear();
        }
        is_kept
    }

    pub(super) fn forget_invalidations(&mut self, invalidations: &[&Invalidation]) {
        let invalidations: HashSet<&Invalidation> = invalidations.iter().copied().collect();
        self.invalidations.retain(|(_, invalidation)| !invalidations.contains(invalidation));
    }

    pub(super) fn patches_since(&self, begun: Instant) -> Vec<Patch> {
        let mut by_id: HashMap<&str, Patch> = HashMap::new();
        for (_, patch) in self.patches.iter().filter(|(since, _)| *since > begun) {
            match by_id.get_mut(&*patch.id) {
                Some(before) => before.add(patch),
                None => drop(by_id.insert(&patch.id, patch.clone())),
            }
        }
        by_id.into_values().collect()
    }

    pub(super) fn invalidations_since(&self, begun: Instant) -> Vec<(Instant, Invalidation)> {
        self.invalidations.iter().filter(|(since, _)| *since > begun).cloned().collect()
    }

    pub(super) fn read_versions(&self) -> ReadVersions {
        let mut by_id: HashMap<String, Vec<ReadVersion>> = HashMap::new();
        for (since, patch) in &self.patches {
            let own = by_id.entry(patch.id.clone()).or_default();
            if patch.is_partial {
                let locales = patch.versions.iter().map(|version| version.locale.clone());
                own.extend(locales.map(|locale| (*since, Some(locale))));
            } else {
                own.push((*since, None));
            }
        }
        ReadVersions(by_id)
    }
}

/// Removes what a newer patch replaces. Returns whether anything is left.
fn is_needed_beside(patch: &mut Patch, newer: &Patch) -> bool {
    if newer.is_partial && patch.is_partial {
        let is_replaced =
            |one: &Document<'_>| newer.versions.iter().any(|new| new.locale == one.locale);
        patch.versions.retain(|version| !is_replaced(version));
    }
    newer.is_partial && !(patch.is_partial && patch.versions.is_empty())
}

impl ReadVersions {
    /// Whether a version of a document was read after `since`.
    pub(crate) fn has(&self, since: Instant, id: &str, locale: &Locale) -> bool {
        let is_own = |own: &DocumentLocale<'_>| own.may_be_in(locale.as_str());
        let mut own = self.0.get(id).into_iter().flatten();
        own.any(|(at, locale)| *at >= since && locale.as_ref().is_none_or(is_own))
    }
}
