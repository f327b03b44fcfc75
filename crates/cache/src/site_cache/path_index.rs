//! The path index of a site, built from the cached copies of its content types.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};

use crate::copy::CachedCopy;
use frontend_map_catalog::path_index::{PathIndex, TypePaths};
use frontend_map_rules::{ContentTypeUid, RuleSet};

/// A content type and its copy.
type TypeCopy = (ContentTypeUid, Option<CachedCopy>);

/// The path index of a site as a request gets it now.
#[derive(Clone, Debug)]
pub struct PathIndexState {
    /// The index.
    pub index: Arc<PathIndex>,
    /// The age of its oldest copy.
    pub age: Duration,
}

/// From which age a copy counts as stale, and from which as expired.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgeLimits {
    pub(crate) stale: Duration,
    pub(crate) hard: Duration,
}

/// The current path index of a site, rebuilt after refreshes and when copies get too old.
pub(crate) struct PathIndexCell {
    current: RwLock<Arc<Current>>,
    /// Locked while an index is built, which may take long with very many rules: requests use the
    /// previous one meanwhile.
    building: Mutex<()>,
}

struct Current {
    index: Arc<PathIndex>,
    copies: Vec<TypeCopy>,
    /// How old each copy counts in `index`.
    ages: Vec<AgeClass>,
    /// When the walk of the oldest copy began.
    oldest: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AgeClass {
    Missing,
    Fresh,
    Stale,
    Expired,
}

impl PathIndexCell {
    /// The index of a site of which nothing is known.
    pub(crate) fn new(rules: &RuleSet) -> Self {
        let types = rules.content_types().into_iter();
        let current = Current::new(rules, types.map(|uid| (uid.clone(), None)).collect(), None);
        Self { current: RwLock::new(Arc::new(current)), building: Mutex::default() }
    }

    /// Rebuilds the index from these copies.
    pub(crate) fn rebuild(&self, rules: &RuleSet, copies: impl FnOnce() -> Vec<TypeCopy>) {
        // Locked before the copies are read: of two refreshes that complete together, the later
        // one's index stays.
        let _building = self.building.lock();
        // How old the copies are is checked with the limits of the next request.
        let current = Arc::new(Current::new(rules, copies(), None));
        *self.current.write() = current;
    }

    /// The index. Copies that have become too old for it are taken out.
    pub(crate) fn state(&self, rules: &RuleSet, limits: AgeLimits) -> PathIndexState {
        let mut current = Arc::clone(&self.current.read());
        if !current.is_valid(limits) {
            let _building = self.building.lock();
            current = Arc::clone(&self.current.read());
            if !current.is_valid(limits) {
                current = Arc::new(Current::new(rules, current.copies.clone(), Some(limits)));
                *self.current.write() = Arc::clone(&current);
            }
        }
        let age = current.oldest.map(|oldest| oldest.elapsed()).unwrap_or_default();
        PathIndexState { index: Arc::clone(&current.index), age }
    }
}

impl Current {
    /// Without limits, all copies count as fresh.
    fn new(rules: &RuleSet, copies: Vec<TypeCopy>, limits: Option<AgeLimits>) -> Self {
        let class = |(_, copy): &TypeCopy| AgeClass::of(copy.as_ref(), limits);
        let ages: Vec<AgeClass> = copies.iter().map(class).collect();
        let paths =
            copies.iter().zip(&ages).map(|((uid, copy), age)| (uid, age.paths(copy.as_ref())));
        let index = Arc::new(PathIndex::new(rules, paths));
        let oldest = copies.iter().filter_map(|(_, copy)| Some(copy.as_ref()?.begun)).min();
        Self { index, copies, ages, oldest }
    }

    fn is_valid(&self, limits: AgeLimits) -> bool {
        let limit = limits.stale.min(limits.hard);
        // The usual case: no copy is too old, and none has been.
        let is_any_old = self.oldest.is_some_and(|oldest| oldest.elapsed() > limit);
        if !is_any_old && self.index.is_fresh() {
            return true;
        }
        let class = |(_, copy): &TypeCopy| AgeClass::of(copy.as_ref(), Some(limits));
        self.copies.iter().map(class).eq(self.ages.iter().copied())
    }
}

impl AgeClass {
    fn of(copy: Option<&CachedCopy>, limits: Option<AgeLimits>) -> Self {
        let Some(copy) = copy else { return Self::Missing };
        let Some(limits) = limits else { return Self::Fresh };
        match copy.begun.elapsed() {
            age if age >= limits.hard => Self::Expired,
            age if age > limits.stale => Self::Stale,
            _ => Self::Fresh,
        }
    }

    fn paths(self, copy: Option<&CachedCopy>) -> TypePaths {
        match (self, copy) {
            (Self::Fresh, Some(copy)) => TypePaths::Fresh(Arc::clone(&copy.snapshot)),
            (Self::Stale, Some(copy)) => TypePaths::Stale(Arc::clone(&copy.snapshot)),
            (Self::Expired, Some(_)) => TypePaths::Expired,
            (Self::Missing, _) | (_, None) => TypePaths::Missing,
        }
    }
}
