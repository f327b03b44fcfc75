//! Reads a published version: its base and its deltas, each of which is checked.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::block_in_place;

use super::adoption::NotAdopted;
use super::pointer::{Base, Pointer};
use super::publication::{IN_CHUNKS, INLINE, context};
use super::state::{Deltas, PublishedSnapshot};
use super::{MAX_BASE_BYTES, SharedSnapshotId, SharedSnapshots, WalkedSnapshot};
use crate::redis::{self, Chunks, StreamEntry};
use crate::snapshot_position::Position;
use frontend_map_catalog::snapshot::{Builder, Delta, Listing, Serialized, Snapshot};
use frontend_map_rules::{PathSegment, Pathname, without_trailing_slash};

/// The time limit of a read of deltas.
const READ_WITHIN: Duration = Duration::from_secs(5);
/// How many deltas are read at once.
const BATCH: usize = 64;

/// A value may decompress to so many times its size, and so many bytes in addition; the last
/// constant is the most bytes in any case.
const MAX_RATIO: usize = 100;
const MIN_DECOMPRESSED: usize = 16 << 20;
const MAX_DECOMPRESSED: usize = 1 << 30;

/// What a published snapshot must fit: the snapshot, and its rules and locales by the present
/// settings; `None`: other settings have built it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'l> {
    pub(super) id: &'l SharedSnapshotId,
    pub(super) listing: Option<Listing<'l>>,
    pub(super) builder: Builder,
}

impl SharedSnapshots {
    /// Reads the version of a pointer: from the known version by deltas if possible, otherwise from
    /// the base.
    pub(super) async fn version(
        &self,
        frame: Frame<'_>,
        before: Option<&PublishedSnapshot>,
        pointer: &Pointer,
    ) -> Result<PublishedSnapshot, NotAdopted> {
        let is_before = |before: &&PublishedSnapshot| before.position < pointer.position;
        if let Some(before) = before.filter(is_before) {
            let snapshot = Arc::clone(&before.walked.snapshot);
            match self.with_deltas(frame, snapshot, before.position, pointer).await {
                Ok((snapshot, deltas)) => {
                    let mut all = before.deltas.clone();
                    if before.base == pointer.base {
                        all.add(deltas);
                    } else {
                        all = deltas;
                    }
                    return self.verified(frame, snapshot, all, pointer);
                }
                Err(NotAdopted::Refused(reason)) => {
                    tracing::debug!(snapshot = %frame.id, reason, "the base is read instead of deltas");
                }
                Err(error) => return Err(error),
            }
        }
        let base = self.base(frame, &pointer.base).await?;
        let (base, position) = (Arc::new(base), pointer.base.position);
        let (snapshot, deltas) = self.with_deltas(frame, base, position, pointer).await?;
        self.verified(frame, snapshot, deltas, pointer)
    }

    async fn base(&self, frame: Frame<'_>, base: &Base) -> Result<Snapshot, NotAdopted> {
        let bytes = self.redis.download(&base.chunks, MAX_BASE_BYTES).await?;
        block_in_place(|| {
            let serialized = Serialized::read(&bytes).map_err(NotAdopted::refused)?;
            if serialized.head != frame.id.as_str() {
                return Err(NotAdopted::refused("the base is of another snapshot"));
            }
            let snapshot = serialized.snapshot_within(max_decompressed(bytes.len()), frame.builder);
            let snapshot = snapshot.map_err(NotAdopted::refused)?;
            if snapshot.content_hash() != base.hash {
                return Err(NotAdopted::refused("the base has another content"));
            }
            check_paths(&snapshot)?;
            Ok(snapshot)
        })
    }

    /// Applies to a snapshot the deltas from its position up to that of the pointer.
    async fn with_deltas(
        &self,
        frame: Frame<'_>,
        mut snapshot: Arc<Snapshot>,
        mut position: Position,
        pointer: &Pointer,
    ) -> Result<(Arc<Snapshot>, Deltas), NotAdopted> {
        let mut deltas = Deltas::default();
        while position < pointer.position {
            let (from, to) = (format!("({position}"), pointer.position.to_string());
            let key = self.deltas_key(frame.id);
            let found = self.redis.entries(&key, &from, &to, BATCH, READ_WITHIN).await;
            let found = match found {
                Err(redis::Error::Refused(code)) => return Err(NotAdopted::refused(code)),
                found => found?,
            };
            if found.is_empty() {
                return Err(NotAdopted::refused("deltas are missing"));
            }
            for entry in found {
                let (delta, bytes, chunks) = self.delta(frame.id, position, &entry).await?;
                position = entry.id.parse().map_err(NotAdopted::refused)?;
                deltas.add(Deltas { count: 1, bytes, chunks });
                if let Some(later) = block_in_place(|| apply(&snapshot, &delta, frame.builder))? {
                    snapshot = Arc::new(later);
                }
            }
        }
        Ok((snapshot, deltas))
    }

