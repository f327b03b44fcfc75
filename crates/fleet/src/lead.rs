//! The lead: of the instances with the same settings, one walks the CMS and publishes for all.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use xxhash_rust::xxh3::xxh3_64;

use crate::Role;
use crate::redis::{self, Lease};

/// After so many failed walks in a row, of whichever content types, the lead is given up.
const FAILED_WALKS: u32 = 3;
/// Walks that begin because Redis is unavailable begin within this time.
const JITTER: Duration = Duration::from_secs(5);

/// The lead of the instances with the same sites. Dropping it releases its lease.
pub struct Lead {
    redis: redis::Client,
    lease: Lease,
    /// The epoch in which this instance leads: it has adopted what was published before.
    ready: AtomicU64,
    failed_walks: AtomicU32,
    /// Whether this instance has given up the lease since its last successful walk.
    has_given_up: AtomicBool,
    /// Whether this instance has released its leases, because it stops.
    is_released: Arc<AtomicBool>,
}

impl Lead {
    pub(super) fn new(redis: redis::Client, lease: Lease, is_released: Arc<AtomicBool>) -> Self {
        Self {
            redis,
            lease,
            ready: AtomicU64::new(0),
            failed_walks: AtomicU32::new(0),
            has_given_up: AtomicBool::new(false),
            is_released,
        }
    }

    /// The lease of the leader.
    #[must_use]
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    pub(super) fn redis(&self) -> &redis::Client {
        &self.redis
    }

    /// The role of this instance, apart from snapshots that it has to walk by itself although there is a
    /// leader.
    pub(super) fn role(&self) -> Role {
        if self.is_released() || self.is_unavailable() {
            return Role::Alone;
        }
        match self.lease.epoch() {
            Some(epoch) if self.ready.load(Ordering::Relaxed) == epoch => Role::Leader(epoch),
            _ => Role::Follower,
        }
    }

    /// The epoch of the lease if this instance has it and does not lead yet: it has not adopted
    /// what was published before.
    #[must_use]
    pub fn new_epoch(&self) -> Option<u64> {
        self.lease.epoch().filter(|epoch| self.ready.load(Ordering::Relaxed) != *epoch)
    }

    /// Makes this instance the leader in this epoch: it has adopted what was published before.
    pub fn begin(&self, epoch: u64) {
        self.ready.store(epoch, Ordering::Relaxed);
    }

    /// Gives up the lease if this instance leads and there are other instances, because this one does not
    /// reach the CMS: see [`Lease::give_up`]. Returns whether it did.
    pub fn give_up(&self) -> bool {
        let leads = matches!(self.role(), Role::Leader(_));
        if !leads || self.redis.instances() < 2 || !self.lease.give_up() {
            return false;
        }
        self.failed_walks.store(0, Ordering::Relaxed);
        // An outage of an hour is one line, not hundreds.
        if self.has_given_up.swap(true, Ordering::Relaxed) {
            tracing::debug!("the walks fail again: the lease is given up");
        } else {
            tracing::warn!("the walks fail: the lease is given up for another instance");
        }
        true
    }

    /// Records a successful walk of this instance.
    pub(super) fn record_walk(&self) {
        self.failed_walks.store(0, Ordering::Relaxed);
        self.has_given_up.store(false, Ordering::Relaxed);
    }

    /// Records a failed walk of this instance. Returns whether the lease is given up for it.
    pub(super) fn record_failure(&self) -> bool {
        let failed = self.failed_walks.fetch_add(1, Ordering::Relaxed) + 1;
        failed >= FAILED_WALKS && self.give_up()
    }

    pub(super) fn is_released(&self) -> bool {
        self.is_released.load(Ordering::Relaxed)
    }

    pub(super) fn is_unavailable(&self) -> bool {
        matches!(self.redis.availability(), redis::Availability::Unavailable { .. })
    }

    /// Whether walks of the group with this name that begin because Redis is unavailable still wait:
    /// instances and groups begin at random times.
    pub(super) fn is_in_jitter(&self, name: &str) -> bool {
        let redis::Availability::Unavailable { since, .. } = self.redis.availability() else {
            return false;
        };
        let seed = format!("{} {name}", self.redis.instance_id());
        // Any hash spreads the instances evenly.
        #[expect(clippy::cast_precision_loss, reason = "53 bits are enough for a fraction")]
        let fraction = xxh3_64(seed.as_bytes()) as f64 / u64::MAX as f64;
        Instant::now().saturating_duration_since(since) < JITTER.mul_f64(fraction)
    }
}
