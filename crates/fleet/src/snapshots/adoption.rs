//! Reads a snapshot that another instance has published: complete and checked, or not at all (D53).

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::pointer::{Found, Pointer};
use super::reading::Frame;
use super::state::{Known, PublishedSnapshot, SnapshotState};
use super::{BASE, SharedSnapshotId, SharedSnapshots, WITHIN, WalkedSnapshot};
use crate::changes::PassedOver;
use crate::redis;
use crate::redis::DownloadError;
use crate::snapshot_position::Position;
use frontend_map_catalog::snapshot::{Builder, Listing};
use frontend_map_store::SnapshotKey;

/// How often one read is tried: the pointer may move meanwhile.
const ATTEMPTS: usize = 3;

/// Two instances know the clock of Redis with a smaller difference.
const CLOCK_ERROR: Duration = Duration::from_millis(50);
/// A walk counts as newer than another one if it began more than this later: instances know the clock
/// of Redis only approximately.
const NEWER: Duration = Duration::from_secs(1);
/// A snapshot counts as later than a publication if it was read more than this later.
const LATER: Duration = Duration::from_millis(200);

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
    position: Position,
    served: Option<VersionOrder>,
}

impl FoundSnapshot {
    /// Its times.
    pub fn times(&self) -> FoundTimes {
        let WalkedSnapshot { begun, as_of, .. } = self.walked;
        let Self { position, published, is_new, served, .. } = *self;
        FoundTimes { epoch: position.epoch, begun, as_of, published, is_new, served }
    }
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
        {
            let mut status = state.status.lock();
            status.is_unread = matches!(read, Err(NotAdopted::Redis(_)));
            if read.is_err() {
                status.unknown_since.get_or_insert_with(Instant::now);
            } else if known.version.is_none() {
                status.unknown_since = None;
            }
        }
        self.update_missing();
        match &read {
            Ok(_) => state.status.lock().refused = None,
            Err(NotAdopted::Refused(reason)) => self.refuse(id, &state, &known.at, reason).await,
            Err(NotAdopted::Redis(error)) => self.fail_to_read(id, &state, error),
        }
        let is_new = read?;
        let (version, served) = (known.version.as_ref(), known.served);
        Ok(version.map(|version| FoundSnapshot {
            walked: version.walked.clone(),
            published: self.redis.instant_of(version.published_at),
            is_new,
            position: version.position,
            served,
        }))
    }

    /// Records that this instance serves the version of the snapshot that it has read last.
    pub async fn adopted(&self, id: &SharedSnapshotId, key: &SnapshotKey) {
        let state = self.state(id);
        state.status.lock().published = None;
        let known = &mut *state.known.lock().await;
        if let Some(version) = &known.version {
            known.served = Some(version.order());
            let number = version.position.version;
            let position = version.position.to_string();
            self.changes.settled(key, id.as_str(), position, &version.walked.snapshot);
            let mut status = state.status.lock();
            status.versions.adopted(number);
            status.unknown_since = None;
            drop(status);
            self.update_missing();
        }
    }

    /// Records that this instance does not adopt a version that it has read, because its own snapshot is
    /// later. `has_all`: whether that one has all changes of the version, as [`FoundTimes::is_all_in`]
    /// says.
    pub fn passed_over(
        &self,
        id: &SharedSnapshotId,
        found: &FoundSnapshot,
        key: &SnapshotKey,
        has_all: bool,
    ) {
        if has_all {
            self.state(id).status.lock().unknown_since = None;
            self.update_missing();
        }
        let FoundSnapshot { position, published, .. } = *found;
        self.changes.passed_over(key, PassedOver { position, published, has_all });
    }

    /// Whether the last read of a snapshot was refused, or got no answer.
    pub fn is_refused_or_unread(&self, id: &SharedSnapshotId) -> bool {
        self.state(id).status.lock().is_refused_or_unread()
    }

    /// Whether a snapshot has been refused for ten seconds, so that this instance has to walk by
    /// itself.
    pub fn is_unusable(&self, id: &SharedSnapshotId) -> bool {
        self.state(id).status.lock().is_unusable()
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
        let is_due =
            |id: &&SharedSnapshotId| others.contains(id) || self.state(id).status.lock().is_due();
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
        let before = known.version.as_ref().map(PublishedSnapshot::order);
        let is_read = match choose(before.as_ref(), &pointer.order(), purpose) {
            Choice::Keep => false,
            Choice::Ignore => known.pass(),
            Choice::Read => true,
        };
        if is_read {
            let version = self.version(frame, known.version.as_ref(), &pointer).await?;
            known.set(&at, version);
        } else {
            known.at = at;
        }
        Ok(is_read)
    }

    /// Counts a failed read as a refusal if Redis is available, for example if its user may not
    /// send a command: after ten seconds, this instance walks by itself.
    fn fail_to_read(&self, id: &SharedSnapshotId, state: &SnapshotState, error: &redis::Error) {
        if self.redis.is_available() && state.status.lock().refuse() {
            tracing::warn!(snapshot = %id, %error, "a published snapshot could not be read; it is read again");
        }
    }

    /// Logs the refusal, and asks the leader for a new base, both at most once a minute.
    async fn refuse(&self, id: &SharedSnapshotId, state: &SnapshotState, at: &str, reason: &str) {
        if !state.status.lock().refuse() {
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

/// What orders the versions of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VersionOrder {
    pub(crate) position: Position,
    /// The hash of the content.
    pub(crate) hash: u128,
}

/// What an instance does with the version that a pointer names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// It knows the version.
    Keep,
    /// The version is older than the known one: it is read only if it stays published for long.
    Ignore,
    Read,
}

