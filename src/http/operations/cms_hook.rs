//! `POST /hooks/cms`: a webhook of the CMS reports that content may have changed.
//!
//! It is only a hint: Strapi's webhooks are not signed, arrive at most once, and do not name documents
//! that change with a related one. So the body only decides which document is read from the CMS
//! first, and all copies of the public URLs are refreshed.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use serde::Deserialize;
use tokio::time::timeout;

use crate::app::App;
use crate::http::request::bearer::BearerToken;
use crate::http::response::envelope::{json_response, success_text};
use crate::http::response::error::ApiError;
use crate::rules::is_document_id;
use crate::snapshot_cache::Invalidation;

/// How much of a body is read, in bytes, and for how long: a response before the end of the body
/// would look like a broken connection to the CMS. An entry with its relations has some megabytes.
const MAX_BODY: usize = 64 << 20;
const BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// A longer body is read to its end, but not parsed.
const MAX_PARSED_BODY: usize = 1 << 20;

/// The response, after the body has been read.
pub(in crate::http) async fn post(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    request: Request<Body>,
) -> Response {
    let secret = app.http.webhook_secret.as_ref();
    let token = secret.map(|secret| BearerToken::check(secret, &headers));
    let authorized = token == Some(BearerToken::Valid);
    let max_bytes = if authorized { MAX_PARSED_BODY } else { 0 };
    let read = timeout(BODY_TIMEOUT, read_body(request.into_body(), max_bytes));
    let body = read.await.unwrap_or_default();
    if secret.is_none() {
        return ApiError::not_configured("the secret of the webhook is not configured")
            .into_response();
    }
    if !authorized {
        return ApiError::unauthorized().into_response();
    }
    if is_removal(&body) {
        app.snapshots.record_removal();
    }
    app.invalidate(invalidation(&body));
    let text = success_text(|json| {
        json.raw(r#"{"accepted":true}"#);
    });
    let mut response = json_response(StatusCode::ACCEPTED, text, HeaderMap::new());
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.map(Body::new)
}

/// Reads a body to its end. Returns an empty body if it has more than `max_bytes` or breaks off: the
/// hook is accepted all the same.
async fn read_body(mut body: Body, max_bytes: usize) -> Vec<u8> {
    let (mut read, mut length) = (Vec::new(), 0);
    while let Some(Ok(frame)) = body.frame().await {
        // Trailers are ignored.
        let data = frame.into_data().unwrap_or_default();
        length += data.len();
        if length > MAX_BODY {
            break;
        }
        if length <= max_bytes {
            read.extend(data);
        } else {
            read = Vec::new();
        }
    }
    read
}

/// The members of Strapi's event that are used.
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

/// Whether an event says that a document was unpublished or deleted.
fn is_removal(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        event: Cow<'a, str>,
    }
    let named: Option<Named<'_>> = serde_json::from_slice(body).ok();
    named.is_some_and(|named| matches!(&*named.event, "entry.unpublish" | "entry.delete"))
}

/// The document that an event names, if its id is well-formed.
fn invalidation(body: &[u8]) -> Option<Invalidation> {
    let Event { uid, entry } = serde_json::from_slice(body).ok()?;
    let id = entry.document_id;
    let document = Invalidation { uid: uid.into_owned(), document_id: id.into_owned() };
    is_document_id(&document.document_id).then_some(document)
}
