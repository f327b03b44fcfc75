//! The live paths of a site, put together from the copies of all its content types.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::RwLock;

use super::slot::{Kept, Slot};
use crate::app::App;
use crate::path_index::PathIndex;
use crate::site::Site;

/// After how many soft limits a path index is stale: enough for a CMS that restarts.
const STALE_AFTER: u32 = 10;

/// Shared by the apps that have the same copies.
#[derive(Clone, Default)]
pub(super) struct SharedIndex(Arc<RwLock<Option<Known>>>);

/// What a site knows about its live paths, and since when.
#[derive(Clone)]
struct Known {
    index: Arc<PathIndex>,
    oldest: Instant,
}

/// What a site knows about its live paths.
#[derive(Clone, Debug)]
pub enum Index {
    /// Nothing yet.
    Missing,
    /// What was true before refreshes began to fail, too long ago.
    Stale(Arc<PathIndex>),
    /// What was true a short while ago.
    Fresh(Arc<PathIndex>),
}

impl SharedIndex {
    /// Puts it together anew, once there is a copy of each of the site's types.
    pub(super) fn rebuild<'s>(&self, slots: impl Iterator<Item = &'s Arc<Slot>>) {
        // Before the copies are looked at: of two walks that land together the later one wins.
        let mut known = self.0.write();
        let kept: Option<Vec<Kept>> = slots.map(|slot| slot.kept()).collect();
        *known = kept.and_then(|kept| {
            let oldest = kept.iter().map(|kept| kept.begun).min()?;
            let snapshots = kept.into_iter().map(|kept| kept.snapshot).collect();
            Some(Known { index: Arc::new(PathIndex::new(snapshots)), oldest })
        });
    }

    fn known(&self) -> Option<Known> {
        self.0.read().clone()
    }
}

impl App {
    /// The live paths of a site; `None` when it does not want to know them.
    #[must_use]
    pub fn index(&self, site: &Site) -> Option<Index> {
        Some(match self.snapshots.indexes.get(&site.key)?.known() {
            None => Index::Missing,
            Some(Known { index, oldest }) if self.is_stale(oldest) => Index::Stale(index),
            Some(Known { index, .. }) => Index::Fresh(index),
        })
    }

    fn is_stale(&self, since: Instant) -> bool {
        self.content.may_change() && since.elapsed() > self.snapshots.freshness.soft * STALE_AFTER
    }
}
