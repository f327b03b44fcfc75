//! Reads what another instance has published: the whole of it, checked, or nothing (D53).

use std::sync::Arc;
use std::time::Duration;

use redis::streams::{StreamId as Entry, StreamRangeReply};
use tokio::task::block_in_place;

use super::pointer::{Base, Found, Pointer, Position};
use super::publication::{IN_CHUNKS, INLINE, context};
use super::state::{Deltas, Known, KnownVersion, ListState};
use super::{BASE, ListId, Lists, MAX_BASE_BYTES, MAX_BODY_BYTES, PublishedList, WITHIN};
use crate::rules::{PathSegment, Pathname, without_trailing_slash};
use crate::shared_engine::{Chunks, DownloadError, EngineError};
use crate::snapshot::{Builder, Delta, Listing, Serialized, Snapshot};
use crate::store::Head;

/// How often an adoption is tried at once: the pointer may move meanwhile.
const ATTEMPTS: usize = 3;
/// For a read of deltas.
const READ_WITHIN: Duration = Duration::from_secs(5);
/// How many deltas are read at once.
const BATCH: usize = 64;

/// For what a list is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To follow it: an older version than the known one is not taken.
    Follow,
    /// To go on from it as the leader: whatever is there.
    Lead,
}

/// Why a list is not adopted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAdopted {
    /// The engine has no answer.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// What is there cannot be used.
    #[error("{0}")]
    Refused(String),
}

impl NotAdopted {
    fn refused(reason: impl ToString) -> Self {
        Self::Refused(reason.to_string())
    }
}

impl From<DownloadError> for NotAdopted {
    fn from(error: DownloadError) -> Self {
        match error {
            DownloadError::Engine(error) => Self::Engine(error),
            error => Self::refused(error),
        }
    }
}

/// A list that is published.
#[derive(Clone, Debug)]
pub struct FoundList {
    /// The list.
    pub list: PublishedList,
    /// Whether it was not known to this instance before.
    pub is_new: bool,
}

/// What a snapshot must be one of.
#[derive(Clone, Copy, Debug)]
struct Frame<'l> {
    list: &'l ListId,
    listing: Listing<'l>,
    builder: Builder,
}

impl Lists {
    /// The version of a list that is published; `None`: none is. Nothing of it is used unless all of it
    /// can be; while it cannot, the last usable version stays.
    ///
    /// # Errors
    /// [`NotAdopted`].
    pub async fn read(
        &self,
        list: &ListId,
        listing: Listing<'_>,
        builder: Builder,
        purpose: Purpose,
    ) -> Result<Option<FoundList>, NotAdopted> {
        let (state, frame) = (self.state(list), Frame { list, listing, builder });
        let mut known = state.known.lock().await;
        let read = self.read_known(frame, &mut known, purpose).await;
        match &read {
            Ok(_) => state.accept(),
            Err(NotAdopted::Refused(reason)) => self.refuse(list, &state, &known.at, reason).await,
            Err(NotAdopted::Engine(_)) => {}
        }
        let is_new = read?;
        let version = known.version.as_ref();
        Ok(version.map(|version| FoundList { list: version.list.clone(), is_new }))
    }

    /// Records that this instance serves the version that it has read last.
    pub async fn adopted(&self, list: &ListId, head: &Head) {
        let state = self.state(list);
        if let Some(version) = &state.known.lock().await.version {
            let number = version.position.version;
            self.changes.settled(head, list.as_str(), number, &version.list.snapshot);
            if state.versions.current().is_some_and(|current| number < current) {
                state.versions.forget();
            }
            state.versions.adopted(number);
        }
    }

    /// Whether what is published of a list cannot be used.
    #[must_use]
    pub fn is_refused(&self, list: &ListId) -> bool {
        self.state(list).is_refused()
    }

    /// Whether what is published of a list has been unusable for so long that this instance has to walk
    /// by itself.
    #[must_use]
    pub fn is_unusable(&self, list: &ListId) -> bool {
        self.state(list).is_unusable()
    }

    /// Those of these lists of which something else is published than this instance has read last, or
    /// of which what is published is refused.
    ///
    /// # Errors
    /// [`EngineError`].
    pub async fn changed(&self, lists: &[ListId]) -> Result<Vec<ListId>, EngineError> {
        let mut changed = Vec::new();
        for (list, at) in lists.iter().zip(self.positions(lists).await?) {
            let state = self.state(list);
            // Locked: it is published or adopted right now.
            let is_known = state.known.try_lock().is_ok_and(|known| known.at == at);
            if !is_known || state.is_refused() {
                changed.push(list.clone());
            }
        }
        Ok(changed)
    }

