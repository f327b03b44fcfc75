//! Which documents webhook events have named, so that edits are found that none has announced.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

/// The most documents that are kept; with more, any document counts as named.
const MAX_NAMED: usize = 20_000;

/// The documents that events have named, and when.
pub(in crate::snapshot_cache) struct Announced {
    started: Instant,
    /// Whether the CMS is to send events.
    is_expected: AtomicBool,
    events: Mutex<Events>,
}

#[derive(Default)]
struct Events {
    /// By `documentId`, when the last event named it.
    named: HashMap<String, Instant>,
    /// When an event last said that any document may have changed, or events were lost.
    any: Option<Instant>,
}

impl Default for Announced {
    fn default() -> Self {
        let (started, is_expected) = (Instant::now(), AtomicBool::new(false));
        Self { started, is_expected, events: Mutex::default() }
    }
}

impl Announced {
    /// Sets whether the CMS is to send events.
    pub(in crate::snapshot_cache) fn expect(&self, is_expected: bool) {
        self.is_expected.store(is_expected, Ordering::Relaxed);
    }

    /// Records that an event has named a document; `None`: any document may have changed.
    pub(in crate::snapshot_cache) fn record(&self, document_id: Option<&str>, now: Instant) {
        let events = &mut *self.events.lock();
        let Some(id) = document_id.filter(|_| events.named.len() < MAX_NAMED) else {
            events.named.clear();
            events.any = Some(now);
            return;
        };
        events.named.insert(id.to_owned(), now);
    }

    /// The documents that events have named since then. `None`: which edits none has announced is not
    /// known, because any document may have been meant, no events are expected, or this process had not
    /// started.
    pub(in crate::snapshot_cache) fn since(&self, time: Instant) -> Option<HashSet<String>> {
        let events = self.events.lock();
        let is_known = self.is_expected.load(Ordering::Relaxed)
            && time >= self.started
            && events.any.is_none_or(|any| any < time);
        let named = events.named.iter().filter(|(_, at)| **at >= time);
        is_known.then(|| named.map(|(id, _)| id.clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn documents_are_those_that_events_have_named_since_then() {
        let announced = Announced::default();
        let at = |seconds| announced.started + Duration::from_secs(seconds);
        let since = |seconds| announced.since(at(seconds)).map(|named| named.len());
        assert_eq!(since(0), None, "no events are expected");
        announced.expect(true);
        assert_eq!(since(0), Some(0));
        announced.record(Some("a"), at(1));
        announced.record(Some("b"), at(3));
        announced.record(Some("b"), at(5));
        assert_eq!((since(1), since(2), since(6)), (Some(2), Some(1), Some(0)));
        announced.record(None, at(7));
        assert_eq!((since(7), since(8)), (None, Some(0)));
        let before = announced.started.checked_sub(Duration::from_secs(1)).unwrap();
        assert!(announced.since(before).is_none());
    }

    #[test]
    fn too_many_documents_are_any() {
        let announced = Announced::default();
        announced.expect(true);
        let start = announced.started;
        for n in 0..MAX_NAMED {
            announced.record(Some(&n.to_string()), start);
        }
        assert_eq!(announced.since(start).map(|named| named.len()), Some(MAX_NAMED));
        announced.record(Some("x"), start);
        assert!(announced.since(start).is_none());
    }
}
