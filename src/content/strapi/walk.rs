//! Every published document of a content type, or an error: never fewer (D23).

mod error;
mod locale_evidence;
mod proof;
mod rows;
mod scope;

use std::pin::{Pin, pin};
use std::task::Poll;

use futures::future::{try_join, try_join_all};
use tokio::sync::watch;
use tokio::task::yield_now;

use super::document::{self, is_in_locale};
use super::endpoint::EndpointKind;
use super::fetch::{Fetcher, ListReply};
use super::page::Page;
use super::query_string;
use crate::content::{ContentError, DocumentLocale, DocumentSink, Status, WalkRequest};
use crate::rules::Locale;
use error::{NO_LIST, OTHER_LOCALE, WalkError, final_error};
use locale_evidence::LocaleEvidence;
use proof::{PageFacts, Proof, Unproven};
use scope::WalkScope;

/// How often a walk that proves nothing starts again (D23).
const RESTARTS: usize = 3;

/// The type is localized in one response and not in the next: versions would be missing.
const CONTRADICTS: Unproven =
    Unproven::Unusable("responses that contradict each other about the locales of the type");

/// From the walk over the first locale to the others: whether the type is localized.
type Localized = watch::Sender<Option<bool>>;

/// See [`super::Strapi::walk`].
pub(super) async fn walk<S: DocumentSink>(
    fetcher: &Fetcher,
    request: WalkRequest<'_>,
    new_sink: impl Fn(&Locale) -> S + Sync,
) -> Result<Vec<S>, ContentError> {
    let WalkRequest { query, locales, .. } = request;
    let resolved = &*fetcher.resolve(&query.uid).await?;
    let Some((first, others)) = locales.split_first() else { return Ok(Vec::new()) };
    let scope = |locale| WalkScope { fetcher, query, resolved, locale, locales };
    let (localized, known) = watch::channel(None);
    let others = others.iter().map(|locale| {
        let (scope, mut known, new_sink) = (scope(locale), known.clone(), &new_sink);
        async move {
            // An error means that the first walk has failed: then this one does not matter.
            let known = known.wait_for(Option::is_some).await;
            if known.is_ok_and(|known| *known == Some(true)) {
                walk_locale(scope, new_sink, None).await.map(Some)
            } else {
                Ok(None)
            }
        }
    });
    let first = walk_locale(scope(first), &new_sink, Some(localized));
    let (first, others) = try_join(first, try_join_all(others)).await?;
    Ok([first].into_iter().chain(others.into_iter().flatten()).collect())
}

async fn walk_locale<S: DocumentSink>(
    scope: WalkScope<'_>,
    new_sink: &(impl Fn(&Locale) -> S + Sync),
    localized: Option<Localized>,
) -> Result<S, ContentError> {
    match scope.resolved.endpoint.kind() {
        EndpointKind::Collection => walk_collection(scope, new_sink, localized.as_ref()).await,
        EndpointKind::Single => {
            read_single(scope, new_sink(scope.locale), localized.as_ref()).await
        }
    }
}

/// A single type's version in one locale.
async fn read_single<S: DocumentSink>(
    scope: WalkScope<'_>,
    mut sink: S,
    localized: Option<&Localized>,
) -> Result<S, ContentError> {
    let WalkScope { fetcher, query, resolved, locale, .. } = scope;
    let query_string =
        |locale: Option<&Locale>| query_string::version(query, locale, Status::Published);
    let path = resolved.endpoint.path();
    let body = fetcher.version(resolved, path, locale, query_string).await?;
    let read = |body| document::read(body, &query.projection);
    let found = body.as_deref().map_or(Ok(None), read)?;
    if let Some(document) = found.as_ref().filter(|document| is_in_locale(document, locale)) {
        sink.push(Ok(document));
    }
    set_localized(localized, found.is_none_or(|found| found.locale != DocumentLocale::None));
    Ok(sink)
}

/// A collection in one locale, with restarts.
async fn walk_collection<S: DocumentSink>(
    scope: WalkScope<'_>,
    new_sink: &(impl Fn(&Locale) -> S + Sync),
    localized: Option<&Localized>,
) -> Result<S, ContentError> {
    let mut unproven = Vec::new();
    while unproven.len() <= RESTARTS {
        match walk_once(scope, new_sink(scope.locale), localized).await {
            Ok(sink) => return Ok(sink),
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
    localized: Option<&Localized>,
) -> Result<S, WalkError> {
    let WalkScope { query, locale, .. } = scope;
    let (mut proof, mut evidence) = (Proof::default(), LocaleEvidence::default());
    let ListReply { mut body, is_localized } = next_page(scope, Some(locale), None).await?;
    // The other locales are walked only because the type is localized.
    if localized.is_none() && !is_localized {
        return Err(CONTRADICTS.into());
    }
    let requested = is_localized.then_some(locale);
    loop {
        let page = Page::read(&body, &query.projection).ok_or(NO_LIST)?;
        let step = proof.page(&facts(&page))?;
        let key = proof.key().filter(|_| !step.last);
        // The next page, or the total, is requested while the rows of this one are read.
        let mut next = pin!(async {
            match key {
                Some(key) => next_page(scope, requested, Some(key)).await,
                None => total(scope, requested).await,
            }
        });
        let early = start(next.as_mut()).await;
        rows::push_rows(page, step.rows, scope, |row| {
            evidence.add(row, locale);
            sink.push(row);
        })?;
        if sink.has_failed() {
            return Ok(sink);
        }
        if evidence.is_certain() {
            set_localized(localized, is_localized);
        }
        let reply = match early {
            Some(reply) => reply?,
            None => next.await?,
        };
        if reply.is_localized != is_localized {
            return Err(CONTRADICTS.into());
        }
        body = reply.body;
        if step.last {
            break;
        }
    }
    proof.close(Page::read(&body, &query.projection).ok_or(NO_LIST)?.echo)?;
    if evidence.all_in_other_locales() {
        return Err(OTHER_LOCALE.into());
    }
    set_localized(localized, is_localized && evidence.is_localized());
    Ok(sink)
}

/// The page after a key; without one the first.
async fn next_page(
    scope: WalkScope<'_>,
    locale: Option<&Locale>,
    key: Option<&str>,
) -> Result<ListReply, ContentError> {
    let WalkScope { fetcher, query, resolved, .. } = scope;
    fetcher.list(resolved, locale, |locale| query_string::page(query, locale, key)).await
}

/// The total alone.
async fn total(scope: WalkScope<'_>, locale: Option<&Locale>) -> Result<ListReply, ContentError> {
    let WalkScope { fetcher, query, resolved, .. } = scope;
    fetcher.list(resolved, locale, |locale| query_string::total(query, locale)).await
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

fn set_localized(sender: Option<&Localized>, is_localized: bool) {
    if let Some(sender) = sender {
        sender.send_if_modified(|known| known.replace(is_localized) != Some(is_localized));
    }
}

fn facts<'p>(page: &'p Page<'_>) -> PageFacts<'p> {
    PageFacts { echo: page.echo, keys: page.keys().collect() }
}

/// The number of rows that a walk that begins with this page takes of it; `None`: it is refused.
#[cfg(fuzzing)]
pub(super) fn rows_of_first_page(page: &Page<'_>) -> Option<usize> {
    Proof::default().page(&facts(page)).ok().map(|step| step.rows)
}
