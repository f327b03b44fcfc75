//! What this instance knows of one list.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::pointer::{Base, Position};
use super::{Offer, PublishedList};
use crate::fleet::status::VersionStatus;
use crate::shared_engine::Chunks;

/// For how long a list may be refused before this instance walks by itself.
const REFUSED: Duration = Duration::from_secs(10);
/// For how long older versions than the known one are passed over: the leader replaces them sooner. What
/// still is there then is the list, and the known version was made up or is of an engine that has lost it.
const PASSED: Duration = Duration::from_secs(15);
/// How often what is refused is read again.
const RETRY: Duration = Duration::from_secs(5);
/// How often it is reported that a list is refused.
const REPORTED: Duration = Duration::from_mins(1);

/// A list as this instance knows it.
#[derive(Default)]
pub(super) struct ListState {
    /// Locked while a version is published or adopted.
    pub(super) known: tokio::sync::Mutex<Known>,
    pub(super) versions: Arc<VersionStatus>,
    /// Since when what is published is refused.
    refused: Mutex<Option<Refused>>,
    /// The engine gave no answer to the last read.
    is_unread: AtomicBool,
    /// Another instance cannot use the base.
    wants_base: AtomicBool,
    /// The last publication of this instance failed.
    is_unpublished: AtomicBool,
    /// What this instance has published last.
    published: Mutex<Option<Offer>>,
}

struct Refused {
    since: Instant,
    /// When it was reported last.
    reported: Instant,
    /// When it was read last.
    tried: Instant,
}

/// What this instance knows of a list in the engine.
#[derive(Default)]
pub(super) struct Known {
    /// The position of the pointer as it was last seen; empty if there was none.
    pub(super) at: String,
    /// The version there, if it could be used.
    pub(super) version: Option<KnownVersion>,
    /// The largest number of a version that was seen.
    pub(super) largest: u64,
    /// Since when what is published is older than the known version.
    passed: Option<Instant>,
    /// Bases that the next publication replaces, although they are not of the known version.
    pub(super) replaced: Vec<Chunks>,
}

/// A version in the engine, and the same on this instance.
#[derive(Clone)]
pub(super) struct KnownVersion {
    pub(super) position: Position,
    pub(super) list: PublishedList,
    /// When its walk began, by the engine's clock.
    pub(super) walked_at: i64,
    /// When it was published, by the engine's clock.
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
    /// Those that are too large for an entry of the stream.
    pub(super) chunks: Vec<Chunks>,
}

impl ListState {
    pub(super) fn want_base(&self) {
        self.wants_base.store(true, Ordering::Relaxed);
    }

    /// Records what this instance has published; `None`: another one publishes.
    pub(super) fn set_published(&self, offer: Option<Offer>) {
        *self.published.lock() = offer;
    }

    pub(super) fn published(&self) -> Option<Offer> {
        self.published.lock().clone()
    }

    pub(super) fn wants_base(&self) -> bool {
        self.wants_base.load(Ordering::Relaxed)
    }

    /// A base is published that is not the one that could not be used.
    pub(super) fn has_new_base(&self) {
        self.wants_base.store(false, Ordering::Relaxed);
    }

    /// Records that what is published cannot be adopted. Returns whether this is to be reported:
    /// each report makes the leader publish the whole list again, so there is one a minute.
    pub(super) fn refuse(&self) -> bool {
        let (mut refused, now) = (self.refused.lock(), Instant::now());
        let Some(known) = &mut *refused else {
            *refused = Some(Refused { since: now, reported: now, tried: now });
            return true;
        };
        known.tried = now;
        let is_due = now.saturating_duration_since(known.reported) >= REPORTED;
        if is_due {
            known.reported = now;
        }
        is_due
    }

    /// Records whether the last publication of this instance failed.
    pub(super) fn set_unpublished(&self, is_unpublished: bool) {
        self.is_unpublished.store(is_unpublished, Ordering::Relaxed);
    }

    pub(super) fn is_unpublished(&self) -> bool {
        self.is_unpublished.load(Ordering::Relaxed)
    }

    pub(super) fn accept(&self) {
        *self.refused.lock() = None;
    }

    /// Whether nothing could be adopted for so long that this instance has to walk by itself.
    pub(super) fn is_unusable(&self) -> bool {
        self.refused.lock().as_ref().is_some_and(|refused| refused.since.elapsed() >= REFUSED)
    }

    /// Whether what is published was refused, or could not be read, the last time.
    pub(super) fn is_refused_or_unread(&self) -> bool {
        self.is_unread() || self.refused.lock().is_some()
    }

    /// Whether what is published is to be read again: what was missing may be there.
    pub(super) fn is_due(&self) -> bool {
        let is_due = |refused: &Refused| refused.tried.elapsed() >= RETRY;
        self.is_unread() || self.refused.lock().as_ref().is_some_and(is_due)
    }

    fn is_unread(&self) -> bool {
        self.is_unread.load(Ordering::Relaxed)
    }

    /// Records whether the engine gave no answer to the last read.
    pub(super) fn set_unread(&self, is_unread: bool) {
        self.is_unread.store(is_unread, Ordering::Relaxed);
    }
}

impl Known {
    /// The number of the next version.
    pub(super) fn next(&self) -> u64 {
        self.largest + 1
    }

    /// Records that what is published is older than the known version; whether it has been so for long.
    pub(super) fn pass(&mut self) -> bool {
        self.passed.get_or_insert_with(Instant::now);
        self.has_passed_for_long()
    }

    pub(super) fn has_passed_for_long(&self) -> bool {
        self.passed.is_some_and(|since| since.elapsed() >= PASSED)
    }

    pub(super) fn set(&mut self, at: &str, version: KnownVersion) {
        self.largest = self.largest.max(version.position.version);
        (self.at, self.version, self.passed) = (at.to_owned(), Some(version), None);
    }

    pub(super) fn forget(&mut self, at: String) {
        (self.at, self.version, self.passed) = (at, None, None);
    }
}
