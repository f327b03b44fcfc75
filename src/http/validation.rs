//! `validate=true` of operation 4.3: a run of URL checks, as a whole or as it goes on.

mod events;
mod result;

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{AGE, CACHE_CONTROL, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::accept::{Form, wanted};
use super::bearer::admit;
use super::error::ApiError;
use super::listed::SKIPPED;
use super::pieces::unmeasured;
use crate::app::App;
use crate::site::Site;
use crate::validator::Targets;
use crate::validator::runs::{Run, RunFailed, Subscription, TooManyRuns};

/// What an event source sends when it connects again (HTML standard, section 9.2.4).
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Of a proxy that buffers answers unless it is told not to.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The state of the moment; who wants it again asks again.
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// The answer to a request whose parameters are fine.
pub(super) async fn answer(
    app: &Arc<App>,
    site: &Site,
    uid: &str,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    admit(app.auth.validate.as_ref(), headers)?;
    if site.base.is_none() {
        return Err(ApiError::no_base_url(&site.key));
    }
    let form = wanted(headers);
    if form == Form::Events && has_seen_the_end(headers) {
        // An event source connects again when it has read everything; this tells it to stop.
        return Ok((StatusCode::NO_CONTENT, [(CACHE_CONTROL, NO_STORE)]).into_response());
    }
    let served = app.snapshot(site, uid).await?;
    let targets = Targets::new(site, uid, Arc::clone(&served.kept.snapshot));
    let targets = targets.ok_or_else(|| ApiError::no_base_url(&site.key))?;
    let subscription = app.validate(targets).map_err(|TooManyRuns| ApiError::busy())?;
    let run = Arc::clone(subscription.run());
    let body = match form {
        Form::Json => whole(subscription).await?,
        Form::Events | Form::Lines => events::body(subscription, form),
    };
    Ok(dressed(body, form, &run))
}

fn has_seen_the_end(headers: &HeaderMap) -> bool {
    headers.get(LAST_EVENT_ID).is_some_and(|id| id == events::END)
}

/// The result, when it is there.
async fn whole(subscription: Subscription) -> Result<Body, ApiError> {
    subscription.run().wait().await.map_err(|RunFailed| ApiError::internal())?;
    Ok(unmeasured(result::Pieces::new(Arc::clone(subscription.run()))))
}

fn dressed(body: Body, form: Form, run: &Run) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(form.media_type()));
    headers.insert(CACHE_CONTROL, NO_STORE);
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    headers.insert(AGE, HeaderValue::from(run.age().as_secs()));
    headers.insert(SKIPPED, HeaderValue::from(run.targets.snapshot.skipped.total()));
    if form != Form::Json {
        headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    }
    response
}
