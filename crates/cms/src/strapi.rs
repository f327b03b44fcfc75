//! Documents from Strapi 5 over its REST API.
//!
//! The requests and the checks of the responses follow decisions D18 to D20, D23, D27 and D28.
//! Comments about Strapi's behaviour describe Strapi 5.54.

use std::sync::Arc;

use crate::{ContentError, ContentQuery, Document, DocumentSink, Status, Versions, WalkRequest};
use client::Client;
use endpoint_cache::EndpointCache;
use frontend_map_platform::metrics::Metrics;
use frontend_map_rules::{ContentTypeUid, Locale, encode};
use targets::Targets;

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
pub mod survey;
mod targets;
mod walk;

pub use client::{BreakerState, RequestLimiters};
pub use endpoint::{Endpoint, EndpointError, EndpointKind};
pub use examine::{Examination, FieldUse, Finding, Purpose, Schemas, TypeUse, examine};
#[cfg(fuzzing)]
pub use fuzz::{FuzzedPage, fuzz_document, fuzz_page, fuzz_reply};
pub use page::Page;
pub use settings::{StrapiError, StrapiLimits, StrapiSettings};
pub use survey::{CmsLocale, FieldSchema, Sample, TypeSchema};
pub(crate) use walk::newest::newest;
pub(crate) use walk::selection::{select, select_by_locale};

/// Strapi as a source of documents. No request is sent before the first document is needed.
pub struct Strapi {
    pub(crate) client: Client,
    /// The rows of a page of a walk, as requested.
    pub(crate) page_size: usize,
    endpoints: EndpointCache,
    pub(crate) targets: Targets,
}

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
        let endpoints = EndpointCache::new(settings.endpoints);
        let page_size = settings.page_size;
        Ok(Self { client, page_size, endpoints, targets: Targets::default() })
    }

    /// The text of an error for operators, with the address of the CMS, which has neither a user
    /// name nor a password.
    pub fn detail(&self, error: &ContentError) -> String {
        format!("{} (CMS at {})", error.detail(), self.client.address())
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
        let found = document::fetch(self, query, document_id, locale, status).await;
        if self.adopt_single_type(&found).await {
            return document::fetch(self, query, document_id, locale, status).await;
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
        let walked = walk::walk(self, request, &new_sink).await;
        if self.adopt_single_type(&walked).await {
            return walk::walk(self, request, new_sink).await;
        }
        walked
    }

    /// Whether a content type has a single document, as the settings or earlier requests say.
    pub fn is_single_type(&self, uid: &ContentTypeUid) -> bool {
        self.known_endpoint(uid).is_some_and(|endpoint| endpoint.kind() == EndpointKind::Single)
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
        let found = document::versions(self, query, locales, status).await;
        if self.adopt_single_type(&found).await {
            return document::versions(self, query, locales, status).await;
        }
        found
    }

    /// The path of a document in the REST API, if the endpoint of its type is known.
    pub fn resource(&self, uid: &ContentTypeUid, document_id: &str) -> Option<String> {
        let endpoint = self.confirmed_endpoint(uid)?;
        let path = endpoint.path();
        Some(match endpoint.kind() {
            EndpointKind::Collection => format!("/api/{path}/{}", encode(document_id)),
            EndpointKind::Single => format!("/api/{path}"),
        })
    }

    /// Whether two names may stand for the same content type: the second one's endpoint is, by its
    /// name, that of the first one.
    pub fn may_be_same_type(&self, known: &ContentTypeUid, other: &ContentTypeUid) -> bool {
        let endpoint = self.known_endpoint(known).unwrap_or_else(|| Endpoint::guess(known));
        endpoint.may_be_of(other) || Endpoint::guess_single(known).may_be_of(other)
    }
}
