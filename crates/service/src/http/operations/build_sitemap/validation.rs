//! `validate=true` of `/api/build-sitemap`: a validation run, as one document when it has ended or as
//! a stream of events.

mod events;

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{AGE, CACHE_CONTROL, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::{Params, X_SKIPPED_DOCUMENTS};
use crate::app::App;
use crate::http::request::accept::{ResultFormat, preferred_format};
use crate::http::request::bearer::require_bearer;
use crate::http::response::error::ApiError;
use crate::http::response::stream_body::stream_of_unknown_length;
use crate::http::response::{NO_STORE, insert_no_store};
use crate::http::responses::{END_OF_LIST, Success, ValidationResult};
use frontend_map_cache::CachedSnapshot;
use frontend_map_catalog::json;
use frontend_map_outbound::checks::report::UrlCheck;
use frontend_map_outbound::checks::runs::{Run, RunFailed, RunKind, Subscription, TooManyRuns};
use frontend_map_outbound::checks::{CheckResult, Finding, Targets};

/// What an event source sends when it reconnects (HTML standard, section 9.2.4).
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Stops nginx from buffering the stream.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// The size that ends a chunk, in bytes: a slow client keeps about as much in memory.
const CHUNK: usize = 64 * 1024;

/// The response to a request whose parameters are valid.
pub(super) async fn validate(
    app: &Arc<App>,
    params: &Params<'_>,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    require_bearer(app.http.validate_token.as_ref(), headers)?;
    params.check_base_urls()?;
    let format = preferred_format(headers);
    if format == ResultFormat::Events && has_last_event(headers) {
        // An event source reconnects after the last event; a 204 stops it.
        return Ok((StatusCode::NO_CONTENT, [(CACHE_CONTROL, NO_STORE)]).into_response());
    }
    let (site, uid) = (params.site, &params.uid);
    let CachedSnapshot { snapshot, hidden, .. } = match params.pages(app).await {
        Some(pages) => pages,
        None => app.snapshots.get_listed(site, uid).await?.cached,
    };
    let targets = Targets::new(site, uid, snapshot).without(hidden);
    let kind = if params.content { RunKind::Content } else { RunKind::Status };
    let subscription = app.validate(targets, kind).await;
    let subscription = subscription.map_err(|TooManyRuns| ApiError::too_many_validations())?;
    let run = Arc::clone(subscription.run());
    let body = match format {
        ResultFormat::Json => document(subscription, kind).await?,
        ResultFormat::Events | ResultFormat::Lines => {
            events::body(subscription, kind, format, app.shared.watch_closing())
        }
    };
    Ok(with_headers(body, format, &run))
}

fn has_last_event(headers: &HeaderMap) -> bool {
    headers.get(LAST_EVENT_ID).is_some_and(|id| id == events::LAST_ID)
}

/// The whole result, when the run has ended.
async fn document(subscription: Subscription, kind: RunKind) -> Result<Body, ApiError> {
    subscription.run().wait().await.map_err(|RunFailed| ApiError::internal())?;
    Ok(stream_of_unknown_length(ResultChunks::new(Arc::clone(subscription.run()), kind)))
}

fn with_headers(body: Body, format: ResultFormat, run: &Run) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(format.media_type()));
    insert_no_store(headers);
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    headers.insert(AGE, HeaderValue::from(run.age().as_secs()));
    headers.insert(X_SKIPPED_DOCUMENTS, HeaderValue::from(run.skipped()));
    if format != ResultFormat::Json {
        headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    }
    response
}

/// The envelope with the result of a run that has ended, as an iterator of chunks.
struct ResultChunks {
    run: Arc<Run>,
    /// What the client wants of it.
    kind: RunKind,
    /// The index of the next entry; `None` after the last chunk.
    next: Option<usize>,
}

impl ResultChunks {
    fn new(run: Arc<Run>, kind: RunKind) -> Self {
        Self { run, kind, next: Some(0) }
    }

    fn head(&self) -> String {
        let targets = self.run.targets();
        let result = ValidationResult {
            validated: true,
            site: &targets.site.key,
            content_type: &targets.content_type,
            tally: self.run.tally(),
            content: self.run.content().filter(|_| self.kind == RunKind::Content),
            results: Vec::<UrlCheck>::new(),
        };
        // The results follow.
        json::to_text(&Success::new(result)).trim_end_matches(END_OF_LIST).to_owned()
    }

    /// A result; with its source and its faults if the content of pages was asked for.
    fn entry(&self, position: usize, checked: CheckResult) -> String {
        let targets = self.run.targets();
        match self.kind {
            RunKind::Status => json::to_text(&UrlCheck::new(targets.url(position), checked)),
            RunKind::Content => {
                let finding = Finding::new(targets.target(position), checked);
                json::to_text(&finding.with_faults(self.run.faults(position)))
            }
        }
    }
}

impl Iterator for ResultChunks {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut index = self.next?;
        let mut chunk = if index == 0 { self.head() } else { String::new() };
        while chunk.len() < CHUNK {
            let Some((position, checked)) = self.run.in_order(index) else {
                chunk.push_str(END_OF_LIST);
                self.next = None;
                return Some(chunk);
            };
            chunk.push_str(if index == 0 { "" } else { "," });
            chunk.push_str(&self.entry(position, checked));
            index += 1;
        }
        self.next = Some(index);
        Some(chunk)
    }
}
