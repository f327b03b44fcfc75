//! Which documents to read, what is known of them already, and what was found.

use futures::future::BoxFuture;

use crate::{BadItem, Projection};
use frontend_map_rules::{Condition, ContentTypeUid, Document, FieldPath, FieldValue, Locale};

/// The version of a document (D18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The version that editors work on.
    Draft,
    /// The version that readers see.
    Published,
}

impl Status {
    /// The value of the parameter `status`, of this service and of Strapi.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Published => "published",
        }
    }
}

/// What to read: a content type, its fields and, in a list, which of its documents.
#[derive(Clone, Debug)]
pub struct ContentQuery {
    /// The content type.
    pub uid: ContentTypeUid,
    /// The fields.
    pub projection: Projection,
    /// A list has only the documents for which all conditions of one alternative hold; without
    /// alternatives it has all documents.
    pub alternatives: Vec<Vec<Condition>>,
    /// A list has only these documents, whatever the alternatives are.
    pub selection: Option<Selection>,
}

impl ContentQuery {
    /// These fields of all documents of a content type.
    pub fn new(uid: ContentTypeUid, projection: Projection) -> Self {
        Self { uid, projection, alternatives: Vec::new(), selection: None }
    }
}

/// Some documents of a content type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The documents with these `documentId`s, at most [`Selection::MAX_IDS`].
    Documents(Vec<String>),
    /// The documents that read other documents through a relation.
    Dependents {
        /// The relation.
        relation: FieldPath,
        /// The `documentId`s of the other documents, at most [`Selection::MAX_IDS`].
        of: Vec<String>,
    },
    /// The documents without a document behind this relation.
    Unrelated(FieldPath),
}

impl Selection {
    /// Strapi ignores a filter with more than 100 values and returns everything.
    pub const MAX_IDS: usize = 100;

    /// Whether a document is selected. Through a relation to several documents, it is if one of
    /// them has one of the ids.
    pub fn has(&self, document: &Document<'_>) -> bool {
        match self {
            Self::Documents(ids) => ids.iter().any(|id| *id == *document.id),
            Self::Dependents { relation, of } => {
                is_one_of(document.field(&relation.document_id()), of)
            }
            Self::Unrelated(relation) => match document.field(&relation.document_id()) {
                FieldValue::Missing | FieldValue::NullAt(_) => true,
                FieldValue::List(values) => values.is_empty(),
                FieldValue::Text(_)
                | FieldValue::Absent(_)
                | FieldValue::Boolean(_)
                | FieldValue::NotText => false,
            },
        }
    }
}

fn is_one_of(value: &FieldValue<'_>, ids: &[String]) -> bool {
    match value {
        FieldValue::Text(id) => ids.iter().any(|own| own == id),
        FieldValue::List(values) => values.iter().any(|value| is_one_of(value, ids)),
        FieldValue::Missing
        | FieldValue::NullAt(_)
        | FieldValue::Absent(_)
        | FieldValue::Boolean(_)
        | FieldValue::NotText => false,
    }
}

/// How many published versions a content type has in all locales, and the newest of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newest {
    /// How many there are.
    pub total: u64,
    /// How many of them have a date.
    pub dated: u64,
    /// The field with the date by which they are ordered.
    pub field: &'static str,
    /// The newest of those with a date, the newest one first.
    pub versions: Vec<NewestVersion>,
}

impl Newest {
    /// Whether there are other versions with a date than the newest.
    pub fn is_partial(&self) -> bool {
        (self.versions.len() as u64) < self.dated
    }

    /// Whether this version is among the newest, with the same date.
    pub fn has(&self, version: &NewestVersion) -> bool {
        self.versions.contains(version)
    }
}

/// A version among the newest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewestVersion {
    /// The `documentId`.
    pub id: String,
    /// Empty: it is not localized.
    pub locale: String,
    /// As the CMS has it, RFC 3339 in UTC; empty: there is no date.
    pub date: String,
}

/// Versions of documents that were read in one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The versions, at most [`Versions::MAX`] of a list.
    pub documents: Vec<Document<'static>>,
    /// Whether there are no others.
    pub are_all: bool,
}

impl Versions {
    /// The most versions that one request returns.
    pub const MAX: usize = 100;
}

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
    /// Waits until the next request may be sent. The caller drops the result when the request has ended.
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
    fn push(&mut self, item: Result<&Document<'_>, BadItem>);

    /// Whether there will be no result, so that the walk can end before it has read all documents.
    fn has_failed(&self) -> bool {
        false
    }
}
