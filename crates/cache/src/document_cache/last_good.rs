//! The last good responses about single documents.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::differences::Differences;
use super::withdrawals::Withdrawals;
use crate::cached_snapshot::CachedSnapshot;
use crate::invalidation::Invalidation;
use frontend_map_cms::Document;
use frontend_map_rules::{FieldValue, Locale};

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
    withdrawals: Mutex<Withdrawals>,
    pub(super) differences: Differences,
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
        Self {
            cache,
            forgotten: Mutex::default(),
            withdrawals: Mutex::default(),
            differences: Differences::default(),
        }
    }
}

impl LastGoodDocuments {
    /// Forgets a document that may have changed, and all that may have values of it; `None`: all
    /// documents. `is_found`: it differs from its snapshot, and no webhook has announced a change. While
    /// such a difference stays, documents with values of it are kept: none of its values has changed.
    pub fn forget(&self, invalidation: Option<&Invalidation>, is_found: bool, now: Instant) {
        let mut forgotten = self.forgotten.lock();
        *forgotten = Some(now);
        let Some(document) = invalidation else {
            self.cache.clear();
            return;
        };
        let Invalidation { uid, document_id, .. } = document;
        let keeps_related = is_found && self.differences.hear(uid, document_id, now);
        self.cache.retain(|key, good| !(key.is_of(document) || good.related && !keeps_related));
    }

    /// A document was withdrawn; `None`: it is not known which one.
    pub fn withdraw(&self, document: Option<&Invalidation>, at: Instant) {
        let mut withdrawals = self.withdrawals.lock();
        match document {
            Some(document) => withdrawals.add(&document.uid, &document.document_id, at),
            None => withdrawals.add_any(at),
        }
    }

    /// Forgets all documents: events until this time may have been missed, and may have been
    /// withdrawals.
    pub fn forget_all_until(&self, missed: Instant) {
        let mut forgotten = self.forgotten.lock();
        *forgotten = Some(Instant::now());
        self.withdrawals.lock().add_any(missed);
        self.cache.clear();
    }

    /// Forgets the documents of these content types, and all that may have values of them.
    pub fn forget_types(&self, uids: &[String]) {
        let mut forgotten = self.forgotten.lock();
        *forgotten = Some(Instant::now());
        self.cache.retain(|key, good| !(uids.contains(&key.uid) || good.related));
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

    /// Whether this document may have been unpublished or deleted since the walk of this snapshot
    /// began: an event says so of it, an event names no document, or events may have been missed.
    pub fn may_be_withdrawn_since(&self, cached: &CachedSnapshot, uid: &str, id: &str) -> bool {
        self.withdrawals.lock().may_concern(cached, uid, id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend_map_cms::DocumentLocale;

    #[test]
    fn types_are_forgotten_with_all_documents_that_may_have_values_of_them() {
        let documents = LastGoodDocuments::default();
        let key = |uid: &str| Key {
            site: 1,
            uid: uid.to_owned(),
            id: "a".to_owned(),
            locale: Locale::parse("en").unwrap(),
        };
        for (uid, related) in [("api::a.a", false), ("api::b.b", true), ("api::c.c", false)] {
            let document = Some(Arc::new(Document {
                id: "a".into(),
                locale: DocumentLocale::None,
                unpublished: false,
                fields: Arc::default(),
                values: Vec::new(),
            }));
            documents.keep(key(uid), Good { document, requested: Instant::now(), related });
        }
        documents.forget_types(&["api::a.a".to_owned()]);
        let is_kept = |uid| documents.get(&key(uid), Duration::from_mins(1)).is_some();
        assert_eq!(["api::a.a", "api::b.b", "api::c.c"].map(is_kept), [false, false, true]);
    }

    const UID: &str = "api::a.a";

    fn key(id: &str) -> Key {
        let locale = Locale::parse("en").unwrap();
        Key { site: 1, uid: UID.to_owned(), id: id.to_owned(), locale }
    }

    /// Which of these documents are cached; the second one has related values.
    fn cached(documents: &LastGoodDocuments) -> [bool; 3] {
        ["a", "related", "b"].map(|id| documents.cache.get(&key(id)).is_some())
    }

    fn keep_all(documents: &LastGoodDocuments) {
        for id in ["a", "related", "b"] {
            let good = Good { document: None, requested: Instant::now(), related: id == "related" };
            documents.keep(key(id), good);
        }
    }

    #[test]
    fn documents_with_values_of_others_are_kept_while_a_difference_stays() {
        let (documents, start) = (LastGoodDocuments::default(), Instant::now());
        let (uid, document_id) = (UID.to_owned(), "a".to_owned());
        let named = Invalidation { uid, document_id, is_withdrawn: false };
        let forget = |is_found, seconds| {
            keep_all(&documents);
            documents.forget(Some(&named), is_found, start + Duration::from_secs(seconds));
            cached(&documents)
        };
        assert_eq!(forget(true, 0), [false, false, true], "it may be a lost event");
        assert_eq!(forget(true, 5), [false, true, true]);
        assert_eq!(forget(false, 6), [false, false, true], "an event");
        keep_all(&documents);
        documents.forget(None, false, start);
        assert_eq!(cached(&documents), [false; 3]);
    }
}
