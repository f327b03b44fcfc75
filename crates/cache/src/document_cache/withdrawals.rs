//! What events have said about withdrawn documents: while the CMS fails, a snapshot from before
//! must not show them.

use std::collections::HashMap;
use std::time::Instant;

use crate::cached_snapshot::CachedSnapshot;

/// The documents that are remembered by name: more than editors withdraw in an outage.
const MAX_DOCUMENTS: usize = 10_000;

/// When documents were withdrawn, or may have been.
#[derive(Default)]
pub(super) struct Withdrawals {
    /// When a version of a document was last unpublished or deleted, by content type and `documentId`.
    named: HashMap<(String, String), Instant>,
    /// When any document may have been withdrawn last.
    any: Option<Instant>,
    /// Until when events may have been missed that other instances have read.
    missed: Option<Instant>,
}

impl Withdrawals {
    /// A version of this document was unpublished or deleted.
    pub(super) fn add(&mut self, uid: &str, document_id: &str, now: Instant) {
        if self.named.len() >= MAX_DOCUMENTS {
            self.forget_older_half();
        }
        self.named.insert((uid.to_owned(), document_id.to_owned()), now);
    }

    /// Any document may have been withdrawn.
    pub(super) fn add_any(&mut self, now: Instant) {
        self.any = self.any.max(Some(now));
    }

    /// Events until this time may have been missed.
    pub(super) fn miss(&mut self, until: Instant) {
        self.missed = self.missed.max(Some(until));
    }

    /// Whether this snapshot may have a document that was withdrawn since it was read.
    pub(super) fn may_concern(
        &self,
        cached: &CachedSnapshot,
        uid: &str,
        document_id: &str,
    ) -> bool {
        let named = self.named.get(&(uid.to_owned(), document_id.to_owned()));
        named.is_some_and(|at| *at >= cached.as_of)
            // An update reads some documents: only a walk reads all.
            || self.any.is_some_and(|at| at >= cached.begun)
            || self.missed.is_some_and(|until| until >= cached.whole_as_of)
    }

    /// Of what is forgotten, any document may be concerned.
    fn forget_older_half(&mut self) {
        let mut times: Vec<Instant> = self.named.values().copied().collect();
        let middle = times.len() / 2;
        let median = *times.select_nth_unstable(middle).1;
        self.named.retain(|_, at| *at > median);
        self.add_any(median);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;

    /// A snapshot that was walked, published and last updated so many seconds after `start`.
    fn cached(start: Instant, [begun, whole_as_of, as_of]: [u64; 3]) -> CachedSnapshot {
        let at = |seconds| start + Duration::from_secs(seconds);
        let cached = CachedSnapshot::of_settings(Arc::default(), Arc::default());
        CachedSnapshot {
            begun: at(begun),
            whole_as_of: at(whole_as_of),
            as_of: at(as_of),
            ..cached
        }
    }

    #[test]
    fn copy_from_before_a_withdrawal_may_have_the_document() {
        let (mut withdrawals, start) = (Withdrawals::default(), Instant::now());
        withdrawals.add("api::a.a", "d", start + Duration::from_secs(5));
        let may_concern = |times, uid, id| withdrawals.may_concern(&cached(start, times), uid, id);
        assert!(may_concern([1, 1, 5], "api::a.a", "d"));
        assert!(!may_concern([1, 1, 6], "api::a.a", "d"), "it was updated since");
        assert!(!may_concern([1, 1, 1], "api::a.a", "e"));
        assert!(!may_concern([1, 1, 1], "api::b.b", "d"));
    }

    #[test]
    fn event_without_a_document_may_concern_all_until_a_walk() {
        let (mut withdrawals, start) = (Withdrawals::default(), Instant::now());
        withdrawals.add_any(start + Duration::from_secs(5));
        withdrawals.add_any(start + Duration::from_secs(2));
        let may_concern = |times| withdrawals.may_concern(&cached(start, times), "api::a.a", "d");
        assert!(may_concern([1, 1, 1]) && may_concern([5, 5, 5]));
        assert!(may_concern([1, 6, 6]), "an update since has not read all");
        assert!(!may_concern([6, 6, 6]));
    }

    #[test]
    fn missed_events_may_concern_all_until_a_walk_or_a_publication() {
        let (mut withdrawals, start) = (Withdrawals::default(), Instant::now());
        withdrawals.miss(start + Duration::from_secs(5));
        let may_concern = |times| withdrawals.may_concern(&cached(start, times), "api::a.a", "d");
        assert!(may_concern([1, 1, 1]) && may_concern([1, 1, 6]));
        assert!(!may_concern([1, 6, 6]), "the instance that published it has read them");
        assert!(!may_concern([6, 6, 6]));
    }

    #[test]
    fn forgotten_withdrawal_may_concern_any_document() {
        let (mut withdrawals, start) = (Withdrawals::default(), Instant::now());
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let most = u64::try_from(MAX_DOCUMENTS).unwrap();
        for n in 0..most {
            withdrawals.add("api::a.a", &n.to_string(), at(n));
        }
        let before = |seconds| cached(start, [seconds; 3]);
        assert!(withdrawals.may_concern(&before(0), "api::a.a", "0"));
        assert!(!withdrawals.may_concern(&before(0), "api::a.a", "other"));
        withdrawals.add("api::a.a", "one more", at(most));
        assert!(withdrawals.named.len() <= MAX_DOCUMENTS / 2 + 1);
        for id in ["0", "other", "9999", "one more"] {
            assert!(withdrawals.may_concern(&before(5), "api::a.a", id), "{id}");
        }
        let newer = before(6);
        assert!(!withdrawals.may_concern(&newer, "api::a.a", "0"));
        assert!(withdrawals.may_concern(&newer, "api::a.a", "9999"));
    }
}
