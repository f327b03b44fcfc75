//! Reads a snapshot that another instance has published: complete and checked, or not at all (D53).

use std::collections::BTreeSet;
use std::time::Instant;

use super::pointer::{Found, Pointer};
use super::reading::Frame;
use super::state::{Known, PublishedSnapshot, SnapshotState};
use super::{BASE, SharedSnapshotId, SharedSnapshots, WITHIN, WalkedSnapshot};
use crate::redis;
use crate::redis::DownloadError;
use frontend_map_catalog::snapshot::{Builder, Listing};
use frontend_map_store::SnapshotKey;

/// How often one read is tried: the pointer may move meanwhile.
const ATTEMPTS: usize = 3;

/// Why a snapshot is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To follow the leader: a version that is older than the known one is ignored.
    Follow,
    /// To continue as the leader: any version is read.
    Lead,
}

/// A published snapshot that was read.
#[derive(Clone, Debug)]
pub struct FoundSnapshot {
    /// The snapshot.
    pub walked: WalkedSnapshot,
    /// When it was published; it has no later changes.
    pub published: Instant,
    /// Whether this instance did not know the version before.
    pub is_new: bool,
}

impl SharedSnapshots {
    /// The published version of a snapshot; `None`: none is published. If any part of it cannot be
    /// used, it is refused, and the last usable version stays.
    ///
    /// # Errors
    /// [`NotAdopted`].
    pub async fn read(
        &self,
        id: &SharedSnapshotId,
        listing: Listing<'_>,
        builder: Builder,
        purpose: Purpose,
    ) -> Result<Option<FoundSnapshot>, NotAdopted> {
        let (state, frame) = (self.state(id), Frame { id, listing: Some(listing), builder });
        let mut known = state.known.lock().await;
        let read = self.read_known(frame, &mut known, purpose).await;
        state.set_unread(matches!(read, Err(NotAdopted::Redis(_))));
        match &read {
            Ok(_) => state.accept(),
            Err(NotAdopted::Refused(reason)) => self.refuse(id, &state, &known.at, reason).await,
            Err(NotAdopted::Redis(error)) => self.fail_to_read(id, &state, error),
        }
        let is_new = read?;
        let version = known.version.as_ref();
        Ok(version.map(|version| FoundSnapshot {
            walked: version.walked.clone(),
            published: self.redis.instant_of(version.published_at),
            is_new,
        }))
    }

    /// Records that this instance serves the version of the snapshot that it has read last.
    pub async fn adopted(&self, id: &SharedSnapshotId, key: &SnapshotKey) {
        let state = self.state(id);
        state.set_published(None);
        if let Some(version) = &state.known.lock().await.version {
            let number = version.position.version;
            let position = version.position.to_string();
            self.changes.settled(key, id.as_str(), position, &version.walked.snapshot);
            if state.versions.current().is_some_and(|current| number < current) {
                state.versions.forget();
            }
            state.versions.adopted(number);
            self.update_missing();
        }
    }

    /// Whether the last read of a snapshot was refused, or got no answer.
    #[must_use]
    pub fn is_refused_or_unread(&self, id: &SharedSnapshotId) -> bool {
        self.state(id).is_refused_or_unread()
    }

    /// Whether a snapshot has been refused for ten seconds, so that this instance has to walk by
    /// itself.
    #[must_use]
    pub fn is_unusable(&self, id: &SharedSnapshotId) -> bool {
        self.state(id).is_unusable()
    }

    /// The snapshots among these that have to be read: another version is published than this
    /// instance has read last, or the last read failed and is due again.
    ///
    /// # Errors
    /// [`redis::Error`].
    pub async fn changed(
        &self,
        ids: &[SharedSnapshotId],
    ) -> Result<BTreeSet<SharedSnapshotId>, redis::Error> {
        let others = self.others(ids).await?;
        let is_due = |id: &&SharedSnapshotId| others.contains(id) || self.state(id).is_due();
        Ok(ids.iter().filter(is_due).cloned().collect())
    }

    /// Publishes those of these snapshots again that were removed from Redis or replaced. This
    /// instance is their leader.
    ///
    /// # Errors
    /// [`redis::Error`].
    pub async fn repair(&self, ids: &[SharedSnapshotId]) -> Result<(), redis::Error> {
        for id in self.others(ids).await? {
            self.publish_base(id);
        }
        Ok(())
    }

    /// The snapshots among these whose pointer has another position than this instance knows.
    async fn others<'l>(
        &self,
        ids: &'l [SharedSnapshotId],
    ) -> Result<Vec<&'l SharedSnapshotId>, redis::Error> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let positions = self.positions(ids).await?;
        let is_other = |(id, at): &(&SharedSnapshotId, Option<String>)| {
            let Some(at) = at else { return false };
            // A locked state: the snapshot is published or adopted right now.
            let known = self.state(id);
            let known = known.known.try_lock();
            known.is_ok_and(|known| known.at != *at || known.has_passed_for_long())
        };
        let others = ids.iter().zip(positions).filter(is_other);
        Ok(others.map(|(id, _)| id).collect())
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
            let Found { at, pointer } = self.find(frame.id).await?;
            if !reason.is_empty() && refused == at {
                // The pointer has not moved since the refusal.
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

    /// Reads the version of the pointer that was found. Returns whether another version is known
    /// now.
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
        let is_passed = is_older && purpose == Purpose::Follow && !known.pass();
        if !is_known && !is_passed {
            let version = self.version(frame, known.version.as_ref(), &pointer).await?;
            known.set(&at, version);
            return Ok(true);
        }
        known.at = at;
        Ok(false)
    }

    /// Counts a failed read as a refusal if Redis is available, for example if its user may not
    /// send a command: after ten seconds, this instance walks by itself.
    fn fail_to_read(&self, id: &SharedSnapshotId, state: &SnapshotState, error: &redis::Error) {
        if self.redis.is_available() && state.refuse() {
            tracing::warn!(snapshot = %id, %error, "a published snapshot could not be read; it is read again");
        }
    }

    /// Logs the refusal, and asks the leader for a new base, both at most once a minute.
    async fn refuse(&self, id: &SharedSnapshotId, state: &SnapshotState, at: &str, reason: &str) {
        if !state.refuse() {
            return;
        }
        tracing::warn!(
            snapshot = %id,
            at,
            reason,
            "a published snapshot is refused; the leader is asked for the whole snapshot"
        );
        // If this fails, the next report asks again.
        let _ = self.redis.append(BASE, id.as_str().as_bytes(), WITHIN).await;
    }
}

impl PublishedSnapshot {
    fn is(&self, pointer: &Pointer) -> bool {
        self.position == pointer.position && self.walked.snapshot.content_hash() == pointer.hash
    }
}

/// Why a snapshot is not adopted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAdopted {
    /// Redis has no answer.
    #[error(transparent)]
    Redis(#[from] redis::Error),
    /// The published snapshot cannot be used, for this reason.
    #[error("{0}")]
    Refused(String),
}

impl NotAdopted {
    pub(super) fn refused(reason: impl std::fmt::Display) -> Self {
        Self::Refused(reason.to_string())
    }
}

impl From<DownloadError> for NotAdopted {
    fn from(error: DownloadError) -> Self {
        match error {
            DownloadError::Redis(error) => Self::Redis(error),
            error => Self::refused(error),
        }
    }
}
