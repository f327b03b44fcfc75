//! The parts of responses: envelopes, errors, validators, cache headers and bodies.

pub(super) mod cache_status;
pub(super) mod conditional;
pub(super) mod envelope;
pub(super) mod error;
pub(super) mod etag;
mod gzip;
pub(super) mod stream_body;

use axum::body::Body;
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use http_body_util::BodyExt;

use envelope::HttpResponse;

/// The `Cache-Control` of a response for one client or one moment.
pub(super) const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// Keeps a response out of caches.
pub(super) fn insert_no_store(headers: &mut HeaderMap) {
    headers.insert(CACHE_CONTROL, NO_STORE);
}

/// A response that caches do not keep.
pub(super) fn no_store(mut response: HttpResponse) -> Response {
    insert_no_store(response.headers_mut());
    response.map(Body::new)
}

/// The guarded body: this body, which keeps `guard` until it has been sent or dropped.
pub fn guard_body<T: Send + 'static>(body: Body, guard: T) -> Body {
    Body::new(body.map_err(move |error| {
        // The closure owns what it names.
        let _ = &guard;
        error
    }))
}
