//! The path index of a site, built from the cached copies of all its content types.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::RwLock;

use super::copy::CachedCopy;
use crate::path_index::PathIndex;

/// The path index of a site, and from when it is.
#[derive(Clone)]
struct Dated {
    index: Arc<PathIndex>,
    /// When the refresh of its oldest copy began.
    oldest: Instant,
}

/// The path index of a site as a request gets it now.
#[derive(Clone, Debug)]
pub enum PathIndexState {
    /// There is no copy of one of the content types yet.
    Missing,
    /// Too old, because refreshes fail.
    Stale(Arc<PathIndex>),
    /// Up to date.
    Fresh(Arc<PathIndex>),
}

/// The current path index of a site, rebuilt after refreshes.
#[derive(Default)]
pub(super) struct PathIndexCell(RwLock<Option<Dated>>);

impl PathIndexCell {
    /// Rebuilds the index; a copy that is `None`: the content type has none yet.
    pub(super) fn rebuild(&self, copies: impl Iterator<Item = Option<CachedCopy>>) {
        // Locked before the copies are read: of two refreshes that complete together, the later
        // one's index stays.
        let mut dated = self.0.write();
        let copies: Option<Vec<CachedCopy>> = copies.collect();
        *dated = copies.and_then(|copies| {
            let oldest = copies.iter().map(|copy| copy.begun).min()?;
            let snapshots = copies.into_iter().map(|copy| copy.snapshot).collect();
            Some(Dated { index: Arc::new(PathIndex::new(snapshots)), oldest })
        });
    }

    /// The index; it is stale if its oldest copy is older than `limit`.
    pub(super) fn state(&self, limit: Duration) -> PathIndexState {
        match self.0.read().clone() {
            None => PathIndexState::Missing,
            Some(Dated { index, oldest }) if oldest.elapsed() > limit => {
                PathIndexState::Stale(index)
            }
            Some(Dated { index, .. }) => PathIndexState::Fresh(index),
        }
    }
}
