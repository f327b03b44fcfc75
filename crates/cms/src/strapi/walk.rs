//! Every published document of a content type, or an error: never fewer (D23).

pub(super) mod newest;
mod page_retry;
mod proof;
mod rows;
pub(super) mod selection;
mod unseen;

use std::pin::{Pin, pin};
use std::task::Poll;

use tokio::task::yield_now;

use super::endpoint::EndpointKind;
use super::endpoint_cache::ResolvedEndpoint;
use super::fetch::ListReply;
use super::page::Page;
use super::query_string::PageRequest;
use super::{Strapi, document, query_string};
use crate::{
    ContentError, ContentQuery, Document, DocumentLocale, DocumentSink, KnownDocuments, Outage,
    Pace, Status, WalkRequest,
};
use frontend_map_rules::Locale;
use page_retry::Failures;
use proof::{Next, PageFacts, Proof, RowCounts, Unproven};
use rows::LocaleEvidence;
use unseen::SeenIds;

/// How often a walk that proves nothing starts again (D23).
const RESTARTS: usize = 3;

/// The type is localized in one response and not in the next: versions would be missing.
const CONTRADICTS: Unproven =
    Unproven::Unusable("responses that contradict each other about the locales of the type");
/// The CMS, or a cache in front of it, ignores `locale`.
const OTHER_LOCALE: ContentError =
    ContentError::Unusable("documents in another locale than requested");

/// What a walk reads: one content type in one locale.
#[derive(Clone, Copy)]
struct WalkScope<'a> {
    strapi: &'a Strapi,
    query: &'a ContentQuery,
    resolved: &'a ResolvedEndpoint,
    locale: &'a Locale,
    /// All locales that are walked, this one among them.
    locales: &'a [Locale],
    known: Option<KnownDocuments<'a>>,
    /// Whether it is the first of them, which shows whether the type is localized.
    is_first: bool,
    /// How long its pages have failed so far.
    failures: &'a Failures,
    /// When requests may be sent, if they have to wait.
    pace: Option<&'a dyn Pace>,
    /// The rows of a page.
    page_size: usize,
}

impl WalkScope<'_> {
    /// Waits until a request may be sent. The caller drops the result when the request has ended.
    async fn permit(&self) -> Option<Box<dyn Send>> {
        match self.pace {
            Some(pace) => Some(pace.begin().await),
            None => None,
        }
    }
}

/// A walk over one locale that is complete.
struct Walked<S> {
    sink: S,
    /// Whether the type is localized.
    is_localized: bool,
}

/// See [`Strapi::walk`].
pub(super) async fn walk<S: DocumentSink>(
    strapi: &Strapi,
    request: WalkRequest<'_>,
    new_sink: impl Fn(&Locale) -> S + Sync,
) -> Result<Vec<S>, ContentError> {
    let WalkRequest { query, locales, known, pace, page_size } = request;
    let page_size = page_size.map_or(strapi.page_size, |size| size.min(strapi.page_size));
    let resolved = &*strapi.resolve(&query.uid).await?;
    let (mut sinks, failures) = (Vec::with_capacity(locales.len()), Failures::default());
    // One after another: a walk occupies the CMS like a single client, and editors need it too.
    for locale in locales {
        let is_first = sinks.is_empty();
        let failures = &failures;
        let scope = WalkScope {
            strapi,
            query,
            resolved,
            locale,
            locales,
            known,
            is_first,
            failures,
            pace,
            page_size,
        };
        let Walked { sink, is_localized } = walk_locale(scope, &new_sink).await?;
        let is_last = sink.has_failed() || (is_first && !is_localized);
        sinks.push(sink);
        if is_last {
            break;
        }
    }
    Ok(sinks)
}

async fn walk_locale<S: DocumentSink>(
    scope: WalkScope<'_>,
    new_sink: &(impl Fn(&Locale) -> S + Sync),
) -> Result<Walked<S>, ContentError> {
    match scope.resolved.endpoint.kind() {
        EndpointKind::Collection => walk_collection(scope, new_sink).await,
        EndpointKind::Single => read_single(scope, new_sink(scope.locale)).await,
    }
}

/// A single type's version in one locale.
async fn read_single<S: DocumentSink>(
    scope: WalkScope<'_>,
    mut sink: S,
) -> Result<Walked<S>, ContentError> {
    let WalkScope { strapi, query, resolved, locale, .. } = scope;
    let query_string =
        |locale: Option<&Locale>| query_string::version(query, locale, Status::Published);
    let path = resolved.endpoint.path();
    let _permit = scope.permit().await;
    let body = strapi.version(resolved, path, locale, query_string).await?;
    let read = |body| document::read(body, &query.projection);
    let found = body.as_deref().map_or(Ok(None), read)?;
    let is_wanted = |document: &&Document<'_>| document.locale.may_be_in(locale.as_str());
    if let Some(document) = found.as_ref().filter(is_wanted) {
        sink.push(Ok(document));
    }
    let is_localized = found.is_none_or(|found| found.locale != DocumentLocale::None);
    Ok(Walked { sink, is_localized })
}

/// A collection in one locale, with restarts.
async fn walk_collection<S: DocumentSink>(
    scope: WalkScope<'_>,
    new_sink: &(impl Fn(&Locale) -> S + Sync),
) -> Result<Walked<S>, ContentError> {
    let mut unproven = Vec::new();
    while unproven.len() <= RESTARTS {
        match walk_once(scope, new_sink(scope.locale)).await {
            Ok(walked) => return Ok(walked),
            Err(WalkError::Failed(error)) => return Err(error),
            Err(WalkError::Unproven(reason)) => unproven.push(reason),
        }
        let reason = unproven.last();
        tracing::debug!(uid = %scope.query.uid, ?reason, "a walk proved nothing");
    }
    Err(final_error(&unproven))
}

