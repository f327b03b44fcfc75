//! Where the positions of targets are kept: in the store of this process, or in the engine that
//! several instances share.

use std::sync::Arc;

use crate::fleet::positions::SharedPositions;
use crate::store::Store;

/// Where positions are kept.
#[derive(Clone)]
pub enum Positions {
    /// In the store, if there is one: this process alone sends.
    Store(Arc<Store>),
    /// In the engine: the holder of a lease sends.
    Shared(SharedPositions),
}

impl Positions {
    /// Whether the change log of a site in memory is the one that positions refer to.
    pub(super) fn are_current(&self, site: &str) -> bool {
        match self {
            Self::Store(_) => true,
            Self::Shared(shared) => shared.is_current(site),
        }
    }

    /// Whether this process sends, as far as it knows.
    pub(super) fn are_here(&self) -> bool {
        match self {
            Self::Store(_) => true,
            Self::Shared(shared) => shared.is_sender(),
        }
    }
}
