//! The publication of a version. One script writes the pointer, the delta, the changes and the
//! event, all or none.

use std::sync::Arc;
use std::time::Duration;

use super::pointer::{Base, Pointer};
use super::publish_script::{Outcome, PUBLISH};
use super::state::{Deltas, PublishedSnapshot};
use super::{LIST, PublishRequest, SharedSnapshotId, SharedSnapshots, TTL};
use crate::SnapshotGroup;
use crate::changes::SnapshotReplacement;
use crate::redis::{self, Argument, CHUNK_BYTES, Chunks, SealedEvent};
use crate::snapshot_position::Position;
use frontend_map_catalog::snapshot::Titles;
use frontend_map_store::SnapshotKey;

/// The time limit of the script, which may write half a megabyte.
const PUBLISH_WITHIN: Duration = Duration::from_secs(5);
/// How long uploaded chunks stay that no pointer names yet.
const UPLOAD_TTL: Duration = Duration::from_mins(2);
/// A base of fewer bytes counts as one of this size; otherwise each second edit would replace it.
const MIN_BASE: usize = 32 * 1024;
/// The most deltas since a base: more would be slower to read than a new base.
const MAX_DELTAS: usize = 256;

/// A version to be published.
pub(super) struct Publication<'p> {
    pub(super) id: &'p SharedSnapshotId,
    pub(super) group: &'p SnapshotGroup,
    pub(super) position: Position,
    /// The position in the pointer now, as text; empty if there is none.
    pub(super) at: &'p str,
    pub(super) before: Option<&'p PublishedSnapshot>,
    pub(super) request: &'p PublishRequest,
    pub(super) walked_at: i64,
    pub(super) as_of: i64,
    /// The serialized delta from the version before, if there is one.
    pub(super) delta: Option<Vec<u8>>,
    pub(super) wants_base: bool,
}

/// The entry of a delta in the stream of deltas.
struct Entry {
    field: &'static str,
    sealed: Vec<u8>,
    chunks: Option<Chunks>,
}

impl SharedSnapshots {
    /// Publishes a version. Returns it as Redis has it now, or why the script has refused it.
    pub(super) async fn send(
        &self,
        publication: Publication<'_>,
    ) -> Result<Result<PublishedSnapshot, Outcome>, redis::Error> {
        let Publication { id, position, before, request, walked_at, as_of, .. } = publication;
        let base = match before.filter(|_| !publication.needs_base()) {
            Some(before) => before.base.clone(),
            None => self.upload_base(&publication).await?,
        };
        let is_new_base = base.position == position;
        let mut entry = self.entry(&publication).await?;
        let mut uploaded: Vec<&Chunks> = is_new_base.then_some(&base.chunks).into_iter().collect();
        uploaded.extend(entry.as_ref().and_then(|entry| entry.chunks.as_ref()));
        let pointer = Pointer {
            position,
            hash: request.walked.snapshot.content_hash(),
            urls_hash: request.walked.snapshot.urls_hash(),
            rows: request.walked.snapshot.len(),
            walked_at,
            as_of,
            took_ms: u64::try_from(request.walked.took.as_millis()).unwrap_or(u64::MAX),
            published_at: self.redis.now_ms(),
            base: base.clone(),
        };
        let sealed = self.seal_pointer(id, &pointer);
        let outcome = self.run(&publication, sealed, entry.as_ref(), &uploaded).await;
        if !matches!(outcome, Ok(Outcome::Published)) {
            self.discard(&uploaded, &outcome).await;
            return outcome.map(Err);
        }
        let mut deltas = Deltas::default();
        if !is_new_base {
            deltas = before.map(|before| before.deltas.clone()).unwrap_or_default();
            deltas.count += 1;
            deltas.bytes += publication.delta.as_ref().map_or(0, Vec::len);
            deltas.chunks.extend(entry.as_mut().and_then(|entry| entry.chunks.take()));
        }
        let (walked, published_at) = (request.walked.clone(), pointer.published_at);
        Ok(Ok(PublishedSnapshot { position, walked, walked_at, published_at, base, deltas }))
    }

    /// Removes the chunks of a version that was not published. Without an answer they stay, because
    /// the version may have been published.
    async fn discard(&self, uploaded: &[&Chunks], outcome: &Result<Outcome, redis::Error>) {
        if matches!(outcome, Ok(_) | Err(redis::Error::Refused(_) | redis::Error::Unavailable)) {
            for chunks in uploaded {
                // Otherwise they expire.
                let _ = self.redis.discard(chunks).await;
            }
        }
    }

    async fn upload_base(&self, publication: &Publication<'_>) -> Result<Base, redis::Error> {
        let Publication { id, position, request, .. } = publication;
        let snapshot = &request.walked.snapshot;
        let bytes = tokio::task::block_in_place(|| snapshot.serialize(id.as_str(), Titles::Kept));
        let name = unique_name("chunk", id, *position);
        let chunks = self.redis.upload(&name, &bytes, UPLOAD_TTL).await?;
        Ok(Base { position: *position, hash: snapshot.content_hash(), chunks })
    }

