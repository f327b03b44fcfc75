//! A snapshot with the times of its walk, and a request to publish one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use frontend_map_catalog::snapshot::Snapshot;
use frontend_map_store::SnapshotKey;

/// A snapshot with the time of its walk.
#[derive(Clone, Debug)]
pub struct WalkedSnapshot {
    /// The URLs.
    pub snapshot: Arc<Snapshot>,
    /// When the walk began; the snapshot may lack later changes of the CMS.
    pub begun: Instant,
    /// When what is newest in it was read from the CMS, at the earliest.
    pub as_of: Instant,
    /// How long the walk took.
    pub took: Duration,
}

/// A request to publish a snapshot that this instance serves.
#[derive(Clone, Debug)]
pub struct PublishRequest {
    /// Names the snapshot.
    pub key: SnapshotKey,
    /// What decides the content of the site.
    pub content: u128,
    /// The snapshot.
    pub walked: WalkedSnapshot,
}
