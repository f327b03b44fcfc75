//! The ids of a snapshot, which is one content type of one site. They depend on the settings of the
//! site and on the version of the service.

use std::fmt;

use xxhash_rust::xxh3::Xxh3;

use frontend_map_catalog::site::Site;
use frontend_map_store::made_by;

/// The id of a snapshot by the settings of its site: 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SnapshotId(String);

/// The id under which instances share a snapshot: 32 hexadecimal digits. It depends on the lease,
/// so that the snapshot has one leader: instances with other settings or with another version of the
/// service have another id for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SharedSnapshotId(String);

impl SnapshotId {
    /// The id of the snapshot of a content type of a site.
    pub fn of(site: &Site, uid: &str) -> Self {
        let mut hash = Xxh3::new();
        hash.update(&made_by(site.fingerprint).to_le_bytes());
        for text in [&*site.key, uid] {
            hash.update(&(text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
        Self(format!("{:032x}", hash.digest128()))
    }

    /// The id under which instances with this lease share the snapshot.
    pub(super) fn shared(&self, lease: &str) -> SharedSnapshotId {
        let mut hash = Xxh3::new();
        hash.update(self.0.as_bytes());
        hash.update(lease.as_bytes());
        SharedSnapshotId(format!("{:032x}", hash.digest128()))
    }

    /// The text of the id, as in keys.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SharedSnapshotId {
    /// The id of 32 lower-case hexadecimal digits; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == 32 && text.bytes().all(is_hex)).then(|| Self(text.to_owned()))
    }

    /// The text of the id, as in keys and events.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for SharedSnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of the lease of all snapshots of an instance. Instances with other settings for any of them
/// have another lease, and so a leader of their own.
pub(super) fn lease_name(ids: &[SnapshotId]) -> String {
    let mut sorted: Vec<&SnapshotId> = ids.iter().collect();
    sorted.sort();
    let mut hash = Xxh3::new();
    for id in sorted {
        hash.update(id.as_str().as_bytes());
    }
    format!("lead:{:032x}", hash.digest128())
}
