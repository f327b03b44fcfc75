//! A snapshot in the store: what it was built by, its times, and how it is read.

use std::time::{Duration, Instant};

use xxhash_rust::xxh3::xxh3_128;

use crate::persisted_instant::PersistedInstant;
use crate::snapshot_key::{SnapshotKey, StoredHeader};
use frontend_map_catalog::snapshot::{Builder, Serialized, Snapshot};

/// A snapshot to be stored, or one from the store, with its times.
#[derive(Clone, Debug)]
pub struct StoredSnapshot<S> {
    /// What it is a snapshot of.
    pub key: SnapshotKey,
    /// The URLs.
    pub snapshot: S,
    /// When its walk began.
    pub begun: Instant,
    /// How long its walk took.
    pub took: Duration,
}

/// The fingerprint of what this version of the service builds by the settings of a site with this
/// fingerprint: another version may build other URLs by the same rules.
pub fn made_by(site_fingerprint: u128) -> u128 {
    let text = format!("{} {site_fingerprint:032x}", env!("CARGO_PKG_VERSION"));
    xxh3_128(text.as_bytes())
}

/// How soon a snapshot is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// At once: the result of a walk.
    Now,
    /// After a pause, in which more changes may come: the result of an incremental update.
    Debounced,
}

/// A stored snapshot; `written` is when the file was last written.
pub(crate) fn read(
    bytes: &[u8],
    written: Option<i64>,
    site: &str,
    uid: &str,
    builder: Builder,
) -> Option<StoredSnapshot<Snapshot>> {
    let found = Serialized::read(bytes).and_then(|serialized| {
        let header = serde_json::from_str::<StoredHeader>(serialized.head);
        let snapshot = serialized.snapshot(builder)?;
        Ok(header.ok().map(|header| (header, snapshot)))
    });
    let (StoredHeader { key, begun, took_ms }, snapshot) = match found {
        Ok(Some(found)) => found,
        Ok(None) => return unusable(site, uid, "its header cannot be read"),
        Err(error) => return unusable(site, uid, &error.to_string()),
    };
    if key.site != site || key.content_type != uid {
        return unusable(site, uid, "it is of another site or content type");
    }
    let Some(age) = PersistedInstant::now().since(&begun, written) else {
        return unusable(site, uid, "the clock has gone back, so that its age is not known");
    };
    let Some(begun) = Instant::now().checked_sub(age) else {
        return unusable(site, uid, "it is older than the clock of the process can say");
    };
    Some(StoredSnapshot { key, snapshot, begun, took: Duration::from_millis(took_ms) })
}

fn unusable<T>(site: &str, uid: &str, reason: &str) -> Option<T> {
    tracing::warn!(site, uid, reason, "a stored snapshot is not used");
    None
}
