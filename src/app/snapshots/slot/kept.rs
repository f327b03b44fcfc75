//! A snapshot as it is kept.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::app::Files;
use crate::snapshot::Snapshot;

/// A snapshot, and when it was true.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The URLs.
    pub snapshot: Arc<Snapshot>,
    /// The sitemap files that they make, where there is a base URL.
    pub files: Option<Arc<Files>>,
    /// When the walk began: what happened since may be missing.
    pub begun: Instant,
    /// The first whole second at whose beginning the listed URLs were these, as far as this process
    /// knows.
    pub changed: SystemTime,
    /// Whether only those get it who waited for its walk: what others have been given since may be
    /// another list, so no date tells the two apart.
    pub alone: bool,
    pub(super) landed: Instant,
}

impl Kept {
    /// A snapshot whose walk has just ended, in the place of another one.
    pub(in crate::app::snapshots) fn new(
        snapshot: Snapshot,
        files: Option<Arc<Files>>,
        begun: Instant,
        before: Option<&Self>,
    ) -> Self {
        let same =
            before.filter(|before| before.snapshot.listing_hash() == snapshot.listing_hash());
        let changed = same.map_or_else(next_second, |before| before.changed);
        let (snapshot, landed) = (Arc::new(snapshot), Instant::now());
        Self { snapshot, files, begun, changed, alone: false, landed }
    }

    /// The date of what it holds, where that can be told.
    #[must_use]
    pub fn dated(&self, changed: SystemTime) -> Option<SystemTime> {
        (!self.alone).then_some(changed)
    }

    /// How long the walk took.
    #[must_use]
    pub fn walked_for(&self) -> Duration {
        self.landed - self.begun
    }

    /// The same walk with documents that were read by themselves.
    pub(in crate::app::snapshots) fn amended(
        &self,
        snapshot: Snapshot,
        files: Option<Arc<Files>>,
    ) -> Self {
        Self {
            landed: self.landed,
            alone: self.alone,
            ..Self::new(snapshot, files, self.begun, Some(self))
        }
    }
}

/// A date of HTTP has whole seconds. Whoever was given other URLs in this second has been told an
/// earlier one than the next, so that dates that are equal mean lists that are equal.
pub(in crate::app) fn next_second() -> SystemTime {
    let now = SystemTime::now();
    let past = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    now + Duration::new(1, 0) - Duration::from_nanos(past.into())
}