    async fn read_known(
        &self,
        frame: Frame<'_>,
        known: &mut Known,
        purpose: Purpose,
    ) -> Result<bool, NotAdopted> {
        let mut refused = String::new();
        let mut reason = String::new();
        for _ in 0..ATTEMPTS {
            let Found { at, pointer } = self.find(frame.list).await?;
            if !reason.is_empty() && refused == at {
                // It has not moved meanwhile.
                break;
            }
            refused.clone_from(&at);
            match self.step(frame, known, purpose, Found { at, pointer }).await {
                Err(NotAdopted::Refused(why)) => reason = why,
                ended => return ended,
            }
        }
        known.at = refused;
        if purpose == Purpose::Lead {
            known.version = None;
        }
        Err(NotAdopted::Refused(reason))
    }

    /// Takes what was found at the key of the pointer; returns whether another version is known now.
    async fn step(
        &self,
        frame: Frame<'_>,
        known: &mut Known,
        purpose: Purpose,
        Found { at, pointer }: Found,
    ) -> Result<bool, NotAdopted> {
        let Some(pointer) = pointer else {
            if !at.is_empty() {
                return Err(NotAdopted::refused("the pointer is damaged"));
            }
            known.forget(at);
            return Ok(false);
        };
        known.largest = known.largest.max(pointer.position.version);
        let before = known.version.as_ref();
        let is_known = before.is_some_and(|before| before.is(&pointer));
        let is_older = before.is_some_and(|before| pointer.position < before.position);
        if !is_known && !(is_older && purpose == Purpose::Follow) {
            let version = self.version(frame, before, &pointer).await?;
            known.set(&at, version);
            return Ok(true);
        }
        known.at = at;
        Ok(false)
    }

