//! Where the positions of targets are kept: in the store of this process, or in Redis that
//! several instances share.

use std::sync::Arc;

use super::Target;
use super::position::target_id;
use frontend_map_fleet::positions::{SharedPosition, SharedPositions};
use frontend_map_store::Store;

/// Where positions are kept.
#[derive(Clone)]
pub enum Positions {
    /// In the store, if there is one: this process alone sends.
    Store(Arc<Store>),
    /// In Redis: the holder of the lease of a target and a site sends.
    Shared(SharedPositions),
}

/// Where the position of one target in the log of one site is kept.
#[derive(Clone)]
pub(super) enum OfSite {
    Store(Arc<Store>),
    Shared(Arc<SharedPosition>),
}

impl Positions {
    pub(super) fn of(&self, target: &Target, site: &str) -> OfSite {
        match self {
            Self::Store(store) => OfSite::Store(Arc::clone(store)),
            Self::Shared(shared) => OfSite::Shared(Arc::new(shared.of(&target_id(target), site))),
        }
    }
}

impl OfSite {
    /// Whether the change log of the site in memory is the one that positions refer to.
    pub(super) fn is_current(&self) -> bool {
        match self {
            Self::Store(_) => true,
            Self::Shared(shared) => shared.is_current(),
        }
    }

    /// Whether this process sends the changes of the site to the target, as far as it knows.
    pub(super) fn is_available(&self) -> bool {
        match self {
            Self::Store(_) => true,
            Self::Shared(shared) => shared.is_sender(),
        }
    }
}
