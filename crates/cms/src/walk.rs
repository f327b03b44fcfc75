//! What a walk is given: what to read, what is known already, and where the documents go.

use futures::future::BoxFuture;

use crate::{BadItem, ContentQuery};
use frontend_map_rules::{Document, Locale};

/// What a walk reads.
#[derive(Clone, Copy)]
pub struct WalkRequest<'a> {
    /// The content type, its fields and which of its documents.
    pub query: &'a ContentQuery,
    /// The locales, each once.
    pub locales: &'a [Locale],
    /// What earlier walks have found; `None`: it is not compared.
    pub known: Option<KnownDocuments<'a>>,
    /// When its requests may be sent; `None`: each as soon as it is needed.
    pub pace: Option<&'a dyn Pace>,
    /// The most rows of a page; `None`: as the settings say.
    pub page_size: Option<usize>,
}

impl<'a> WalkRequest<'a> {
    /// A walk that reads as fast as the CMS responds.
    pub fn new(query: &'a ContentQuery, locales: &'a [Locale]) -> Self {
        Self { query, locales, known: None, pace: None, page_size: None }
    }
}

/// Decides when a request of a walk that no client waits for may be sent.
pub trait Pace: Sync {
    /// Waits until the next request may be sent. It has ended when the result is dropped.
    fn begin(&self) -> BoxFuture<'_, Box<dyn Send>>;
}

/// The documents that the cached snapshots had when a walk began: calls the function with the
/// `documentId` of each that has a version in this locale, or in any (`None`), in any order and possibly
/// more than once.
pub type KnownDocuments<'a> = &'a (dyn Fn(Option<&Locale>, &mut dyn FnMut(&str)) + Sync);

/// Receives the documents of a walk. A walk that starts again starts with a new sink.
pub trait DocumentSink: Send {
    /// Receives a list item: a document, or an item that is not one. Items that are not published
    /// (`unpublished`) or in another locale are passed on as well, so that they can be counted.
    fn push(&mut self, item: Result<&Document<'_>, &BadItem>);

    /// Whether there will be no result, so that the walk can end before it has read all documents.
    fn has_failed(&self) -> bool {
        false
    }
}
