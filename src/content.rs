//! Documents and where they come from.

mod content_file;
mod projection;
mod strapi;

pub use crate::rules::{Document, DocumentLocale};
pub use content_file::{ContentFile, ContentFileError};
pub use projection::{BadItem, Projection};
pub use strapi::{
    BreakerState, Endpoint, EndpointError, EndpointKind, Page, RequestLimiters, SchemaError,
    Schemas, Strapi, StrapiError, StrapiLimits, StrapiSettings,
};
#[cfg(fuzzing)]
pub use strapi::{FuzzedPage, fuzz_document, fuzz_page, fuzz_reply};

use tokio::sync::watch;
use tokio::task::yield_now;

use crate::rules::{Condition, ContentTypeUid, Locale};

/// How many documents of a file are read in one go: some tenths of a millisecond.
const FILE_ROWS: usize = 128;

/// Which version of a document (D18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The version that editors work on.
    Draft,
    /// The version that readers see.
    Published,
}

impl Status {
    /// The value of the `status` parameter, here and in Strapi.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Published => "published",
        }
    }
}

/// A content type, and which of its fields are needed.
#[derive(Clone, Debug)]
pub struct ContentQuery {
    /// The content type.
    pub uid: ContentTypeUid,
    /// The fields.
    pub projection: Projection,
    /// In a list, only documents for which all conditions of one of these hold; empty: all.
    pub alternatives: Vec<Vec<Condition>>,
}

/// Why there is no content (D27). The text is ours alone: no body, address or token of the CMS.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// It cannot be reached, broke off, or says that it cannot answer now: 503.
    #[error("the CMS is not available")]
    Unavailable {
        /// After how many seconds it wants to be asked again, if it says so.
        retry_after: Option<u64>,
    },
    /// It failed a moment ago and is left alone: 503.
    #[error("the CMS is not available")]
    CircuitOpen {
        /// After how many seconds it wants to be asked again, if it said so.
        retry_after: Option<u64>,
    },
    /// It did not answer in time: 504.
    #[error("the CMS did not answer in time")]
    TimedOut,
    /// It answered something that cannot be used: 502.
    #[error("the CMS gave an unusable answer: {0}")]
    Unusable(&'static str),
}

/// Where documents come from.
pub enum Content {
    /// A Strapi 5 over its REST API.
    Strapi(Box<Strapi>),
    /// A content file.
    File(ContentFile),
}

impl Content {
    /// One version of one document, or `None` when there is no such version.
    ///
    /// # Errors
    /// [`ContentError`] when that cannot be known.
    pub async fn document(
        &self,
        ask: &ContentQuery,
        document_id: &str,
        locale: &Locale,
        status: Status,
    ) -> Result<Option<Document<'static>>, ContentError> {
        match self {
            Self::Strapi(strapi) => strapi.document(ask, document_id, locale, status).await,
            Self::File(file) => Ok(file.document(ask, document_id, locale, status)),
        }
    }

    /// Gathers every published document in these locales: all of them or an error. Each part holds
    /// some of them, in whatever order.
    ///
    /// # Errors
    /// [`ContentError`] when it is not certain that these are all.
    pub async fn walk<G: DocumentSink>(
        &self,
        ask: &ContentQuery,
        locales: &[Locale],
        new: impl Fn() -> G + Sync,
    ) -> Result<Vec<G>, ContentError> {
        match self {
            Self::Strapi(strapi) => strapi.walk(ask, locales, new).await,
            Self::File(file) => {
                let mut part = new();
                for (at, document) in file.published(ask).enumerate() {
                    // Requests have their turn in between.
                    if at % FILE_ROWS == 0 {
                        yield_now().await;
                    }
                    part.push(document.as_ref());
                }
                Ok(vec![part])
            }
        }
    }

    /// The error that everybody gets while the CMS is left alone because it fails; `None`: it is
    /// asked.
    #[must_use]
    pub fn circuit_open(&self) -> Option<ContentError> {
        match self {
            Self::Strapi(strapi) => strapi.circuit_open(),
            Self::File(_) => None,
        }
    }

    /// Tells when the CMS is left alone, and when it is asked again.
    #[must_use]
    pub fn watch_breaker(&self) -> watch::Receiver<BreakerState> {
        match self {
            Self::Strapi(strapi) => strapi.watch_breaker(),
            // Nobody ever tells.
            Self::File(_) => watch::channel(BreakerState::default()).1,
        }
    }

    /// Finds out whether the CMS answers again, if it is time for that.
    pub async fn probe(&self, ask: &ContentQuery) {
        if let Self::Strapi(strapi) = self {
            strapi.probe(ask).await;
        }
    }

    /// Whether the CMS is asked at the moment; `None`: there is none.
    #[must_use]
    pub fn breaker_state(&self) -> Option<BreakerState> {
        match self {
            Self::Strapi(strapi) => Some(strapi.breaker_state()),
            Self::File(_) => None,
        }
    }

    /// Whether documents may change while the service runs. A file is read once.
    #[must_use]
    pub fn may_change(&self) -> bool {
        matches!(self, Self::Strapi(_))
    }
}

/// Takes in what a walk finds. A walk that has to begin again begins with a new one.
pub trait DocumentSink: Send {
    /// A published document, or a list item that is none. Documents that are not published
    /// (`unpublished`) or in a locale that was not asked for come too, so that they can be counted.
    fn push(&mut self, item: Result<&Document<'_>, &BadItem>);
}
