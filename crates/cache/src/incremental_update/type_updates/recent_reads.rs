//! When the dependents of changed documents were read: a withdrawal before that may be reported
//! after it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::invalidation::{Change, Invalidation, PendingInvalidation};

/// The longest time from a withdrawal to its event: a busy Strapi sends it late.
const MAX_DELAY: Duration = Duration::from_secs(5);
/// How long the time of a read is kept: an event that has arrived may wait for a round.
const KEPT: Duration = Duration::from_mins(1);

/// When the dependents of changed documents were read, by content type and `documentId`.
#[derive(Default)]
pub(crate) struct RecentReads(Mutex<HashMap<(String, String), Instant>>);

impl RecentReads {
    /// Records that the dependents of these documents have been read now, after their changes.
    pub(crate) fn record<'h>(
        &self,
        invalidations: impl IntoIterator<Item = &'h PendingInvalidation>,
        now: Instant,
    ) {
        let mut reads = self.0.lock();
        reads.retain(|_, at| now < *at + KEPT);
        let invalidations = invalidations.into_iter();
        let written =
            invalidations.filter(|pending| pending.invalidation.change == Change::Written);
        reads.extend(written.map(|pending| (key(&pending.invalidation), now)));
    }

    /// Marks the withdrawals that the last read of the dependents may have come after: that read has
    /// missed the versions that had gained the relation before.
    pub(crate) fn mark_unread_losses(&self, invalidations: &mut [PendingInvalidation]) {
        let reads = self.0.lock();
        for pending in invalidations.iter_mut().filter(|pending| pending.has_withdrawal) {
            let read = reads.get(&key(&pending.invalidation));
            pending.may_have_unread_dependents |=
                read.is_some_and(|read| pending.at <= *read + MAX_DELAY);
        }
    }
}

fn key(invalidation: &Invalidation) -> (String, String) {
    (invalidation.uid.clone(), invalidation.document_id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(id: &str, change: Change) -> PendingInvalidation {
        let (uid, document_id) = ("api::a.a".to_owned(), id.to_owned());
        PendingInvalidation::new(Invalidation { uid, document_id, change }, None)
    }

    #[test]
    fn withdrawal_that_is_reported_soon_after_a_read_has_an_unread_loss() {
        let reads = RecentReads::default();
        let read = Instant::now();
        reads.record(&[pending("a", Change::Written), pending("b", Change::Withdrawn)], read);
        let late = |(id, after)| {
            let mut pending = pending(id, Change::Withdrawn);
            pending.at = read + Duration::from_secs(after);
            pending
        };
        let mut invalidations: Vec<PendingInvalidation> =
            [("a", 0), ("a", 4), ("a", 6), ("b", 0), ("c", 0)].map(late).into();
        invalidations.push(pending("a", Change::Written));
        reads.mark_unread_losses(&mut invalidations);
        let marked: Vec<bool> =
            invalidations.iter().map(|pending| pending.may_have_unread_dependents).collect();
        assert_eq!(marked, [true, true, false, false, false, false]);
    }
}
