//! Dependents that the next read of a changed document's dependents may not find.
//!
//! Publishing a document can make other documents its dependents, without events about these, and
//! withdrawing it, or publishing it again after their drafts have moved away, ends their relation.
//! Dependents that were not read in between are found neither by a filter nor in the snapshots, which
//! have their earlier relation.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::invalidation::{Invalidation, PendingInvalidation};

/// The longest time from a change to its event: a busy Strapi sends it late.
const MAX_DELAY: Duration = Duration::from_secs(5);
/// How long a read of all dependents may wait for those before it, and take.
const MAX_LONG_READ: Duration = Duration::from_mins(5);
/// How long a time is remembered after it: an event that has arrived may wait for a round.
const REMEMBERED: Duration = Duration::from_mins(1);

/// By content type and `documentId` of a changed document: a change that is known until this time may
/// have ended relations that have not been read.
#[derive(Default)]
pub(super) struct UnreadDependents(Mutex<HashMap<(String, String), Instant>>);

impl UnreadDependents {
    /// Records that the dependents of these documents are read from now on, page by page.
    pub(super) fn begin_long_read(&self, pending: &PendingInvalidation, now: Instant) {
        self.record([pending], now, MAX_LONG_READ);
    }

    /// Records that the dependents of these documents have been read now, after their changes.
    pub(super) fn end_read<'h>(
        &self,
        invalidations: impl IntoIterator<Item = &'h PendingInvalidation>,
        now: Instant,
    ) {
        self.record(invalidations, now, MAX_DELAY);
    }

    fn record<'h>(
        &self,
        invalidations: impl IntoIterator<Item = &'h PendingInvalidation>,
        now: Instant,
        delay: Duration,
    ) {
        let mut until = self.0.lock();
        until.retain(|_, until| now < *until + REMEMBERED);
        let written =
            invalidations.into_iter().filter(|pending| !pending.invalidation.is_withdrawn);
        until.extend(written.map(|pending| (key(&pending.invalidation), now + delay)));
    }

    /// Marks the changes that may have ended relations that have not been read.
    pub(super) fn mark(&self, invalidations: &mut [PendingInvalidation]) {
        let all = self.0.lock();
        for pending in invalidations {
            let until = all.get(&key(&pending.invalidation));
            pending.may_have_unread_dependents |= until.is_some_and(|until| pending.at <= *until);
        }
    }
}

fn key(invalidation: &Invalidation) -> (String, String) {
    (invalidation.uid.clone(), invalidation.document_id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(id: &str, is_withdrawn: bool, at: Instant) -> PendingInvalidation {
        let (uid, document_id) = ("api::a.a".to_owned(), id.to_owned());
        let invalidation = Invalidation { uid, document_id, is_withdrawn };
        let mut pending = PendingInvalidation::new(invalidation, None);
        pending.at = at;
        pending
    }

    #[test]
    fn change_that_is_reported_during_a_read_or_soon_after_it_may_have_unread_dependents() {
        let (written, withdrawn) = (false, true);
        let (unread, start) = (UnreadDependents::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let read = [pending("a", written, start), pending("b", withdrawn, start)];
        unread.end_read(&read, start);
        unread.begin_long_read(&pending("long", written, start), start);
        let marked = |id, change, seconds| {
            let mut one = [pending(id, change, at(seconds))];
            unread.mark(&mut one);
            one[0].may_have_unread_dependents
        };
        for change in [written, withdrawn] {
            assert!(marked("a", change, 0) && marked("a", change, 5) && !marked("a", change, 6));
            assert!(!marked("b", change, 0), "what read it is in the snapshot");
            assert!(!marked("c", change, 0));
            assert!(marked("long", change, 100));
        }
        unread.end_read(&[pending("long", written, start)], at(10));
        assert!(marked("long", written, 15) && !marked("long", written, 16));
    }
}
