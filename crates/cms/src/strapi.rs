//! Documents from Strapi 5 over its REST API.
//!
//! The requests and the checks of the responses follow decisions D18 to D20, D23, D27 and D28.
//! Comments about Strapi's behaviour describe Strapi 5.54.

use std::sync::Arc;

use tokio::sync::watch;

use crate::{
    ContentError, ContentQuery, Document, DocumentSink, Newest, Selected, Status, Versions,
    WalkRequest,
};
use frontend_map_platform::metrics::Metrics;
use frontend_map_rules::{ContentTypeUid, FieldPath, Locale, encode};

mod client;
mod document;
mod endpoint;
mod endpoint_cache;
mod examine;
mod fetch;
#[cfg(fuzzing)]
mod fuzz;
mod json;
mod page;
mod query_string;
mod settings;
mod survey;
mod targets;
mod walk;

pub use client::{BreakerState, RequestLimiters};
pub use endpoint::{Endpoint, EndpointError, EndpointKind};
pub use examine::{Examination, FieldUse, Finding, Purpose, Schemas, TypeUse};
#[cfg(fuzzing)]
pub use fuzz::{FuzzedPage, fuzz_document, fuzz_page, fuzz_reply};
pub use page::Page;
pub use settings::{StrapiError, StrapiLimits, StrapiSettings};
pub use survey::{CmsLocale, FieldSchema, Sample, TypeSchema};

use client::Client;
use fetch::Fetcher;

/// Strapi as a source of documents. No request is sent before the first document is needed.
pub struct Strapi(Fetcher);

impl Strapi {
    /// A source with these settings. Its requests are counted in `metrics` and share the limiter of
    /// the CMS's address.
    ///
    /// # Errors
    /// [`StrapiError`]
    pub fn new(
        settings: StrapiSettings,
        metrics: Arc<Metrics>,
        limiters: &RequestLimiters,
    ) -> Result<Self, StrapiError> {
        let client = Client::new(&settings, metrics, limiters)?;
        Ok(Self(Fetcher::new(client, settings.endpoints, settings.page_size)))
    }

    /// The text of an error for operators, with the address of the CMS, which has neither a user
    /// name nor a password.
    #[must_use]
    pub fn detail(&self, error: &ContentError) -> String {
        format!("{} (CMS at {})", error.detail(), self.0.client.address())
    }

    /// The state of the circuit breaker.
    #[must_use]
    pub fn breaker_state(&self) -> BreakerState {
        self.0.client.breaker_state()
    }

    /// A receiver of each change of the circuit breaker's state.
    #[must_use]
    pub fn watch_breaker(&self) -> watch::Receiver<BreakerState> {
        self.0.client.watch_breaker()
    }

    /// The error of every request while the circuit breaker is open; `None`: it is closed.
    #[must_use]
    pub fn circuit_open(&self) -> Option<ContentError> {
        self.0.client.circuit_open()
    }

    /// Sends a half-open probe if one is due.
    pub async fn probe(&self, query: &ContentQuery) {
        self.0.probe(query).await;
    }