    /// The entry of the delta from the previous version, if the version gets one.
    async fn entry(&self, publication: &Publication<'_>) -> Result<Option<Entry>, redis::Error> {
        let Publication { id, position, .. } = publication;
        let Some(delta) = publication.delta.as_ref().filter(|_| publication.has_delta()) else {
            return Ok(None);
        };
        let context = publication.context();
        if delta.len() <= CHUNK_BYTES {
            let sealed = self.redis.seal(&context, delta);
            return Ok(Some(Entry { field: INLINE, sealed, chunks: None }));
        }
        let name = unique_name("delta", id, *position);
        let chunks = self.redis.upload(&name, delta, UPLOAD_TTL).await?;
        let sealed = self.redis.seal_json(&context, &chunks);
        Ok(Some(Entry { field: IN_CHUNKS, sealed, chunks: Some(chunks) }))
    }

    async fn run(
        &self,
        publication: &Publication<'_>,
        pointer: Vec<u8>,
        entry: Option<&Entry>,
        uploaded: &[&Chunks],
    ) -> Result<Outcome, redis::Error> {
        let Publication { id, group, position, at, before, .. } = publication;
        let Some(lead) = group.lead() else { return Ok(Outcome::NotHolder) };
        let lease = lead.lease();
        let body = format!("{id} {position}");
        let event: SealedEvent = self.redis.sealed_event(LIST, body.as_bytes());
        let mut keys = vec![lease.key().to_owned(), self.pointer_key(id), self.deltas_key(id)];
        keys.extend(event.keys);
        let version = publication.list_version(lease.key());
        let Some(changes) = self.changes.prepare(version).await? else {
            return Ok(Outcome::NotHolder);
        };
        keys.extend(changes.keys);
        keys.push(self.name_key(&publication.request.key));
        keys.extend(uploaded.iter().flat_map(|chunks| self.redis.chunk_keys(chunks)));
        let after = entry.and(*before).map(|before| before.position.to_string());
        // The deltas since the previous base stay, for followers that have not read them yet.
        let kept = entry.and(*before).filter(|_| publication.needs_base());
        let kept = kept.map(|before| before.base.position.to_string());
        let mut arguments = vec![
            Argument::from(lease.token()),
            Argument::from(*at),
            Argument::from(position.to_string()),
            Argument::from(pointer),
            Argument::from(TTL.as_millis()),
            Argument::from(after.unwrap_or_default()),
            Argument::from(entry.map_or("", |entry| entry.field)),
            Argument::from(entry.map(|entry| entry.sealed.clone()).unwrap_or_default()),
            Argument::from(kept.unwrap_or_default()),
            Argument::from(self.seal_name(id, &publication.request.key)),
        ];
        arguments.extend(event.arguments);
        arguments.extend(changes.arguments);
        let outcome: String = self.redis.script(PUBLISH, &keys, arguments, PUBLISH_WITHIN).await?;
        Outcome::parse(&outcome).ok_or(redis::Error::Answer)
    }

    /// Extends the lifetime of a published snapshot. Returns `false` if a part of it is missing.
    pub(super) async fn extend(
        &self,
        id: &SharedSnapshotId,
        key: Option<&SnapshotKey>,
        version: &PublishedSnapshot,
    ) -> Result<bool, redis::Error> {
        let mut keys = vec![self.pointer_key(id), self.deltas_key(id)];
        keys.extend(key.map(|key| self.name_key(key)));
        let is_there = self.redis.expire(&keys, TTL, super::WITHIN).await?;
        let mut is_there = is_there.first() == Some(&true);
        for chunks in std::iter::once(&version.base.chunks).chain(&version.deltas.chunks) {
            is_there &= self.redis.extend(chunks, TTL).await?;
        }
        Ok(is_there)
    }
}

/// The field of an entry with its delta, and the field with the chunks of a larger delta.
pub(super) const INLINE: &str = "delta";
pub(super) const IN_CHUNKS: &str = "chunks";

/// The context of the seal of a delta.
pub(super) fn context(id: &SharedSnapshotId, after: Position, position: Position) -> String {
    format!("delta of {id} from {after} to {position}")
}

/// A name for chunks that no other upload has: a failed publication may be repeated with other
/// content.
fn unique_name(kind: &str, id: &SharedSnapshotId, position: Position) -> String {
    format!("{kind}:{id}:{position}:{:08x}", fastrand::u32(..))
}

impl Publication<'_> {
    /// Whether a new base is uploaded.
    fn needs_base(&self) -> bool {
        let (Some(before), Some(delta)) = (self.before, &self.delta) else { return true };
        let base = before.base.chunks.bytes.max(MIN_BASE);
        self.wants_base
            || delta.len() > base / 4
            || before.deltas.count + 1 > MAX_DELTAS
            || before.deltas.bytes + delta.len() > base / 2
    }

    /// Whether the version gets a delta, for instances that have the previous version.
    fn has_delta(&self) -> bool {
        let (Some(before), Some(delta)) = (self.before, &self.delta) else { return false };
        delta.len() <= before.base.chunks.bytes.max(MIN_BASE) / 4
    }

    fn list_version(&self, lease_key: &str) -> SnapshotReplacement {
        let before = self.before;
        SnapshotReplacement {
            key: self.request.key.clone(),
            content: self.request.content,
            snapshot_id: self.id.to_string(),
            lease_key: lease_key.to_owned(),
            before: before.map(|one| (one.position.to_string(), Arc::clone(&one.walked.snapshot))),
            position: self.position.to_string(),
            after: Arc::clone(&self.request.walked.snapshot),
        }
    }

    fn context(&self) -> String {
        let after = self.before.map(|before| before.position).unwrap_or_default();
        context(self.id, after, self.position)
    }
}
