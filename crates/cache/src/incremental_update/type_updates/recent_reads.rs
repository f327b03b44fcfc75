//! When the dependents of changed documents were read: a withdrawal before that may be reported
//! after it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::invalidation::{Change, Hint, Invalidation};

/// The longest time from a withdrawal to its event: a busy Strapi sends it late.
const MAX_DELAY: Duration = Duration::from_secs(5);
/// How long the time of a read is kept: an event that has arrived may wait for a round.
const KEPT: Duration = Duration::from_mins(1);

/// When the dependents of changed documents were read, by content type and `documentId`.
#[derive(Default)]
pub(crate) struct RecentReads(Mutex<HashMap<(String, String), Instant>>);

impl RecentReads {
    /// Records that the dependents of these documents have been read now, after their changes.
    pub(crate) fn record<'h>(&self, hints: impl IntoIterator<Item = &'h Hint>, now: Instant) {
        let mut reads = self.0.lock();
        reads.retain(|_, at| now < *at + KEPT);
        let hints = hints.into_iter();
        let written = hints.filter(|hint| hint.invalidation.change == Change::Written);
        reads.extend(written.map(|hint| (key(&hint.invalidation), now)));
    }

    /// Marks the withdrawals that the last read of the dependents may have come after: that read has
    /// missed the versions that had gained the relation before.
    pub(crate) fn mark_unread_losses(&self, hints: &mut [Hint]) {
        let reads = self.0.lock();
        for hint in hints.iter_mut().filter(|hint| hint.has_withdrawal) {
            let read = reads.get(&key(&hint.invalidation));
            hint.may_have_unread_dependents |=
                read.is_some_and(|read| hint.at <= *read + MAX_DELAY);
        }
    }
}

fn key(invalidation: &Invalidation) -> (String, String) {
    (invalidation.uid.clone(), invalidation.document_id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(id: &str, change: Change) -> Hint {
        let (uid, document_id) = ("api::a.a".to_owned(), id.to_owned());
        Hint::new(Invalidation { uid, document_id, change }, None)
    }

    #[test]
    fn withdrawal_that_is_reported_soon_after_a_read_has_an_unread_loss() {
        let reads = RecentReads::default();
        let read = Instant::now();
        reads.record(&[hint("a", Change::Written), hint("b", Change::Withdrawn)], read);
        let late = |(id, after)| {
            let mut hint = hint(id, Change::Withdrawn);
            hint.at = read + Duration::from_secs(after);
            hint
        };
        let mut hints: Vec<Hint> =
            [("a", 0), ("a", 4), ("a", 6), ("b", 0), ("c", 0)].map(late).into();
        hints.push(hint("a", Change::Written));
        reads.mark_unread_losses(&mut hints);
        let marked: Vec<bool> = hints.iter().map(|hint| hint.may_have_unread_dependents).collect();
        assert_eq!(marked, [true, true, false, false, false, false]);
    }
}