    /// One version of one document. `None`: it does not exist (D19, D27).
    ///
    /// A document that is not published counts as absent where the published version is requested
    /// (D18), and so does one in another locale: there is no fallback (D19).
    ///
    /// # Errors
    /// [`ContentError`]; among them a response about another document, except for a single type,
    /// whose only document may have another id.
    pub async fn document(
        &self,
        query: &ContentQuery,
        document_id: &str,
        locale: &Locale,
        status: Status,
    ) -> Result<Option<Document<'static>>, ContentError> {
        let found = document::fetch(&self.0, query, document_id, locale, status).await;
        if self.0.adopt_single_type(&found).await {
            return document::fetch(&self.0, query, document_id, locale, status).await;
        }
        found
    }

    /// Every published document in each of the locales, proved to be complete (D23).
    ///
    /// The locales are walked one after another; a type that is not localized is walked once.
    ///
    /// # Errors
    /// [`ContentError`]: of the CMS, or when four walks in a row proved nothing. Then it is
    /// `Unusable` if the CMS contradicts the request, or itself in the same way each time, and
    /// `Unavailable` if the numbers moved, because a later walk may succeed.
    pub async fn walk<S: DocumentSink>(
        &self,
        request: WalkRequest<'_>,
        new_sink: impl Fn(&Locale) -> S + Sync,
    ) -> Result<Vec<S>, ContentError> {
        let walked = walk::walk(&self.0, request, &new_sink).await;
        if self.0.adopt_single_type(&walked).await {
            return walk::walk(&self.0, request, new_sink).await;
        }
        walked
    }

    /// Whether a content type has a single document, as the settings or earlier requests say.
    #[must_use]
    pub fn is_single_type(&self, uid: &ContentTypeUid) -> bool {
        self.0.known_endpoint(uid).is_some_and(|endpoint| endpoint.kind() == EndpointKind::Single)
    }

    /// The versions of the query's documents in these locales, drafts or published ones.
    ///
    /// # Errors
    /// [`ContentError`]
    pub async fn versions(
        &self,
        query: &ContentQuery,
        locales: &[Locale],
        status: Status,
    ) -> Result<Versions, ContentError> {
        let found = document::versions(&self.0, query, locales, status).await;
        if self.0.adopt_single_type(&found).await {
            return document::versions(&self.0, query, locales, status).await;
        }
        found
    }

    /// The path of a document in the REST API, if the endpoint of its type is known.
    #[must_use]
    pub fn resource(&self, uid: &ContentTypeUid, document_id: &str) -> Option<String> {
        let endpoint = self.0.confirmed_endpoint(uid)?;
        let path = endpoint.path();
        Some(match endpoint.kind() {
            EndpointKind::Collection => format!("/api/{path}/{}", encode(document_id)),
            EndpointKind::Single => format!("/api/{path}"),
        })
    }

    /// Whether two names may stand for the same content type: the second one's endpoint is, by its
    /// name, that of the first one.
    #[must_use]
    pub fn may_be_same_type(&self, known: &ContentTypeUid, other: &ContentTypeUid) -> bool {
        let endpoint = self.0.known_endpoint(known).unwrap_or_else(|| Endpoint::guess(known));
        endpoint.may_be_of(other) || Endpoint::guess_single(known).may_be_of(other)
    }

    /// The content type that a relation leads to; `None`: the schema does not say, or the token may
    /// not read it.
    pub async fn target(
        &self,
        uid: &ContentTypeUid,
        relation: &FieldPath,
    ) -> Option<ContentTypeUid> {
        self.0.targets.get(&self.0.client, uid, relation).await
    }

    /// The published versions of the query's selection in these locales, as
    /// [`crate::Content::select`] has it.
    ///
    /// # Errors
    /// As [`Strapi::walk`]; also when the CMS ignores the filter.
    pub async fn select(
        &self,
        query: &ContentQuery,
        locales: &[Locale],
        max: u64,
    ) -> Result<Selected, ContentError> {
        walk::selection::select(&self.0, query, locales, max).await
    }

    /// The newest published versions of the query in all locales, at most `size`; of a single type, those
    /// in these locales.
    ///
    /// # Errors
    /// [`ContentError`]
    pub async fn newest(
        &self,
        query: &ContentQuery,
        locales: &[Locale],
        size: usize,
    ) -> Result<Newest, ContentError> {
        walk::newest::newest(&self.0, query, locales, size).await
    }

    /// The rows of a page of a walk.
    #[must_use]
    pub fn page_size(&self) -> usize {
        self.0.page_size
    }

    /// Selects as [`Strapi::select`] does, with a proof for each locale instead of one request for
    /// all of them.
    ///
    /// # Errors
    /// As [`Strapi::select`].
    pub async fn select_by_locale(
        &self,
        query: &ContentQuery,
        locales: &[Locale],
    ) -> Result<Vec<Document<'static>>, ContentError> {
        walk::selection::select_by_locale(&self.0, query, locales).await
    }

    /// Compares what the settings need of a content type with what the CMS returns and, where the
    /// token may read it, with the schema. Schemas are requested once and kept in `schemas`.
    ///
    /// # Errors
    /// [`ContentError`] when the CMS does not respond.
    pub async fn examine(
        &self,
        schemas: &mut Schemas,
        wanted: &TypeUse,
    ) -> Result<Examination, ContentError> {
        examine::examine(&self.0, schemas, wanted).await
    }

    /// The content types of the project by their schemas, without Strapi's own; `None`: this CMS has
    /// no schemas to read.
    ///
    /// # Errors
    /// [`ContentError`]; a 403 if the token may not read them.
    pub async fn type_schemas(&self) -> Result<Option<Vec<TypeSchema>>, ContentError> {
        survey::type_schemas(&self.0.client).await
    }

    /// The fields of a component; `None`: the token may not read them.
    ///
    /// # Errors
    /// [`ContentError`]
    pub async fn component_fields(
        &self,
        component: &str,
    ) -> Result<Option<Vec<FieldSchema>>, ContentError> {
        survey::component_fields(&self.0.client, component).await
    }

    /// The locales of the CMS; `None`: the token may not read them, or there are none to read.
    ///
    /// # Errors
    /// [`ContentError`]
    pub async fn locales(&self) -> Result<Option<Vec<CmsLocale>>, ContentError> {
        survey::locales(&self.0.client).await
    }

    /// The first documents of a content type, from the first of these endpoints that exists; without
    /// endpoints, from those that its name suggests. `field` is one of the type or of a component
    /// (`seo.slug`); `*` stands for all fields, relations and components, `None` for the fields alone.
    ///
    /// # Errors
    /// [`ContentError`]; that there is no endpoint if none of them exists.
    pub async fn sample(
        &self,
        uid: &ContentTypeUid,
        endpoints: &[Endpoint],
        field: Option<&str>,
    ) -> Result<Sample, ContentError> {
        survey::sample(&self.0, uid, endpoints, field).await
    }

    /// The locale that the CMS uses where a request names none, if a document of this type shows it.
    ///
    /// # Errors
    /// [`ContentError`]
    pub async fn default_locale(
        &self,
        uid: &ContentTypeUid,
    ) -> Result<Option<Locale>, ContentError> {
        survey::default_locale(&self.0, uid).await
    }
}
