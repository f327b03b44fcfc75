//! The lead: of the instances with the same settings, one walks the CMS and publishes for all.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_64;

use crate::Role;
use crate::redis::{self, Lease};

/// The lead is given up after so many failed walks, if the last walk of each content type has failed: one
/// that always fails does not make it so.
const FAILED_WALKS: usize = 3;
/// Walks that begin because Redis is unavailable begin within this time.
const JITTER: Duration = Duration::from_secs(5);

/// The walks of this instance for the content types of its sites.
#[derive(Default)]
struct Walks {
    /// How many content types there are.
    types: usize,
    /// The content types whose last walk has failed.
    failing: BTreeSet<String>,
    /// How many walks have failed since the last successful one.
    failures: usize,
}

impl Walks {
    /// Records a failed walk. Returns whether this instance seems not to reach the CMS.
    fn fail(&mut self, group: &str) -> bool {
        self.failures += 1;
        self.failing.insert(group.to_owned());
        self.failures >= FAILED_WALKS && self.failing.len() >= self.types
    }

    fn succeed(&mut self, group: &str) {
        self.failures = 0;
        self.failing.remove(group);
    }
}

/// What decides the role of an instance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    /// Whether it stops, or Redis is unavailable.
    pub(crate) is_alone: bool,
    /// The epoch of the lease, if the instance has it.
    pub(crate) epoch: Option<u64>,
    /// The last epoch in which it has adopted what was published before.
    pub(crate) ready: u64,
}

/// The role of an instance, apart from snapshots that it has to walk by itself although there is a
/// leader.
pub(crate) fn role(Standing { is_alone, epoch, ready }: Standing) -> Role {
    match epoch {
        _ if is_alone => Role::Alone,
        Some(epoch) if epoch == ready => Role::Leader(epoch),
        _ => Role::Follower,
    }
}

/// The lead of the instances with the same sites. Dropping it releases its lease.
pub struct Lead {
    redis: redis::Client,
    lease: Lease,
    /// The epoch in which this instance leads: it has adopted what was published before.
    ready: AtomicU64,
    walks: Mutex<Walks>,
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
            walks: Mutex::default(),
            has_given_up: AtomicBool::new(false),
            is_released,
        }
    }

    /// The lease of the leader.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    pub(super) fn redis(&self) -> &redis::Client {
        &self.redis
    }

    /// The role of this instance, apart from snapshots that it has to walk by itself although there is a
    /// leader.
    pub(super) fn role(&self) -> Role {
        role(Standing {
            is_alone: self.is_released() || self.is_unavailable(),
            epoch: self.lease.epoch(),
            ready: self.ready.load(Ordering::Relaxed),
        })
    }

    /// The epoch of the lease if this instance has it and does not lead yet: it has not adopted
    /// what was published before.
    pub fn new_epoch(&self) -> Option<u64> {
        self.lease.epoch().filter(|epoch| self.ready.load(Ordering::Relaxed) != *epoch)
    }

    /// Makes this instance the leader in this epoch: it has adopted what was published before.
    pub fn begin(&self, epoch: u64) {
        self.ready.store(epoch, Ordering::Relaxed);
    }

    /// Gives up the lease if this instance leads and there are other instances, for this reason: see
    /// [`Lease::give_up`]. Returns whether it did.
    pub fn give_up(&self, reason: &'static str) -> bool {
        let leads = matches!(self.role(), Role::Leader(_));
        if !leads || self.redis.instances() < 2 || !self.lease.give_up() {
            return false;
        }
        self.walks.lock().failures = 0;
        // An outage of an hour is one line, not hundreds.
        if self.has_given_up.swap(true, Ordering::Relaxed) {
            tracing::debug!(reason, "the lease is given up again");
        } else {
            tracing::warn!(reason, "the lease is given up for another instance");
        }
        true
    }

    /// Adds a group, which is a content type.
    pub(super) fn add_group(&self) {
        self.walks.lock().types += 1;
    }

    /// Records a successful walk of this instance for the group with this name.
    pub(super) fn record_success(&self, group: &str) {
        self.walks.lock().succeed(group);
        self.has_given_up.store(false, Ordering::Relaxed);
    }

    /// Records a failed walk of this instance for the group with this name. Returns whether the lease is
    /// given up for it.
    pub(super) fn record_failure(&self, group: &str) -> bool {
        let is_cut_off = self.walks.lock().fail(group);
        is_cut_off && self.give_up("the walks of all content types fail")
    }

    pub(super) fn is_released(&self) -> bool {
        self.is_released.load(Ordering::Relaxed)
    }

    pub(super) fn is_unavailable(&self) -> bool {
        self.redis.is_unavailable()
    }

    /// Whether walks of the group with this name that begin because Redis is unavailable still wait:
    /// instances and groups begin at random times.
    pub(super) fn is_in_jitter(&self, name: &str) -> bool {
        let Some(outage_age) = self.redis.outage_age() else { return false };
        let seed = format!("{} {name}", self.redis.instance_id());
        // Any hash spreads the instances evenly.
        #[expect(clippy::cast_precision_loss, reason = "53 bits are enough for a fraction")]
        let fraction = xxh3_64(seed.as_bytes()) as f64 / u64::MAX as f64;
        outage_age < JITTER.mul_f64(fraction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holder_of_the_lease_leads_once_it_has_adopted_what_was_published() {
        let standing = Standing { is_alone: false, epoch: Some(2), ready: 1 };
        assert_eq!(role(standing), Role::Follower);
        assert_eq!(role(Standing { ready: 2, ..standing }), Role::Leader(2));
        assert_eq!(role(Standing { epoch: None, ready: 2, ..standing }), Role::Follower);
        assert_eq!(role(Standing { is_alone: true, ready: 2, ..standing }), Role::Alone);
    }

    #[test]
    fn instance_is_cut_off_if_the_walks_of_all_content_types_fail() {
        let mut walks = Walks { types: 2, ..Walks::default() };
        for _ in 0..10 {
            assert!(!walks.fail("broken"), "the other one is not walked yet");
        }
        walks.succeed("good");
        for _ in 0..10 {
            assert!(!walks.fail("broken"));
        }
        assert!(walks.fail("good"), "now both fail");
        walks.succeed("broken");
        assert!(!walks.fail("good"));
        let mut alone = Walks { types: 1, ..Walks::default() };
        assert_eq!([(); 3].map(|()| alone.fail("only")), [false, false, true]);
    }
}
