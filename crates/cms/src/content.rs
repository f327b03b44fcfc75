//! The source of documents, whichever it is.

use tokio::sync::watch;
use tokio::task::yield_now;

use crate::content_file::ContentFile;
use crate::error::{ContentError, SetupProblem};
use crate::query::{ContentQuery, DocumentSink, Newest, Status, Versions, WalkRequest};
use crate::strapi::{self, BreakerState, Strapi};

use frontend_map_rules::{AbsentKey, ContentTypeUid, Document, FieldPath, Locale};

/// The number of documents of a file after which the task yields: some tenths of a millisecond.
const YIELD_EVERY: usize = 128;

/// A source of documents.
pub enum Content {
    /// Strapi 5 over its REST API.
    Strapi(Box<Strapi>),
    /// A content file.
    File(ContentFile),
}

impl Content {
    /// The CMS; `None`: the source is a file.
    fn strapi(&self) -> Option<&Strapi> {
        match self {
            Self::Strapi(strapi) => Some(strapi),
            Self::File(_) => None,
        }
    }

    /// One version of one document, or `None` when there is no such version.
    ///
    /// # Errors
    /// [`ContentError`] when that cannot be determined.
    pub async fn document(
        &self,
        query: &ContentQuery,
        document_id: &str,
        locale: &Locale,
        status: Status,
    ) -> Result<Option<Document<'static>>, ContentError> {
        match self {
            Self::Strapi(strapi) => strapi.document(query, document_id, locale, status).await,
            Self::File(file) => Ok(file.document(query, document_id, locale, status)),
        }
    }

    /// Reads every published document in some locales into sinks: all of them or an error. Each
    /// sink gets a part of the documents, in any order: those that were requested in one locale, or
    /// all (`None`). Of a type that is not localized there is one sink, of the first locale.
    ///
    /// # Errors
    /// [`ContentError`] when it is not certain that these are all.
    pub async fn walk<S: DocumentSink>(
        &self,
        request: WalkRequest<'_>,
        new_sink: impl Fn(Option<&Locale>) -> S + Sync,
    ) -> Result<Vec<S>, ContentError> {
        match self {
            Self::Strapi(strapi) => strapi.walk(request, |locale| new_sink(Some(locale))).await,
            Self::File(file) => {
                let mut sink = new_sink(None);
                for (at, document) in file.published(request.query).enumerate() {
                    if at % YIELD_EVERY == 0 {
                        yield_now().await;
                    }
                    sink.push(Ok(&document));
                }
                Ok(vec![sink])
            }
        }
    }

    /// Whether two names may stand for the same content type of the CMS.
    pub fn may_be_same_type(&self, known: &ContentTypeUid, other: &ContentTypeUid) -> bool {
        self.strapi().is_some_and(|strapi| strapi.may_be_same_type(known, other))
    }

    /// The content type that a relation leads to, if the CMS says it.
    pub async fn target(
        &self,
        uid: &ContentTypeUid,
        relation: &FieldPath,
    ) -> Option<ContentTypeUid> {
        let strapi = self.strapi()?;
        strapi.targets.get(&strapi.client, uid, relation).await
    }

    /// The error for a document of this type that lacks a key which decides about its URL (D32).
    pub async fn absent_key(&self, uid: &ContentTypeUid, key: &AbsentKey) -> ContentError {
        let target = if key.leads_on() { self.target(uid, &key.path()).await } else { None };
        SetupProblem::absent_key(uid.clone(), key, target).into()
    }

    /// The published versions of the query's selection in these locales; `None`: the CMS has more than
    /// `max` of them.
    ///
    /// # Errors
    /// [`ContentError`] when it is not certain that these are all.
    pub async fn select(
        &self,
        query: &ContentQuery,
        locales: &[Locale],
        max: u64,
    ) -> Result<Option<Vec<Document<'static>>>, ContentError> {
        match self {
            Self::Strapi(strapi) => strapi::select(strapi, query, locales, max).await,
            // The documents of a file never change.
            Self::File(_) => Ok(Some(Vec::new())),
        }
    }

    /// The newest published versions of the query in all locales, at most `size`; of a single type, those
    /// in these locales. `None`: documents never change.
    ///
    /// # Errors
    /// [`ContentError`]
    pub async fn newest(
        &self,
        query: &ContentQuery,
        locales: &[Locale],
        size: usize,
    ) -> Result<Option<Newest>, ContentError> {
        match self {
            Self::Strapi(strapi) => strapi::newest(strapi, query, locales, size).await.map(Some),
            Self::File(_) => Ok(None),
        }
    }

    /// The rows of a page of a list.
    pub fn page_size(&self) -> usize {
        self.strapi().map_or(usize::MAX, |strapi| strapi.page_size)
    }

    /// Selects as [`Content::select`] does, with a proof for each locale instead of one request for
    /// all of them.
    ///
    /// # Errors
    /// As [`Content::select`].
    pub async fn select_by_locale(
        &self,
        query: &ContentQuery,
        locales: &[Locale],
    ) -> Result<Vec<Document<'static>>, ContentError> {
        match self {
            Self::Strapi(strapi) => strapi::select_by_locale(strapi, query, locales).await,
            Self::File(_) => Ok(Vec::new()),
        }
    }

    /// The versions of the query's documents in these locales, drafts or published ones.
    ///
    /// # Errors
    /// [`ContentError`] when they cannot be determined.
    pub async fn versions(
        &self,
        query: &ContentQuery,
        locales: &[Locale],
        status: Status,
    ) -> Result<Versions, ContentError> {
        match self {
            Self::Strapi(strapi) => strapi.versions(query, locales, status).await,
            Self::File(file) => Ok(file.versions(query, status)),
        }
    }

    /// The path of a document in the API of the CMS, `/api/articles/<documentId>`, without a
    /// request; `None`: the endpoint of the content type is not known, or there is no CMS.
    pub fn resource(&self, uid: &ContentTypeUid, document_id: &str) -> Option<String> {
        self.strapi()?.resource(uid, document_id)
    }

    /// The text of an error for operators, with the address of the CMS. It never belongs into a
    /// response.
    pub fn detail(&self, error: &ContentError) -> String {
        self.strapi().map_or_else(|| error.detail(), |strapi| strapi.detail(error))
    }

    /// The error of every request while the circuit breaker is open; `None`: it is closed.
    pub fn circuit_open(&self) -> Option<ContentError> {
        self.strapi()?.client.circuit_open()
    }

    /// A receiver of each change of the circuit breaker's state.
    pub fn watch_breaker(&self) -> watch::Receiver<BreakerState> {
        match self {
            Self::Strapi(strapi) => strapi.client.watch_breaker(),
            // There is no breaker, so nothing is ever sent.
            Self::File(_) => watch::channel(BreakerState::default()).1,
        }
    }

    /// Sends a half-open probe to the CMS if one is due.
    pub async fn probe(&self, query: &ContentQuery) {
        if let Some(strapi) = self.strapi() {
            strapi.probe(query).await;
        }
    }

    /// The state of the circuit breaker; `None`: there is no CMS.
    pub fn breaker_state(&self) -> Option<BreakerState> {
        self.strapi().map(|strapi| strapi.client.breaker_state())
    }

    /// Whether a content type is known to have a single document.
    pub fn is_single_type(&self, uid: &ContentTypeUid) -> bool {
        self.strapi().is_some_and(|strapi| strapi.is_single_type(uid))
    }

    /// Whether documents may change while the service runs. A file is read once.
    pub fn may_change(&self) -> bool {
        matches!(self, Self::Strapi(_))
    }
}