/// Decides what to do with a published version.
pub(crate) fn choose(
    known: Option<&VersionOrder>,
    found: &VersionOrder,
    purpose: Purpose,
) -> Choice {
    let Some(known) = known else { return Choice::Read };
    match purpose {
        _ if known == found => Choice::Keep,
        Purpose::Follow if found.position < known.position => Choice::Ignore,
        Purpose::Follow | Purpose::Lead => Choice::Read,
    }
}

impl PublishedSnapshot {
    pub(super) fn order(&self) -> VersionOrder {
        let hash = self.walked.snapshot.content_hash();
        VersionOrder { position: self.position, hash }
    }
}

impl Pointer {
    fn order(&self) -> VersionOrder {
        VersionOrder { position: self.position, hash: self.hash }
    }
}

/// What decides whether a snapshot that an instance serves is replaced by a published one.
#[derive(Clone, Copy, Debug)]
pub struct ReadTimes {
    /// The hash of its content.
    pub hash: u128,
    /// When its walk began.
    pub begun: Instant,
    /// When what is newest in it was read from the CMS, at the earliest.
    pub as_of: Instant,
}

/// What decides whether a published snapshot that was read replaces the own one.
#[derive(Clone, Copy, Debug)]
pub struct FoundTimes {
    /// The epoch of its leader.
    pub(crate) epoch: u64,
    /// When its walk began.
    pub(crate) begun: Instant,
    /// When what is newest in it was read from the CMS, at the earliest.
    pub(crate) as_of: Instant,
    /// When it was published.
    pub(crate) published: Instant,
    /// Whether this instance did not know the version before.
    pub(crate) is_new: bool,
    /// The version that this instance has published or adopted last.
    pub(crate) served: Option<VersionOrder>,
}

impl FoundTimes {
    /// Whether a new leader that has this snapshot serves the published one instead.
    pub fn is_wanted_by_leader(self, own: Option<ReadTimes>) -> bool {
        let is_newer = |own: ReadTimes| own.begun > self.begun + NEWER;
        own.is_none_or(|own| self.is_new && !is_newer(own) && !self.is_before(own))
    }

    /// Whether a follower that has this snapshot serves the published one instead. A snapshot that it
    /// has made alone stays until a later version is published.
    pub fn is_wanted_by_follower(self, own: Option<ReadTimes>) -> bool {
        own.is_none_or(|own| !self.is_before(own))
    }

    /// Whether the own snapshot has all changes that the published one has: its walk began after the
    /// publication. A document that was read alone makes a snapshot later, but others may be missing in it.
    pub fn is_all_in(self, own: ReadTimes) -> bool {
        has_all(own.begun, self.published)
    }

