//! Where the positions of targets are kept: in the store of this process, or in the engine that
//! several instances share.

use std::sync::Arc;

use super::Target;
use super::position::target_id;
use crate::fleet::positions::{SharedPositions, TargetPositions};
use crate::store::Store;

/// Where positions are kept.
#[derive(Clone)]
pub enum Positions {
    /// In the store, if there is one: this process alone sends.
    Store(Arc<Store>),
    /// In the engine: the holder of a target's lease sends.
    Shared(SharedPositions),
}

/// Where the positions of one target are kept.
#[derive(Clone)]
pub(super) enum OfTarget {
    Store(Arc<Store>),
    Shared(Arc<TargetPositions>),
}

impl Positions {
    pub(super) fn of_target(&self, target: &Target) -> OfTarget {
        match self {
            Self::Store(store) => OfTarget::Store(Arc::clone(store)),
            Self::Shared(shared) => {
                let positions = shared.of_target(&target_id(target), &target.sites);
                OfTarget::Shared(Arc::new(positions))
            }
        }
    }
}

impl OfTarget {
    /// Whether the change log of a site in memory is the one that positions refer to.
    pub(super) fn are_current(&self, site: &str) -> bool {
        match self {
            Self::Store(_) => true,
            Self::Shared(shared) => shared.is_current(site),
        }
    }

    /// Whether this process sends to the target, as far as it knows.
    pub(super) fn are_here(&self) -> bool {
        match self {
            Self::Store(_) => true,
            Self::Shared(shared) => shared.is_sender(),
        }
    }
}
