//! What events have said about withdrawn documents: while the CMS fails, a snapshot whose walk began
//! before must not show them. An update since does not help: it has read some documents, and perhaps
//! not this one, because its read fails.

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
}

impl Withdrawals {
    /// A version of this document was unpublished or deleted.
    pub(super) fn add(&mut self, uid: &str, document_id: &str, at: Instant) {
        if self.named.len() >= MAX_DOCUMENTS {
            self.forget_older_half();
        }
        let last = self.named.entry((uid.to_owned(), document_id.to_owned())).or_insert(at);
        *last = at.max(*last);
    }

    /// Any document may have been withdrawn.
    pub(super) fn add_any(&mut self, at: Instant) {
        self.any = self.any.max(Some(at));
    }

    /// Whether this snapshot may have a document that was withdrawn since its walk began.
    pub(super) fn may_concern(
        &self,
        cached: &CachedSnapshot,
        uid: &str,
        document_id: &str,
    ) -> bool {
        let named = self.named.get(&(uid.to_owned(), document_id.to_owned())).copied();
        named.max(self.any).is_some_and(|at| at >= cached.begun)
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

    /// A snapshot whose walk began so many seconds after `start`, and which was updated since.
    fn cached(start: Instant, begun: u64) -> CachedSnapshot {
        let at = |seconds| start + Duration::from_secs(seconds);
        let cached = CachedSnapshot::of_settings(Arc::default(), Arc::default());
        CachedSnapshot { begun: at(begun), as_of: at(100), ..cached }
    }

    #[test]
    fn snapshot_of_a_walk_before_a_withdrawal_may_have_the_document() {
        let (mut withdrawals, start) = (Withdrawals::default(), Instant::now());
        withdrawals.add("api::a.a", "d", start + Duration::from_secs(5));
        withdrawals.add("api::a.a", "d", start + Duration::from_secs(2));
        let may_concern = |begun, uid, id| withdrawals.may_concern(&cached(start, begun), uid, id);
        assert!(may_concern(1, "api::a.a", "d"));
        assert!(may_concern(5, "api::a.a", "d"));
        assert!(!may_concern(6, "api::a.a", "d"));
        assert!(!may_concern(1, "api::a.a", "e"));
        assert!(!may_concern(1, "api::b.b", "d"));
    }

    #[test]
    fn event_without_a_document_may_concern_all_until_a_walk() {
        let (mut withdrawals, start) = (Withdrawals::default(), Instant::now());
        withdrawals.add_any(start + Duration::from_secs(5));
        withdrawals.add_any(start + Duration::from_secs(2));
        let may_concern = |begun| withdrawals.may_concern(&cached(start, begun), "api::a.a", "d");
        assert!(may_concern(1) && may_concern(5));
        assert!(!may_concern(6));
    }

    #[test]
    fn forgotten_withdrawal_may_concern_any_document() {
        let (mut withdrawals, start) = (Withdrawals::default(), Instant::now());
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let most = u64::try_from(MAX_DOCUMENTS).unwrap();
        for n in 0..most {
            withdrawals.add("api::a.a", &n.to_string(), at(n));
        }
        let before = |seconds| cached(start, seconds);
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
