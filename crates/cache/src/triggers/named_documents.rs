//! Which documents webhook events have named, so that changes are found that no event has named.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use crate::invalidation::Invalidation;

/// The most documents that are kept. One more takes the place of all of them.
const MAX_REMEMBERED: usize = 20_000;

/// The documents that events have named, and when.
pub(crate) struct NamedDocuments {
    started: Instant,
    /// Whether the CMS is to send events.
    expects_events: AtomicBool,
    events: Mutex<Events>,
}

#[derive(Default)]
struct Events {
    /// When the last event named a document, by content type and `documentId`.
    named: HashMap<(String, String), Instant>,
    /// When an event last named no document, events were lost, or documents were dropped.
    incomplete: Option<Instant>,
}

impl Default for NamedDocuments {
    fn default() -> Self {
        let (started, expects_events) = (Instant::now(), AtomicBool::new(false));
        Self { started, expects_events, events: Mutex::default() }
    }
}

impl NamedDocuments {
    /// Sets whether the CMS is to send events.
    pub(crate) fn expect_events(&self, expects_events: bool) {
        self.expects_events.store(expects_events, Ordering::Relaxed);
    }

    /// Records that an event has named a document; `None`: any document may have changed.
    pub(crate) fn record(&self, named: Option<&Invalidation>, now: Instant) {
        let events = &mut *self.events.lock();
        let Some(Invalidation { uid, document_id, .. }) = named else {
            events.incomplete = Some(now);
            return;
        };
        let key = (uid.clone(), document_id.clone());
        if events.named.len() >= MAX_REMEMBERED && !events.named.contains_key(&key) {
            events.named.clear();
            events.incomplete = Some(now);
        }
        events.named.insert(key, now);
    }

    /// The documents of a content type that events are known to have named since then.
    pub(crate) fn known_of(&self, uid: &str, since: Instant) -> HashSet<String> {
        let events = self.events.lock();
        let own = events.named.iter().filter(|((own, _), at)| own == uid && **at >= since);
        own.map(|((_, id), _)| id.clone()).collect()
    }

    /// The documents among these of a content type that no event has named since then; none where
    /// that is not known ([`NamedDocuments::all_since`]).
    pub(crate) fn not_named<'i>(&self, uid: &str, ids: &[&'i str], since: Instant) -> Vec<&'i str> {
        let events = self.events.lock();
        if !self.is_complete(&events, since) {
            return Vec::new();
        }
        let is_named = |id: &str| {
            let at = events.named.get(&(uid.to_owned(), id.to_owned()));
            at.is_some_and(|at| *at >= since)
        };
        ids.iter().copied().filter(|id| !is_named(id)).collect()
    }

    /// All documents that events have named since then. `None`: that is not known, because an event
    /// named none, there were too many, no events are expected, or this process had not started.
    pub(crate) fn all_since(&self, since: Instant) -> Option<HashSet<String>> {
        let events = self.events.lock();
        let named = events.named.iter().filter(|(_, at)| **at >= since);
        self.is_complete(&events, since).then(|| named.map(|((_, id), _)| id.clone()).collect())
    }

    fn is_complete(&self, events: &Events, since: Instant) -> bool {
        self.expects_events.load(Ordering::Relaxed)
            && since >= self.started
            && events.incomplete.is_none_or(|at| at < since)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const UID: &str = "api::a.a";

    fn document(id: &str) -> Invalidation {
        let (uid, document_id) = (UID.to_owned(), id.to_owned());
        Invalidation { uid, document_id, is_withdrawn: false }
    }

    #[test]
    fn documents_are_those_that_events_have_named_since_then() {
        let named = NamedDocuments::default();
        let at = |seconds| named.started + Duration::from_secs(seconds);
        let all = |since| named.all_since(at(since)).map(|named| named.len());
        let known = |since| named.known_of(UID, at(since)).len();
        assert_eq!(all(0), None, "no events are expected");
        named.expect_events(true);
        assert_eq!(all(0), Some(0));
        named.record(Some(&document("a")), at(1));
        named.record(Some(&document("b")), at(3));
        named.record(Some(&document("b")), at(5));
        assert_eq!((all(1), all(2), all(6)), (Some(2), Some(1), Some(0)));
        assert_eq!((known(1), known(2), known(6)), (2, 1, 0));
        let not_named = |since| named.not_named(UID, &["a", "b", "c"], at(since));
        assert_eq!((not_named(1), not_named(2)), (vec!["c"], vec!["a", "c"]));
        assert!(named.known_of("api::b.b", at(1)).is_empty());
        named.record(None, at(7));
        assert_eq!((all(7), all(8)), (None, Some(0)));
        assert_eq!((not_named(7).len(), not_named(8).len()), (0, 3));
        assert_eq!(known(1), 2);
        let before = named.started.checked_sub(Duration::from_secs(1)).unwrap();
        assert!(named.all_since(before).is_none());
    }

    #[test]
    fn one_document_too_many_takes_the_place_of_all() {
        let named = NamedDocuments::default();
        named.expect_events(true);
        let start = named.started;
        for n in 0..MAX_REMEMBERED {
            named.record(Some(&document(&n.to_string())), start);
        }
        named.record(Some(&document("0")), start);
        assert_eq!(named.all_since(start).map(|named| named.len()), Some(MAX_REMEMBERED));
        named.record(Some(&document("x")), start);
        assert!(named.all_since(start).is_none());
        assert_eq!(named.known_of(UID, start), HashSet::from(["x".to_owned()]));
    }
}
