//! The last good responses about single documents.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::content::Document;
use crate::rules::{FieldValue, Locale};
use crate::snapshot_cache::invalidation::{Change, Invalidation};

/// The memory for documents, in bytes: some ten thousand of them.
const MAX_BYTES: u64 = 16 << 20;
/// The expected number of documents, for the tables of the cache.
const ESTIMATED_DOCUMENTS: usize = 16 << 10;
/// The withdrawals, and the differences, that are remembered: more than editors make in an outage.
const MAX_REMEMBERED: usize = 10_000;
/// The shortest time between two reports of a difference of the same document: its update takes less.
const REPORT_PERIOD: Duration = Duration::from_secs(5);
/// What a document takes beside its texts, in bytes.
const DOCUMENT_OVERHEAD: usize = 256;

/// The last good responses about published versions of documents; drafts are never cached. Survives
/// a reload.
pub struct LastGoodDocuments {
    cache: Cache<Key, Good, Weight>,
    /// When a document was last invalidated: responses to earlier requests are not cached.
    forgotten: Mutex<Option<Instant>>,
    /// When documents were last unpublished or deleted, by content type and `documentId`.
    withdrawn: Cache<(String, String), Instant>,
    /// When a difference between a document and its snapshot was last reported.
    different: Cache<(String, String), Instant>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// `Site::fingerprint`: the fields of a document depend on the rules.
    pub(super) site: u128,
    pub(super) uid: String,
    pub(super) id: String,
    pub(super) locale: Locale,
}

impl Key {
    fn is_of(&self, invalidation: &Invalidation) -> bool {
        self.id == invalidation.document_id && self.uid == invalidation.uid
    }
}

/// A good response of the CMS.
#[derive(Clone)]
pub(super) struct Good {
    /// `None`: there is no such version. Cached so that an older response that arrives later does
    /// not replace it.
    pub(super) document: Option<Arc<Document<'static>>>,
    /// When the request to the CMS began.
    pub(super) requested: Instant,
    /// Whether it may have values of related documents.
    pub(super) related: bool,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Good> for Weight {
    fn weight(&self, key: &Key, good: &Good) -> u64 {
        let values = good.document.as_ref().map_or(&[][..], |document| &document.values);
        let texts = key.uid.len() + 2 * key.id.len();
        (DOCUMENT_OVERHEAD + texts + bytes(values)) as u64
    }
}

fn bytes(values: &[FieldValue<'_>]) -> usize {
    let behind = |value: &FieldValue<'_>| match value {
        FieldValue::Text(text) => text.len(),
        FieldValue::List(values) => bytes(values),
        _ => 0,
    };
    size_of_val(values) + values.iter().map(behind).sum::<usize>()
}

impl Default for LastGoodDocuments {
    fn default() -> Self {
        let cache = Cache::with_weighter(ESTIMATED_DOCUMENTS, MAX_BYTES, Weight);
        let (withdrawn, different) = (Cache::new(MAX_REMEMBERED), Cache::new(MAX_REMEMBERED));
        Self { cache, forgotten: Mutex::default(), withdrawn, different }
    }
}

impl LastGoodDocuments {
    /// A URL that was withdrawn must not reappear because the CMS fails.
    pub(super) fn forget(&self, invalidation: Option<&Invalidation>) {
        let mut forgotten = self.forgotten.lock();
        *forgotten = Some(Instant::now());
        if let Some(Invalidation { uid, document_id, change: Change::Withdrawn }) = invalidation {
            self.withdrawn.insert((uid.clone(), document_id.clone()), Instant::now());
        }
        match invalidation {
            Some(document) => self.cache.retain(|key, good| !(key.is_of(document) || good.related)),
            None => self.cache.clear(),
        }
    }

    pub(super) fn keep(&self, key: Key, good: Good) {
        let forgotten = self.forgotten.lock();
        if self.cache.peek(&key).is_some_and(|kept| kept.requested > good.requested) {
            return;
        }
        if good.document.is_some() && forgotten.is_some_and(|at| at >= good.requested) {
            // An older response must not replace a newer one.
            self.cache.remove(&key);
        } else {
            self.cache.insert(key, good);
        }
    }

    /// The version and its age.
    pub(super) fn get(
        &self,
        key: &Key,
        limit: Duration,
    ) -> Option<(Arc<Document<'static>>, Duration)> {
        let Good { document, requested, .. } = self.cache.get(key)?;
        let age = requested.elapsed();
        Some((document.filter(|_| age < limit)?, age))
    }

    pub(super) fn may_report_difference(&self, uid: &str, id: &str, now: Instant) -> bool {
        let key = (uid.to_owned(), id.to_owned());
        let may_report = self.different.get(&key).is_none_or(|last| now >= last + REPORT_PERIOD);
        if may_report {
            self.different.insert(key, now);
        }
        may_report
    }

    /// When an event last said that a version of this document was unpublished or deleted.
    pub(super) fn withdrawal_of(&self, uid: &str, id: &str) -> Option<Instant> {
        self.withdrawn.get(&(uid.to_owned(), id.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difference_of_a_document_is_reported_once_in_five_seconds() {
        let (documents, now) = (LastGoodDocuments::default(), Instant::now());
        let may_report = |id, after| {
            documents.may_report_difference("api::a.a", id, now + Duration::from_millis(after))
        };
        assert!(may_report("a", 0) && may_report("b", 0));
        assert!(!may_report("a", 4_999), "an earlier report is in progress");
        assert!(may_report("a", 5_000));
        assert!(!may_report("a", 5_001));
    }
}
