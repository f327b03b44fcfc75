//! `POST /hooks/cms`: a webhook of the CMS says that something may have changed.
//!
//! A hint, not the truth: Strapi's webhooks are not signed, come at most once, and say nothing of
//! documents that change with a related one. So the body is not even read, and all copies of the
//! public URLs are refreshed.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{ALLOW, CACHE_CONTROL};
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use http_body_util::BodyExt;
use tokio::time::timeout;

use super::bearer::{Carried, carried};
use super::envelope::{json, success_text};
use super::error::ApiError;
use crate::app::App;

const ALLOWED: HeaderValue = HeaderValue::from_static("POST, OPTIONS");
/// Bytes and time for a body, which is thrown away: to answer before it has come would look like a
/// broken connection to the CMS. An entry with all that belongs to it has some megabytes.
const BODY_BYTES: usize = 64 << 20;
const BODY_TIME: Duration = Duration::from_secs(5);

/// The route.
pub(super) fn routes() -> MethodRouter<Arc<App>> {
    post(receive)
        .options(async || (StatusCode::OK, [(ALLOW, ALLOWED)]))
        .fallback(async || ([(ALLOW, ALLOWED)], ApiError::only_post()))
}

async fn receive(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    request: Request<Body>,
) -> Response {
    let _ = timeout(BODY_TIME, drain(request.into_body())).await;
    let Some(secret) = &app.hook_secret else {
        return ApiError::not_configured("the secret of the webhook is not configured")
            .into_response();
    };
    if carried(secret, &headers) != Carried::Right {
        return ApiError::unauthorized().into_response();
    }
    app.hint();
    let text = success_text(|json| {
        json.raw(r#"{"accepted":true}"#);
    });
    let mut response = json(StatusCode::ACCEPTED, text, HeaderMap::new());
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.map(Body::new)
}

/// Reads a body to its end, and keeps nothing of it.
async fn drain(mut body: Body) {
    let mut left = BODY_BYTES;
    while let Some(Ok(frame)) = body.frame().await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        match left.checked_sub(length) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}
