//! The last good responses about single documents.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::FoundDocument;
use crate::content::Document;
use crate::rules::{FieldValue, Locale};
use crate::snapshot_cache::invalidation::Invalidation;

/// The memory for documents, in bytes: some ten thousand of them.
const MAX_BYTES: u64 = 16 << 20;
/// The expected number of documents, for the tables of the cache.
const ESTIMATED_DOCUMENTS: usize = 16 << 10;
/// What a document takes beside its texts, in bytes.
const DOCUMENT_OVERHEAD: usize = 256;

/// The last good responses about published versions of documents; drafts are never cached. Survives
/// a reload.
pub struct LastGoodDocuments {
    cache: Cache<Key, Good, Weight>,
    /// When a document was last invalidated: responses to earlier requests are not cached.
    forgotten: Mutex<Option<Instant>>,
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
        Self { cache, forgotten: Mutex::default() }
    }
}

impl LastGoodDocuments {
    /// A URL that was withdrawn must not reappear because the CMS fails.
    pub(super) fn forget(&self, invalidation: Option<&Invalidation>) {
        let mut forgotten = self.forgotten.lock();
        *forgotten = Some(Instant::now());
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

    pub(super) fn get(&self, key: &Key, limit: Duration) -> Option<FoundDocument> {
        let Good { document, requested, .. } = self.cache.get(key)?;
        let age = requested.elapsed();
        let document = document.filter(|_| age < limit)?;
        Some(FoundDocument { document: Some(document), stale: Some(age) })
    }
}
