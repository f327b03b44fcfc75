//! A document that may have changed, for which updates are due.

use std::sync::Arc;
use std::time::Instant;

use super::{Change, Invalidation};
use crate::rules::ContentTypeUid;

/// A document that may have changed, for which updates are due.
#[derive(Clone, Debug)]
pub(in crate::snapshot_cache) struct Hint {
    pub(in crate::snapshot_cache) invalidation: Arc<Invalidation>,
    /// When the last webhook named it.
    pub(in crate::snapshot_cache) at: Instant,
    /// The content type whose copies lack the change; `None`: any.
    pub(in crate::snapshot_cache) only: Option<ContentTypeUid>,
    /// Whether the copies have the change already, and a follow-up read is due: all documents that it
    /// concerns are read, because an update from the copies alone may have missed some of them.
    pub(in crate::snapshot_cache) is_follow_up: bool,
    /// How often reading the documents has failed.
    pub(super) attempts: usize,
}

impl Hint {
    /// For a change that is known from now on.
    pub(super) fn new(invalidation: Invalidation, only: Option<ContentTypeUid>) -> Self {
        let (invalidation, at) = (Arc::new(invalidation), Instant::now());
        Self { invalidation, at, only, is_follow_up: false, attempts: 0 }
    }

    /// Adds another hint about the same document, which is as new or newer.
    pub(super) fn add(&mut self, other: Self) {
        // The copies have a change for which only the follow-up read is due.
        let was_written = !self.is_follow_up && self.invalidation.change == Change::Written;
        let only = (self.only == other.only).then_some(other.only).flatten();
        let at = self.at.max(other.at);
        let is_follow_up = self.is_follow_up && other.is_follow_up;
        *self = Self { at, only, is_follow_up, ..other };
        if was_written && self.invalidation.change == Change::Withdrawn {
            // The documents that read it are listed then, which also shows what was withdrawn.
            Arc::make_mut(&mut self.invalidation).change = Change::Written;
        }
    }
}
