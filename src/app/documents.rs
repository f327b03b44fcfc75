//! Single documents: what the CMS says, and while it fails what it last said.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
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
    /// When something was last forgotten: what was asked before is not remembered any more.
    forgot: Mutex<Option<Instant>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// [`App::mark`] of its site: which fields a document has depends on the rules.
    site: u128,
    uid: String,
    id: String,
    locale: Locale,
}

impl Key {
    fn is_of(&self, hint: &Hint) -> bool {
        self.id == hint.document_id && self.uid == hint.uid
    }
}

/// What the CMS last said.
#[derive(Clone)]
struct Good {
    /// `None`: there is none. Kept, so that an answer from before that comes late is known as such.
    document: Option<Arc<Document<'static>>>,
    /// When it was asked for.
    since: Instant,
    /// Whether values of it may be another document's.
    related: bool,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Good> for Weight {
    fn weight(&self, key: &Key, good: &Good) -> u64 {
        let text = |value: &FieldValue<'_>| match value {
            FieldValue::Text(text) => text.len(),
            _ => 0,
        };
        let values = good.document.as_ref().map_or(&[][..], |document| &document.values);
        let texts = key.uid.len() + 2 * key.id.len();
        let bytes = OWN_BYTES + texts + values.iter().map(text).sum::<usize>();
        (bytes + size_of_val(values)) as u64
    }
}

impl Documents {
    pub(super) fn new() -> Self {
        let cache = Cache::with_weighter(USUAL_DOCUMENTS, DOCUMENT_BYTES, Weight);
        Self { cache, forgot: Mutex::default() }
    }

    /// Forgets a document that may have changed and those that may have values of it, or all: an
    /// address that was taken back must not come again because the CMS fails.
    pub(super) fn forget(&self, hint: Option<&Hint>) {
        let mut forgot = self.forgot.lock();
        *forgot = Some(Instant::now());
        match hint {
            Some(hint) => self.cache.retain(|key, good| !(key.is_of(hint) || good.related)),
            None => self.cache.clear(),
        }
    }

    fn remember(&self, key: Key, good: Good) {
        let forgot = self.forgot.lock();
        if self.cache.peek(&key).is_some_and(|known| known.since > good.since) {
            return;
        }
        if good.document.is_some() && forgot.is_some_and(|forgot| forgot >= good.since) {
            // What was said before it is no better.
            self.cache.remove(&key);
        } else {
            self.cache.insert(key, good);
        }
    }

    /// What to say after the CMS has answered, or failed to: what is not older than `limit`.
    fn settle(
        &self,
        key: Key,
        answer: Result<Option<Document<'static>>, ContentError>,
        (asked, related): (Instant, bool),
        limit: Duration,
    ) -> Result<Found, ContentError> {
        match answer {
            Ok(document) => {
                let document = document.map(Arc::new);
                self.remember(key, Good { document: document.clone(), since: asked, related });
                Ok(Found { document, stale: None })
            }
            Err(error) => {
                let good = self.cache.get(&key).filter(|good| good.since.elapsed() < limit);
                let Some(Good { document: Some(document), since, .. }) = good else {
                    return Err(error);
                };
                Ok(Found { document: Some(document), stale: Some(since.elapsed()) })
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
        let document = self.content.document(ask, document_id, locale, status);
        let answer = timeout(self.limits.document_deadline, document).await;
        let answer = answer.unwrap_or(Err(ContentError::TimedOut));
        if status == Status::Draft || !self.content.may_change() {
            return Ok(Found { document: answer?.map(Arc::new), stale: None });
        }
        let (site, uid, id) = (self.mark(&site.key), uid.to_owned(), document_id.to_owned());
        let key = Key { site, uid, id, locale: locale.clone() };
        let related = ask.projection.paths().iter().any(|path| path.segments().len() > 1);
        let documents = &self.lasting.documents;
        let found = documents.settle(key, answer, (asked, related), self.limits.last_good)?;
        if found.stale.is_some() {
            self.lasting.metrics.last_good.inc();
        }
        Ok(found)
    }
}
