//! The path index of a site, built from the cached snapshots of its content types.

use std::mem::{Discriminant, discriminant};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};

use crate::cached_snapshot::CachedSnapshot;
use frontend_map_catalog::path_index::{PathIndex, TypePaths};
use frontend_map_rules::{ContentTypeUid, RuleSet};

/// A content type and its snapshot.
type TypeSnapshot = (ContentTypeUid, Option<CachedSnapshot>);

/// The path index of a site as a request gets it now.
#[derive(Clone, Debug)]
pub struct PathIndexState {
    /// The index.
    pub index: Arc<PathIndex>,
    /// The age of its oldest snapshot.
    pub age: Duration,
}

/// From which age a snapshot counts as stale, and from which as expired.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgeLimits {
    pub(crate) stale: Duration,
    pub(crate) hard: Duration,
}

/// The current path index of a site, rebuilt after refreshes and when snapshots get too old.
pub(crate) struct PathIndexCell {
    current: RwLock<Arc<Current>>,
    /// Locked while an index is built, which may take long with very many rules: requests use the
    /// previous one meanwhile.
    building: Mutex<()>,
}

struct Current {
    index: Arc<PathIndex>,
    cached_snapshots: Vec<TypeSnapshot>,
    /// How old each snapshot counts in `index`.
    ages: Vec<Discriminant<TypePaths>>,
    /// When the walk of the oldest snapshot began.
    oldest: Option<Instant>,
}

impl PathIndexCell {
    /// The index of a site of which nothing is known.
    pub(crate) fn new(rules: &RuleSet) -> Self {
        let types = rules.content_types().into_iter();
        let current = Current::new(rules, types.map(|uid| (uid.clone(), None)).collect(), None);
        Self { current: RwLock::new(Arc::new(current)), building: Mutex::default() }
    }

    /// Rebuilds the index from these snapshots.
    pub(crate) fn rebuild(
        &self,
        rules: &RuleSet,
        cached_snapshots: impl FnOnce() -> Vec<TypeSnapshot>,
    ) {
        // Locked before the snapshots are read: of two refreshes that complete together, the later
        // one's index stays.
        let _building = self.building.lock();
        // How old the snapshots are is checked with the limits of the next request.
        let current = Arc::new(Current::new(rules, cached_snapshots(), None));
        *self.current.write() = current;
    }

    /// The index. Snapshots that have become too old for it are taken out.
    pub(crate) fn state(&self, rules: &RuleSet, limits: AgeLimits) -> PathIndexState {
        let mut current = Arc::clone(&self.current.read());
        if !current.is_valid(limits) {
            let _building = self.building.lock();
            current = Arc::clone(&self.current.read());
            if !current.is_valid(limits) {
                current =
                    Arc::new(Current::new(rules, current.cached_snapshots.clone(), Some(limits)));
                *self.current.write() = Arc::clone(&current);
            }
        }
        let age = current.oldest.map(|oldest| oldest.elapsed()).unwrap_or_default();
        PathIndexState { index: Arc::clone(&current.index), age }
    }
}

impl Current {
    /// Without limits, all snapshots count as fresh.
    fn new(
        rules: &RuleSet,
        cached_snapshots: Vec<TypeSnapshot>,
        limits: Option<AgeLimits>,
    ) -> Self {
        let paths =
            cached_snapshots.iter().map(|(uid, cached)| (uid, type_paths(cached.as_ref(), limits)));
        let paths: Vec<_> = paths.collect();
        let ages = paths.iter().map(|(_, paths)| discriminant(paths)).collect();
        let index = Arc::new(PathIndex::new(rules, paths));
        let oldest =
            cached_snapshots.iter().filter_map(|(_, cached)| Some(cached.as_ref()?.begun)).min();
        Self { index, cached_snapshots, ages, oldest }
    }

    fn is_valid(&self, limits: AgeLimits) -> bool {
        let limit = limits.stale.min(limits.hard);
        // The usual case: no snapshot is too old, and none has been.
        let is_any_old = self.oldest.is_some_and(|oldest| oldest.elapsed() > limit);
        if !is_any_old && self.index.is_fresh() {
            return true;
        }
        let age =
            |(_, cached): &TypeSnapshot| discriminant(&type_paths(cached.as_ref(), Some(limits)));
        self.cached_snapshots.iter().map(age).eq(self.ages.iter().copied())
    }
}

fn type_paths(cached: Option<&CachedSnapshot>, limits: Option<AgeLimits>) -> TypePaths {
    let Some(cached) = cached else { return TypePaths::Missing };
    let snapshot = Arc::clone(&cached.snapshot);
    let Some(limits) = limits else { return TypePaths::Fresh(snapshot) };
    match cached.begun.elapsed() {
        age if age >= limits.hard => TypePaths::Expired,
        age if age > limits.stale => TypePaths::Stale(snapshot),
        _ => TypePaths::Fresh(snapshot),
    }
}
