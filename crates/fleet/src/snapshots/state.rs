//! The state of one shared snapshot on this instance.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::adoption::VersionOrder;
use super::pointer::Base;
use super::walked_snapshot::{PublishRequest, WalkedSnapshot};
use crate::redis::Chunks;
use crate::snapshot_position::Position;
use crate::status::VersionStatus;

/// For how long a snapshot may be refused before this instance walks by itself.
const REFUSED: Duration = Duration::from_secs(10);
/// For how long versions are ignored that are older than the known one: the leader replaces them
/// sooner. After that they are adopted, because the known version was forged, or Redis has
/// lost it.
const PASSED: Duration = Duration::from_secs(15);
/// How often a refused snapshot is read again.
const RETRY: Duration = Duration::from_secs(5);
/// The shortest time between two reports of a refused snapshot.
const REPORTED: Duration = Duration::from_mins(1);

/// A snapshot as this instance knows it.
#[derive(Default)]
pub(super) struct SnapshotState {
    /// Locked while a version is published or adopted.
    pub(super) known: tokio::sync::Mutex<Known>,
    /// Locked for moments.
    pub(super) status: Mutex<Status>,
}

/// What this instance has done with a snapshot last.
#[derive(Default)]
pub(super) struct Status {
    pub(super) versions: VersionStatus,
    /// The refusals since the last usable version; `None`: there is none.
    pub(super) refused: Option<Refused>,
    /// Whether the last read got no answer from Redis.
    pub(super) is_unread: bool,
    /// Since when a version may be published that `versions` does not know: since events were missed, or
    /// since a read failed or was refused. `None`: there is no such version.
    pub(super) unknown_since: Option<Instant>,
    /// Whether another instance cannot use the base, so that a new one is published.
    pub(super) wants_base: bool,
    /// Why the last publication of this instance failed; `None`: it has not.
    pub(super) failure: Option<String>,
    /// The snapshot that this instance has published last; `None`: another instance publishes.
    pub(super) published: Option<PublishRequest>,
}

/// The refusals of a snapshot.
pub(super) struct Refused {
    /// When the snapshot was first refused.
    since: Instant,
    /// When a refusal was last reported.
    reported: Instant,
    /// When the snapshot was last read.
    tried: Instant,
}

/// What this instance knows of a snapshot in Redis.
#[derive(Default)]
pub(super) struct Known {
    /// The position of the pointer when it was last read, as text; empty if there was none.
    pub(super) at: String,
    /// The version that was last read or published; `None`: none could be used.
    pub(super) version: Option<PublishedSnapshot>,
    /// The version that this instance has published or adopted last.
    pub(super) served: Option<VersionOrder>,
    /// The largest number of a version that this instance has seen.
    pub(super) largest: u64,
    /// Since when the published version is older than the known one.
    passed: Option<Instant>,
    /// Chunks of other bases, which the next publication replaces as well.
    pub(super) replaced: Vec<Chunks>,
}

/// A version that Redis and this instance have.
#[derive(Clone)]
pub(super) struct PublishedSnapshot {
    pub(super) position: Position,
    pub(super) walked: WalkedSnapshot,
    /// When its walk began, by Redis's clock.
    pub(super) walked_at: i64,
    /// When it was published, by Redis's clock.
    pub(super) published_at: i64,
    pub(super) base: Base,
    /// The deltas since the base.
    pub(super) deltas: Deltas,
}

/// The deltas since a base.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Deltas {
    pub(super) count: usize,
    pub(super) bytes: usize,
    /// The chunks of deltas that are too large for an entry of the stream.
    pub(super) chunks: Vec<Chunks>,
}

impl Status {
    /// Records that the published snapshot is refused. Returns whether the refusal is to be
    /// reported: at most once a minute, because each report makes the leader publish the whole
    /// snapshot again.
    pub(super) fn refuse(&mut self) -> bool {
        let now = Instant::now();
        let Some(known) = &mut self.refused else {
            self.refused = Some(Refused { since: now, reported: now, tried: now });
            return true;
        };
        known.tried = now;
        let is_due = now.saturating_duration_since(known.reported) >= REPORTED;
        if is_due {
            known.reported = now;
        }
        is_due
    }

    /// Whether the snapshot has been refused for so long that this instance has to walk by itself.
    pub(super) fn is_unusable(&self) -> bool {
        self.refused.as_ref().is_some_and(|refused| refused.since.elapsed() >= REFUSED)
    }

    /// When the first version was published, or may have been, that this instance has not adopted.
    pub(super) fn missing_since(&self) -> Option<Instant> {
        [self.versions.missing_since(), self.unknown_since].into_iter().flatten().min()
    }

    /// Whether the last read was refused, or got no answer.
    pub(super) fn is_refused_or_unread(&self) -> bool {
        self.is_unread || self.refused.is_some()
    }

    /// Whether the snapshot is to be read again after a failure: a missing part may have been
    /// written since.
    pub(super) fn is_due(&self) -> bool {
        let is_due = |refused: &Refused| refused.tried.elapsed() >= RETRY;
        self.is_unread || self.refused.as_ref().is_some_and(is_due)
    }
}

impl Known {
    /// The number of the next version.
    pub(super) fn next(&self) -> u64 {
        self.largest + 1
    }

    /// Records that the published version is older than the known one. Returns whether this has
    /// been so for 15 seconds.
    pub(super) fn pass(&mut self) -> bool {
        self.passed.get_or_insert_with(Instant::now);
        self.has_passed_for_long()
    }

    pub(super) fn has_passed_for_long(&self) -> bool {
        self.passed.is_some_and(|since| since.elapsed() >= PASSED)
    }

    pub(super) fn set(&mut self, at: &str, version: PublishedSnapshot) {
        self.largest = self.largest.max(version.position.version);
        (self.at, self.version, self.passed) = (at.to_owned(), Some(version), None);
    }

    pub(super) fn forget(&mut self, at: String) {
        (self.at, self.version, self.passed) = (at, None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_time_counts_from_the_earlier_of_an_announcement_and_a_gap() {
        let unknown = Instant::now();
        let announced = unknown + Duration::from_secs(1);
        let mut status = Status::default();
        assert_eq!(status.missing_since(), None);
        status.versions.announced(2, announced);
        assert_eq!(status.missing_since(), Some(announced));
        status.unknown_since = Some(unknown);
        assert_eq!(status.missing_since(), Some(unknown));
        status.versions.adopted(2);
        assert_eq!(status.missing_since(), Some(unknown), "there may be another one");
    }
}