    /// The version of a pointer: by deltas from the known one if possible, otherwise from the base.
    async fn version(
        &self,
        frame: Frame<'_>,
        before: Option<&KnownVersion>,
        pointer: &Pointer,
    ) -> Result<KnownVersion, NotAdopted> {
        let is_before = |before: &&KnownVersion| before.position < pointer.position;
        if let Some(before) = before.filter(is_before) {
            let start = (Arc::clone(&before.list.snapshot), before.position);
            match self.with_deltas(frame, start, pointer).await {
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
                    tracing::debug!(list = %frame.list, reason, "the base is read instead of deltas");
                }
                Err(error) => return Err(error),
            }
        }
        let base = self.base(frame, &pointer.base).await?;
        let start = (Arc::new(base), pointer.base.position);
        let (snapshot, deltas) = self.with_deltas(frame, start, pointer).await?;
        self.verified(frame, snapshot, deltas, pointer)
    }

    async fn base(&self, frame: Frame<'_>, base: &Base) -> Result<Snapshot, NotAdopted> {
        let bytes = self.engine.download(&base.chunks, MAX_BASE_BYTES).await?;
        block_in_place(|| {
            let serialized = Serialized::read(&bytes).map_err(NotAdopted::refused)?;
            if serialized.head != frame.list.as_str() {
                return Err(NotAdopted::refused("the base is of another list"));
            }
            let snapshot = serialized.snapshot_within(MAX_BODY_BYTES, frame.builder);
            let snapshot = snapshot.map_err(NotAdopted::refused)?;
            if snapshot.content_hash() != base.hash {
                return Err(NotAdopted::refused("the base has another content"));
            }
            check_paths(&snapshot)?;
            Ok(snapshot)
        })
    }

    /// The snapshot with the deltas from its position up to that of the pointer.
    async fn with_deltas(
        &self,
        frame: Frame<'_>,
        (mut snapshot, mut position): (Arc<Snapshot>, Position),
        pointer: &Pointer,
    ) -> Result<(Arc<Snapshot>, Deltas), NotAdopted> {
        let mut deltas = Deltas::default();
        while position < pointer.position {
            let mut range = redis::cmd("XRANGE");
            range.arg(self.deltas_key(frame.list)).arg(format!("({position}"));
            range.arg(pointer.position.to_string()).arg("COUNT").arg(BATCH);
            let found: Result<StreamRangeReply, EngineError> =
                self.engine.command(&range, READ_WITHIN).await;
            let found = match found {
                Err(EngineError::Refused(code)) => return Err(NotAdopted::refused(code)),
                found => found?.ids,
            };
            if found.is_empty() {
                return Err(NotAdopted::refused("deltas are missing"));
            }
            for entry in found {
                let (delta, bytes, chunks) = self.delta(frame.list, position, &entry).await?;
                position = entry.id.parse().map_err(NotAdopted::refused)?;
                deltas.add(Deltas { count: 1, bytes, chunks });
                if let Some(later) = block_in_place(|| apply(&snapshot, &delta, frame.builder))? {
                    snapshot = Arc::new(later);
                }
            }
        }
        Ok((snapshot, deltas))
    }

    /// The delta of an entry, which must follow this position; also its bytes and where they are.
    async fn delta(
        &self,
        list: &ListId,
        after: Position,
        entry: &Entry,
    ) -> Result<(Delta, usize, Vec<Chunks>), NotAdopted> {
        let position: Position = entry.id.parse().map_err(NotAdopted::refused)?;
        if entry.get::<String>("after") != Some(after.to_string()) {
            return Err(NotAdopted::refused("deltas are missing"));
        }
        let context = context(list, after, position);
        let open = |sealed: Vec<u8>| {
            let opened = self.engine.open(&context, &sealed);
            opened.map(<[u8]>::to_vec).map_err(NotAdopted::refused)
        };
        let (bytes, chunks) = if let Some(sealed) = entry.get::<Vec<u8>>(INLINE) {
            (open(sealed)?, Vec::new())
        } else {
            let sealed = entry.get::<Vec<u8>>(IN_CHUNKS).unwrap_or_default();
            let chunks = serde_json::from_slice(&open(sealed)?);
            let chunks: Chunks = chunks.map_err(NotAdopted::refused)?;
            (self.engine.download(&chunks, MAX_BASE_BYTES).await?, vec![chunks])
        };
        let delta = block_in_place(|| Delta::read(&bytes, MAX_BODY_BYTES));
        Ok((delta.map_err(NotAdopted::refused)?, bytes.len(), chunks))
    }

    /// The version, if it is what the pointer says and can be one of the present settings.
    fn verified(
        &self,
        Frame { listing, .. }: Frame<'_>,
        snapshot: Arc<Snapshot>,
        deltas: Deltas,
        pointer: &Pointer,
    ) -> Result<KnownVersion, NotAdopted> {
        let Pointer { position, hash, urls_hash, rows, walked_at, took_ms, ref base } = *pointer;
        let figures = (snapshot.content_hash(), snapshot.urls_hash(), snapshot.len());
        if figures != (hash, urls_hash, rows) {
            return Err(NotAdopted::refused("the list has another content than the pointer says"));
        }
        if !block_in_place(|| snapshot.fits(listing)) {
            return Err(NotAdopted::refused("the list does not fit the settings"));
        }
        // A time in the future counts as now.
        let begun = self.engine.instant_of(walked_at);
        let took = Duration::from_millis(took_ms).min(begun.elapsed());
        let list = PublishedList { snapshot, begun, took };
        Ok(KnownVersion { position, list, walked_at, base: base.clone(), deltas })
    }

    /// Logs once that something is refused, and asks once for another base.
    async fn refuse(&self, list: &ListId, state: &ListState, at: &str, reason: &str) {
        if !state.refuse(at) {
            return;
        }
        tracing::warn!(%list, at, reason, "a published list is refused");
        // It is refused again as long as there is no other.
        let _ = self.engine.append(BASE, list.as_str().as_bytes(), WITHIN).await;
    }
}

/// The snapshot with a delta; `None`: it is the same.
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

/// Each path must be one that the service could have built.
fn check_paths(snapshot: &Snapshot) -> Result<(), NotAdopted> {
    let is_good = |path: &str| {
        let parsed = Pathname::parse(path);
        parsed.segments().all(|segment| matches!(segment, PathSegment::Text(_)))
            && parsed.normalized() == without_trailing_slash(path)
    };
    match snapshot.urls().find(|url| !is_good(url.path())) {
        None => Ok(()),
        Some(_) => Err(NotAdopted::refused("a path is none")),
    }
}

impl KnownVersion {
    fn is(&self, pointer: &Pointer) -> bool {
        self.position == pointer.position && self.list.snapshot.content_hash() == pointer.hash
    }
}

impl Deltas {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.chunks.extend(other.chunks);
    }
}
