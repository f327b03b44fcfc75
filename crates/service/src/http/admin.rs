//! The pages of the admin listener, for scrapers and operators.

pub(super) mod metrics;
pub(super) mod ready;
pub(super) mod rules;

use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::Full;

use super::response::envelope::{HttpResponse, full_response};

const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// 200 with a plain text.
pub(super) fn plain_text(text: String) -> HttpResponse {
    text_response(PLAIN, text)
}

fn text_response(content_type: HeaderValue, text: String) -> HttpResponse {
    let body = Full::new(Bytes::from(text));
    let mut response = full_response(StatusCode::OK, body, HeaderMap::new());
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}
