//! Single documents: what the CMS says, and while it fails what it last said.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tokio::time::timeout;

use super::{App, Hint};
use crate::content::{ContentError, Document, Status};
use crate::rules::{FieldValue, Locale};
use crate::site::Site;

/// The memory for documents, in bytes: some ten thousand of them.
const DOCUMENT_BYTES: u64 = 16 << 20;
/// For the cache's own tables.
const USUAL_DOCUMENTS: usize = 16 << 10;
/// What a document takes beside its texts.
const OWN_BYTES: usize = 256;

/// One version of a document, and how it was come by.
#[derive(Clone, Debug)]
pub struct Found {
    /// The version; `None`: there is none.
    pub document: Option<Arc<Document<'static>>>,
    /// How old it is, where the CMS fails and this is what it last said.
    pub stale: Option<Duration>,
}

/// The last good answers about published versions. Drafts are never kept.
pub(super) struct Documents {
    cache: Cache<Key, Good, Weight>,
    /// How old one may get.
    limit: Duration,
    /// When something was last forgotten: what was asked before is not remembered any more.
    forgot: Mutex<Option<Instant>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    site: String,
    uid: String,
    id: String,
    locale: Locale,
}

impl Key {
    fn is_of(&self, hint: &Hint) -> bool {
        self.id == hint.document_id && self.uid == hint.uid
    }
}

#[derive(Clone)]
struct Good {
    document: Arc<Document<'static>>,
    since: Instant,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Good> for Weight {
    fn weight(&self, key: &Key, good: &Good) -> u64 {
        let text = |value: &FieldValue<'_>| match value {
            FieldValue::Text(text) => text.len(),
            _ => 0,
        };
        let values = &good.document.values;
        let texts = key.site.len() + key.uid.len() + 2 * key.id.len();
        let bytes = OWN_BYTES + texts + values.iter().map(text).sum::<usize>();
        (bytes + size_of_val(&**values)) as u64
    }
}

impl Documents {
    pub(super) fn new(limit: Duration) -> Self {
        let cache = Cache::with_weighter(USUAL_DOCUMENTS, DOCUMENT_BYTES, Weight);
        Self { cache, limit, forgot: Mutex::default() }
    }

    /// Forgets a document that may have changed, or all: an address that was taken back must not
    /// come again because the CMS fails.
    pub(super) fn forget(&self, hint: Option<&Hint>) {
        let mut forgot = self.forgot.lock().unwrap_or_else(PoisonError::into_inner);
        *forgot = Some(Instant::now());
        match hint {
            Some(hint) => self.cache.retain(|key, _| !key.is_of(hint)),
            None => self.cache.clear(),
        }
    }

    fn remember(&self, key: Key, good: Good) {
        let forgot = self.forgot.lock().unwrap_or_else(PoisonError::into_inner);
        if forgot.is_none_or(|forgot| forgot < good.since) {
            self.cache.insert(key, good);
        }
    }

    /// What to say after the CMS has answered, or failed to.
    fn settle(
        &self,
        key: Key,
        answer: Result<Option<Document<'static>>, ContentError>,
        asked: Instant,
    ) -> Result<Found, ContentError> {
        match answer {
            Ok(Some(document)) => {
                let document = Arc::new(document);
                self.remember(key, Good { document: Arc::clone(&document), since: asked });
                Ok(Found { document: Some(document), stale: None })
            }
            Ok(None) => {
                self.cache.remove(&key);
                Ok(Found { document: None, stale: None })
            }
            Err(error) => {
                let good = self.cache.get(&key).ok_or(error.clone())?;
                let age = good.since.elapsed();
                let found = Found { document: Some(good.document), stale: Some(age) };
                if age < self.limit { Ok(found) } else { Err(error) }
            }
        }
    }
}

impl App {
    /// One version of one document of a type that the site has a rule for. While the CMS fails, a
    /// published one as it last was, if that was no longer ago than the limit.
    ///
    /// # Errors
    /// [`ContentError`] of the CMS, or when its deadline runs out.
    pub async fn document(
        &self,
        site: &Site,
        uid: &str,
        document_id: &str,
        locale: &Locale,
        status: Status,
    ) -> Result<Found, ContentError> {
        let Some(ask) = self.ask(site, uid) else {
            return Ok(Found { document: None, stale: None });
        };
        let asked = Instant::now();
        let document = self.content.one(ask, document_id, locale, status);
        let answer = timeout(self.limits.document_deadline, document).await;
        let answer = answer.unwrap_or(Err(ContentError::TimedOut));
        if status == Status::Draft || !self.content.changes() {
            return Ok(Found { document: answer?.map(Arc::new), stale: None });
        }
        let (site, uid, id) = (site.key.clone(), uid.to_owned(), document_id.to_owned());
        let key = Key { site, uid, id, locale: locale.clone() };
        self.documents.settle(key, answer, asked)
    }
}