    /// The delta of an entry, which must follow this position; also its size in bytes, and its
    /// chunks if it has any.
    async fn delta(
        &self,
        id: &SharedSnapshotId,
        after: Position,
        entry: &StreamEntry,
    ) -> Result<(Delta, usize, Vec<Chunks>), NotAdopted> {
        let position: Position = entry.id.parse().map_err(NotAdopted::refused)?;
        if entry.text("after") != Some(&after.to_string()) {
            return Err(NotAdopted::refused("deltas are missing"));
        }
        let context = context(id, after, position);
        let open = |sealed: &[u8]| {
            let opened = self.redis.open(&context, sealed);
            opened.map(<[u8]>::to_vec).map_err(NotAdopted::refused)
        };
        let (bytes, chunks) = if let Some(sealed) = entry.get(INLINE) {
            (open(sealed)?, Vec::new())
        } else {
            let sealed = entry.get(IN_CHUNKS).unwrap_or_default();
            let chunks = serde_json::from_slice(&open(sealed)?);
            let chunks: Chunks = chunks.map_err(NotAdopted::refused)?;
            (self.redis.download(&chunks, MAX_BASE_BYTES).await?, vec![chunks])
        };
        let delta = block_in_place(|| Delta::read(&bytes, max_decompressed(bytes.len())));
        Ok((delta.map_err(NotAdopted::refused)?, bytes.len(), chunks))
    }

    /// The version, if it has the hashes and the size of the pointer, and fits the present
    /// settings.
    fn verified(
        &self,
        Frame { listing, .. }: Frame<'_>,
        snapshot: Arc<Snapshot>,
        deltas: Deltas,
        pointer: &Pointer,
    ) -> Result<PublishedSnapshot, NotAdopted> {
        let Pointer { position, hash, urls_hash, rows, walked_at, as_of, took_ms, .. } = *pointer;
        let (published_at, base) = (pointer.published_at, pointer.base.clone());
        let figures = (snapshot.content_hash(), snapshot.urls_hash(), snapshot.len());
        if figures != (hash, urls_hash, rows) {
            return Err(NotAdopted::refused(
                "the snapshot has another content than the pointer says",
            ));
        }
        let fits = |listing| block_in_place(|| snapshot.fits(listing));
        if !listing.is_none_or(fits) {
            return Err(NotAdopted::refused("the snapshot does not fit the settings"));
        }
        // A time in the future counts as now.
        let begun = self.redis.instant_of(walked_at);
        let took = Duration::from_millis(took_ms).min(begun.elapsed());
        let walked = WalkedSnapshot { snapshot, begun, as_of: self.redis.instant_of(as_of), took };
        Ok(PublishedSnapshot { position, walked, walked_at, published_at, base, deltas })
    }
}

/// Applies a delta to a snapshot; `None`: it changes nothing.
fn apply(
    snapshot: &Snapshot,
    delta: &Delta,
    builder: Builder,
) -> Result<Option<Snapshot>, NotAdopted> {
    if let Some(present) = delta.present() {
        check_paths(present)?;
    }
    snapshot.with_delta(delta, builder).map_err(NotAdopted::refused)
}

/// The most bytes to which so many compressed bytes may decompress. Deflate permits a thousandfold,
/// by which a small value could fill the memory of all instances; snapshots need less.
pub fn max_decompressed(bytes: usize) -> usize {
    bytes.saturating_mul(MAX_RATIO).saturating_add(MIN_DECOMPRESSED).min(MAX_DECOMPRESSED)
}

fn check_paths(snapshot: &Snapshot) -> Result<(), NotAdopted> {
    if has_valid_paths(snapshot) {
        Ok(())
    } else {
        Err(NotAdopted::refused("a path is not one that the service builds"))
    }
}

/// Whether each path is one that the service could have built.
pub fn has_valid_paths(snapshot: &Snapshot) -> bool {
    let is_good = |path: &str| {
        let parsed = Pathname::parse(path);
        parsed.segments().all(|segment| matches!(segment, PathSegment::Text(_)))
            && parsed.normalized() == without_trailing_slash(path)
    };
    snapshot.urls().all(|url| is_good(url.path()))
}

impl Deltas {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.chunks.extend(other.chunks);
    }
}
