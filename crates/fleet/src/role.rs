//! The role of an instance for a group of snapshots.

/// The role of this instance for a group of snapshots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// The instance walks by itself: there is no Redis, Redis is unavailable, the leader's snapshot
    /// cannot be used, the leader does not respond, or this instance stops.
    #[default]
    Alone,
    /// The instance has the lease, with this fencing epoch: it walks and publishes.
    Leader(u64),
    /// Another instance has the lease: this one adopts what the leader publishes.
    Follower,
}

impl Role {
    /// The names of all roles.
    pub const NAMES: [&str; 3] = ["alone", "leader", "follower"];

    /// The name, as `/readyz` and the metrics show it.
    pub fn name(self) -> &'static str {
        let [alone, leader, follower] = Self::NAMES;
        match self {
            Self::Alone => alone,
            Self::Leader(_) => leader,
            Self::Follower => follower,
        }
    }
}
