//! Which documents events have named lately.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use crate::snapshot_cache::invalidation::Invalidation;

/// How long a document is remembered: longer than two probes of a content type are apart.
const KEPT: Duration = Duration::from_mins(15);
/// Bounds the memory.
const MAX: usize = 20_000;

/// When events last named documents, by content type and `documentId`.
#[derive(Debug, Default)]
pub(super) struct NamedDocuments {
    named: HashMap<(String, String), Instant>,
    /// When an event said last that any document may have changed, or there were too many.
    anything: Option<Instant>,
}

impl NamedDocuments {
    /// Records what an event names; `None`: any document may have changed.
    pub(super) fn record(&mut self, named: Option<&Invalidation>, now: Instant) {
        match named {
            Some(Invalidation { uid, document_id, .. }) => {
                if self.named.len() >= MAX {
                    self.named.retain(|_, at| now < *at + KEPT);
                }
                if self.named.len() >= MAX {
                    self.named.clear();
                    self.anything = Some(now);
                }
                self.named.insert((uid.clone(), document_id.clone()), now);
            }
            None => self.anything = Some(now),
        }
    }

    /// The documents of a content type that events have named since then; `None`: any document may
    /// have changed.
    pub(super) fn since(&self, uid: &str, since: Instant) -> Option<HashSet<String>> {
        if self.anything.is_some_and(|at| at >= since) {
            return None;
        }
        let own = self.named.iter().filter(|((own, _), at)| own == uid && **at >= since);
        Some(own.map(|((_, id), _)| id.clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot_cache::invalidation::Change;

    #[test]
    fn documents_are_named_since_a_time_unless_anything_may_have_changed() {
        let (mut named, start) = (NamedDocuments::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let document = |id: &str| {
            let (uid, document_id) = ("api::a.a".to_owned(), id.to_owned());
            Invalidation { uid, document_id, change: Change::Written }
        };
        named.record(Some(&document("x")), at(0));
        named.record(Some(&document("y")), at(5));
        let ids =
            |named: &NamedDocuments, uid, since| named.since(uid, at(since)).map(|ids| ids.len());
        assert_eq!(ids(&named, "api::a.a", 0), Some(2));
        assert_eq!(ids(&named, "api::a.a", 1), Some(1));
        assert_eq!(ids(&named, "api::b.b", 0), Some(0));
        named.record(None, at(6));
        assert_eq!(ids(&named, "api::a.a", 0), None);
        assert_eq!(ids(&named, "api::a.a", 7), Some(0));
    }
}
