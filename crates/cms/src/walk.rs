//! What a walk is given: what to read, what is known already, and where the documents go.

use crate::{BadItem, ContentQuery};
use frontend_map_rules::{Document, Locale};

/// What a walk reads.
#[derive(Clone, Copy)]
pub struct WalkRequest<'a> {
    /// The content type, its fields and which of its documents.
    pub query: &'a ContentQuery,
    /// The locales, each once.
    pub locales: &'a [Locale],
    /// What earlier walks have found.
    pub known: &'a dyn KnownDocuments,
}

/// The documents that the cached snapshots had when a walk began.
pub trait KnownDocuments: Sync {
    /// Calls `take` with the `documentId` of each that has a version in this locale, or in any
    /// (`None`), in any order and possibly more than once.
    fn each(&self, locale: Option<&Locale>, take: &mut dyn FnMut(&str));
}

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
