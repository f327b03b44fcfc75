//! `POST /hooks/cms`: a webhook of the CMS says that something may have changed.
//!
//! A hint, not the truth: Strapi's webhooks are not signed, come at most once, and say nothing of
//! documents that change with a related one. So the body is believed nothing but which document to
//! ask the CMS for first, and all copies of the public URLs are refreshed.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{ALLOW, CACHE_CONTROL};
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use http_body_util::BodyExt;
use serde::Deserialize;
use tokio::time::timeout;

use super::bearer::{Carried, carried};
use super::envelope::{json, success_text};
use super::error::ApiError;
use crate::app::{App, Hint};
use crate::rules::is_document_id;

const ALLOWED: HeaderValue = HeaderValue::from_static("POST, OPTIONS");
/// Bytes and time for a body: to answer before it has come would look like a broken connection to
/// the CMS. An entry with all that belongs to it has some megabytes.
const BODY_BYTES: usize = 64 << 20;
/// A body above this is read, but not kept.
const KEPT_BYTES: usize = 1 << 20;
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
    let secret = app.hook_secret.as_ref();
    let carries = secret.map(|secret| carried(secret, &headers) == Carried::Right);
    let most = if carries == Some(true) { KEPT_BYTES } else { 0 };
    let body = timeout(BODY_TIME, read(request.into_body(), most)).await.unwrap_or_default();
    let Some(carries) = carries else {
        return ApiError::not_configured("the secret of the webhook is not configured")
            .into_response();
    };
    if !carries {
        return ApiError::unauthorized().into_response();
    }
    app.hint(hint(&body));
    let text = success_text(|json| {
        json.raw(r#"{"accepted":true}"#);
    });
    let mut response = json(StatusCode::ACCEPTED, text, HeaderMap::new());
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.map(Body::new)
}

/// Reads a body to its end; one of more than `most` bytes is as good as none.
async fn read(mut body: Body, most: usize) -> Vec<u8> {
    let (mut kept, mut left) = (Vec::new(), BODY_BYTES);
    while let Some(Ok(frame)) = body.frame().await {
        let data = frame.into_data().unwrap_or_default();
        let Some(rest) = left.checked_sub(data.len()) else { break };
        left = rest;
        if BODY_BYTES - left <= most {
            kept.extend(data);
        } else {
            kept = Vec::new();
        }
    }
    kept
}

/// What Strapi sends, as far as it is of use.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    uid: Cow<'a, str>,
    #[serde(borrow)]
    entry: Entry<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(borrow)]
    document_id: Cow<'a, str>,
}

/// The document that a webhook is about, if it says so in a way that could be true.
fn hint(body: &[u8]) -> Option<Hint> {
    let Event { uid, entry } = serde_json::from_slice(body).ok()?;
    let id = entry.document_id;
    let hint = Hint { uid: uid.into_owned(), document_id: id.into_owned() };
    is_document_id(&hint.document_id).then_some(hint)
}