    /// Whether the own snapshot is later than the published one. The versions of one leader are in order.
    /// Another one may publish older content: if Redis has lost its data, or if the leader before it could
    /// not publish what it had read.
    fn is_before(self, own: ReadTimes) -> bool {
        if !self.is_new {
            return own.as_of > self.as_of;
        }
        let is_next =
            |served: VersionOrder| served.position.epoch == self.epoch && served.hash == own.hash;
        self.is_all_in(own)
            || (!self.served.is_some_and(is_next) && own.as_of > self.as_of + CLOCK_ERROR)
    }
}

/// Whether a walk that began then has found all changes of what was published at this time.
pub(crate) fn has_all(begun: Instant, published: Instant) -> bool {
    begun > published + LATER
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

#[cfg(test)]
mod tests {
    use super::*;

    fn order(epoch: u64, version: u64) -> VersionOrder {
        VersionOrder { position: Position { epoch, version }, hash: version.into() }
    }

    #[test]
    fn older_version_is_ignored_by_a_follower_and_read_by_a_new_leader() {
        let known = order(2, 3);
        for (found, follows, leads) in [
            (order(2, 3), Choice::Keep, Choice::Keep),
            (order(2, 4), Choice::Read, Choice::Read),
            (order(3, 1), Choice::Read, Choice::Read),
            (order(2, 2), Choice::Ignore, Choice::Read),
            (order(1, 9), Choice::Ignore, Choice::Read),
            (VersionOrder { hash: 9, ..known }, Choice::Read, Choice::Read),
        ] {
            assert_eq!(choose(Some(&known), &found, Purpose::Follow), follows, "{found:?}");
            assert_eq!(choose(Some(&known), &found, Purpose::Lead), leads, "{found:?}");
            assert_eq!(choose(None, &found, Purpose::Follow), Choice::Read, "{found:?}");
        }
    }

    /// Read at 10 s, its newest document at 20 s, and published at 100 s.
    fn found(start: Instant, served: VersionOrder) -> FoundTimes {
        let at = |seconds| start + Duration::from_secs(seconds);
        let (begun, as_of, published) = (at(10), at(20), at(100));
        FoundTimes { epoch: 2, begun, as_of, published, is_new: true, served: Some(served) }
    }

    #[test]
    fn version_of_another_leader_that_had_read_less_is_not_wanted() {
        let start = Instant::now();
        let own = |as_of| {
            let [begun, as_of] = [10, as_of].map(|seconds| start + Duration::from_secs(seconds));
            Some(ReadTimes { hash: 7, begun, as_of })
        };
        let other = found(start, order(1, 7));
        for (as_of, is_wanted) in [(10, true), (20, true), (21, false)] {
            assert_eq!(other.is_wanted_by_follower(own(as_of)), is_wanted, "{as_of}");
            assert_eq!(other.is_wanted_by_leader(own(as_of)), is_wanted, "{as_of}");
        }
        assert!(found(start, order(2, 7)).is_wanted_by_follower(own(21)), "it is the next version");
        assert!(!found(start, order(2, 6)).is_wanted_by_follower(own(21)), "the own one is later");
        assert!(other.is_wanted_by_follower(None) && other.is_wanted_by_leader(None));
    }

    #[test]
    fn snapshot_made_alone_stays_until_a_later_version_is_published() {
        let start = Instant::now();
        let own = |begun, as_of| {
            let [begun, as_of] = [begun, as_of].map(|seconds| start + Duration::from_secs(seconds));
            Some(ReadTimes { hash: 7, begun, as_of })
        };
        let new = found(start, order(2, 7));
        assert!(!new.is_wanted_by_follower(own(101, 101)));
        let times = own(101, 101).expect("it has one");
        assert!(new.is_all_in(times));
        assert!(!new.is_all_in(ReadTimes { begun: new.published, ..times }), "of the same time");
        let known = FoundTimes { is_new: false, ..new };
        assert!(!known.is_wanted_by_follower(own(10, 30)));
        assert!(known.is_wanted_by_follower(own(10, 20)));
        assert!(!known.is_wanted_by_leader(own(10, 20)), "it has seen the version");
        assert!(!new.is_wanted_by_leader(own(12, 12)), "its walk was later");
    }
}
