//! Documents: from Strapi, or from a file.
//!
//! [`Content`] is an enum, because there are exactly these two sources; tests have a scripted CMS on a
//! real socket in place of a third one.
//!
//! A walk reads all published documents of a content type, page by page, and returns all of them or an
//! error: the CMS changes between two pages, so `walk` proves that no document is missing before it
//! says that it is complete. A request to Strapi goes through a limit of requests in flight, a circuit
//! breaker, the transport and one retry. Only the fields that rules read are requested and kept
//! ([`Projection`]).
//!
//! # Design
//!
//! - **Projection.** A template needs few fields. `Projection` deserializes a document in one
//!   pass: the needed fields are read, everything else is skipped, and no tree is built. If a
//!   page does not parse, its rows are parsed one by one, so one bad row is skipped and counted
//!   instead of failing the page (D28).
//! - **The walk and its proof.** Offset paging loses documents while editors work, because
//!   publishing deletes and inserts a row. So the walk is by key (D23). `strapi::walk::proof`
//!   decides whether it was complete: a state machine without network or clock, which tests feed
//!   with scripts of faults. It requires that each page echoes its page size, that keys strictly
//!   increase, that only the last page is not full, that this page has all rows that its own
//!   total counts, and that the number of rows seen, usable or not, is that of the totals before
//!   and after, or lies between them if they differ. The first page, the last one and a request
//!   after the walk ask for a total, and a fourth request if the list has grown meanwhile, because
//!   Strapi counts all rows behind the key for it.
//!   Documents of the cached snapshot that the walk has not seen are requested by their ids. A walk
//!   stops once it has seen more rows than 1.1 times the first total plus 1,000, so a CMS that
//!   always has one more page cannot keep it running.
//! - **Endpoints** are configured, or read from Strapi's content-type builder, or guessed as the
//!   regular plural of the type's name, in this order.
//! - **The circuit breaker** is a state machine without clock or network. It counts failures of
//!   the origin: no connection, a broken connection, a timeout, 429, 502, 503, 504. A plain 500,
//!   a 404 or a 403 shows that the origin is alive. The breaker opens after two failures in a
//!   row, of a request and its retry, or of two requests if the second one started at most a
//!   second after the first one failed; a `Retry-After` opens it at once. Half-open probes go out
//!   0.5 s after opening, then after 1 s, then every 2 s, ±20 %. A probe is the first request
//!   that arrives when one is due, or one that the refresher of the cache sends. No client waits
//!   for a probe, and no refresh starts while the breaker is open.
//! - **The retry** has 150 ms less time than the first request, so that both have failed, and the
//!   breaker has opened, before a client's deadline of 10 s. Retries are limited by a budget
//!   (tower's `TpsBudget`): a tenth of the requests of the last ten seconds, and ten more.
//! - **Types that are not localized** reject `fields=locale` with a 400 that names the key; the
//!   request is then repeated without it. For single documents this is remembered for a minute;
//!   every walk tries again, because a type may have become localized (D19).

mod content;
mod content_file;
mod error;
pub mod links;
mod projection;
mod query;
mod strapi;

pub use content::Content;
pub use content_file::{AbsentType, ContentFile, ContentFileError};
pub use error::{ContentError, Outage, QueryPart, Redirect, SetupProblem};
pub use frontend_map_rules::{Document, DocumentLocale};
pub use projection::{BadItem, Projection};
pub use query::{
    ContentQuery, DocumentSink, KnownDocuments, Newest, NewestVersion, Pace, Selection, Status,
    Versions, WalkRequest,
};
pub use strapi::{
    BreakerState, CmsLocale, Endpoint, EndpointError, EndpointKind, Examination, FieldSchema,
    FieldUse, Finding, Page, Purpose, RequestLimiters, Sample, Schemas, Strapi, StrapiError,
    StrapiLimits, StrapiSettings, TypeSchema, TypeUse, examine, survey,
};
#[cfg(fuzzing)]
pub use strapi::{FuzzedPage, fuzz_document, fuzz_page, fuzz_reply};
