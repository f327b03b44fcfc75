//! What the change log gets from snapshots that are stored.

use std::sync::Arc;

use crate::StoredSnapshot;
use crate::file::{FileError, StoreFile};
use crate::snapshot_key::{SnapshotKey, StoredHeader};
use frontend_map_catalog::changes::log::{Baseline, Loaded, Prepared, Recorder};
use frontend_map_catalog::snapshot::{Builder, Serialized, Snapshot, Unreadable};
use frontend_map_platform::clock::unix_ms;

/// Differences are found without a path table.
const BUILDER: Builder = Builder { path_table: false };

/// Records the changes of a snapshot in memory alone.
pub(super) fn record(recorder: &Recorder, stored: &StoredSnapshot<Arc<Snapshot>>) {
    let (site, uid) = (&stored.key.site, &stored.key.content_type);
    recorder.record(site, uid, Some(baseline(stored)), unix_ms());
}

/// The pages are those of a snapshot in the file, until there is another one.
pub(super) fn adopt(recorder: &Recorder, key: &SnapshotKey, snapshot: &Arc<Snapshot>) {
    recorder.adopt(&key.site, &key.content_type, key.baseline(Arc::clone(snapshot), true));
}

/// The changes to be written with a snapshot.
pub(super) fn prepare(
    recorder: &Recorder,
    file: &StoreFile,
    stored: &StoredSnapshot<Arc<Snapshot>>,
) -> Result<Option<Prepared>, FileError> {
    let (site, uid) = (&stored.key.site, &stored.key.content_type);
    recorder.prepare(site, uid, Some(baseline(stored)), unix_ms(), || load(file, site, uid))
}

/// The changes to be written when the snapshots of a content type are dropped.
pub(super) fn prepare_removal(
    recorder: &Recorder,
    file: &StoreFile,
    site: &str,
    uid: &str,
) -> Result<Option<Prepared>, FileError> {
    recorder.prepare(site, uid, None, unix_ms(), || load(file, site, uid))
}

fn baseline(stored: &StoredSnapshot<Arc<Snapshot>>) -> Baseline {
    stored.key.baseline(Arc::clone(&stored.snapshot), false)
}

/// The snapshot of a content type that the file has, whatever its age.
fn load(file: &StoreFile, site: &str, uid: &str) -> Result<Loaded, FileError> {
    let found = file.snapshots(site, uid)?;
    let read = |bytes: &[u8]| -> Result<Option<Baseline>, Unreadable> {
        let serialized = Serialized::read(bytes)?;
        let Ok(StoredHeader { key, .. }) = serde_json::from_str(serialized.head) else {
            return Ok(None);
        };
        let snapshot = serialized.snapshot(BUILDER)?;
        let is_whole = snapshot.has_locales(key.locales.count());
        Ok(is_whole.then(|| key.baseline(Arc::new(snapshot), true)))
    };
    let Some(last) = found.last() else { return Ok(Loaded::Nothing) };
    Ok(match read(&last.bytes) {
        Ok(Some(baseline)) => Loaded::Baseline(Box::new(baseline)),
        Ok(None) | Err(_) => Loaded::Unreadable,
    })
}