/// One attempt to walk a collection in one locale.
async fn walk_once<S: DocumentSink>(
    scope: WalkScope<'_>,
    mut sink: S,
) -> Result<Walked<S>, WalkError> {
    let WalkScope { query, resolved, locale, is_first, .. } = scope;
    if query.selection.is_none() {
        // The type may have become localized: a list without a locale would lack versions.
        resolved.forget_not_localized();
    }
    let mut proof = Proof::new(scope.page_size);
    let (mut evidence, mut seen) = (LocaleEvidence::default(), SeenIds::default());
    let ListReply { mut body, is_localized } = next_page(scope, Some(locale), &proof).await?;
    // The other locales are walked only because the type is localized.
    if !is_first && !is_localized {
        return Err(CONTRADICTS.into());
    }
    let requested = is_localized.then_some(locale);
    loop {
        let page = Page::read(&body, &query.projection)?;
        let facts = facts(&page);
        let step = proof.page(&facts)?;
        seen.add(&facts.keys[..step.rows]);
        drop(facts);
        // The next page, or the total, is requested while the rows of this one are read.
        let mut next = pin!(async {
            match step.next {
                Next::Page => next_page(scope, requested, &proof).await,
                Next::Total => total(scope, requested).await,
            }
        });
        let early = start(next.as_mut()).await;
        rows::push_rows(page, step.rows, scope, |row| {
            evidence.add(row, locale);
            sink.push(row);
        })?;
        if sink.has_failed() {
            return Ok(Walked { sink, is_localized });
        }
        let reply = match early {
            Some(reply) => reply?,
            None => next.await?,
        };
        if reply.is_localized != is_localized {
            return Err(CONTRADICTS.into());
        }
        body = reply.body;
        if step.next == Next::Total {
            break;
        }
    }
    let totals_differ = proof.close(Page::read(&body, &query.projection)?.echo)?;
    if evidence.all_in_other_locales() {
        return Err(OTHER_LOCALE.into());
    }
    unseen::check(scope, requested, &seen, totals_differ).await?;
    Ok(Walked { sink, is_localized: is_localized && evidence.is_localized() })
}

/// The page that the proof needs next.
async fn next_page(
    scope: WalkScope<'_>,
    locale: Option<&Locale>,
    proof: &Proof,
) -> Result<ListReply, ContentError> {
    let WalkScope { query, page_size, .. } = scope;
    let page = PageRequest { after: proof.key(), size: page_size, with_total: proof.needs_total() };
    page_retry::list(scope, locale, |locale| query_string::page(query, locale, page)).await
}

/// The total alone.
async fn total(scope: WalkScope<'_>, locale: Option<&Locale>) -> Result<ListReply, ContentError> {
    page_retry::list(scope, locale, |locale| query_string::total(scope.query, locale)).await
}

/// Polls a request once and yields, so that the connection's task can send it; the output if the
/// request has ended by that.
async fn start<F: Future>(request: Pin<&mut F>) -> Option<F::Output> {
    let early = futures::poll!(request);
    yield_now().await;
    match early {
        Poll::Ready(reply) => Some(reply),
        Poll::Pending => None,
    }
}

fn facts<'p>(page: &'p Page<'_>) -> PageFacts<'p> {
    PageFacts { echo: page.echo, keys: page.keys().collect() }
}

/// The number of rows that a walk that begins with this page takes of it; `None`: it is refused.
#[cfg(fuzzing)]
pub(super) fn rows_of_first_page(page: &Page<'_>) -> Option<usize> {
    Proof::new(100).page(&facts(page)).ok().map(|step| step.rows)
}

/// Why a walk has ended.
enum WalkError {
    /// A request failed, or a response is unusable: another walk would fail, too.
    Failed(ContentError),
    /// The walk is not proved to be complete: another one may be.
    Unproven(Unproven),
}

impl From<ContentError> for WalkError {
    fn from(error: ContentError) -> Self {
        Self::Failed(error)
    }
}

impl From<Unproven> for WalkError {
    fn from(reason: Unproven) -> Self {
        Self::Unproven(reason)
    }
}

/// The error after the last walk that proved nothing.
fn final_error(reasons: &[Unproven]) -> ContentError {
    let counts: Vec<RowCounts> = reasons.iter().filter_map(Unproven::counts).collect();
    match reasons.last() {
        Some(Unproven::Unusable(why)) => ContentError::Unusable(why),
        _ if reasons.iter().all(|reason| *reason == Unproven::NotInList) => {
            ContentError::Unusable("lists without documents that it returns by their ids")
        }
        _ if counts.len() == reasons.len() && counts.windows(2).all(|two| two[0] == two[1]) => {
            ContentError::Unusable("totals that contradict the rows, in the same way each time")
        }
        _ => ContentError::unavailable(Outage::KeepsChanging),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn final_error_is_unavailable_where_the_counts_moved_and_unusable_otherwise() {
        let count = |rows| Unproven::Miscount(RowCounts { before: 3, rows, after: Some(3) });
        let moving = ContentError::unavailable(Outage::KeepsChanging);
        assert_eq!(final_error(&[count(2), count(1), count(2)]), moving);
        assert_eq!(final_error(&[Unproven::Unusable("x"), count(1)]), moving);
        let unusable = ContentError::Unusable("x");
        assert_eq!(final_error(&[count(2), Unproven::Unusable("x")]), unusable);
        assert!(matches!(final_error(&[count(2), count(2)]), ContentError::Unusable(_)));
        assert_eq!(final_error(&[count(2), Unproven::NotInList]), moving);
        let missing = [Unproven::NotInList; 4];
        assert!(matches!(final_error(&missing), ContentError::Unusable(_)));
    }
}
