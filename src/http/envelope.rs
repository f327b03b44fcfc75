//! The two envelopes (specification, section 2.1).

use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;
use serde::Serialize;

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
struct Enveloped<T> {
    data: T,
    meta: Empty,
}

#[derive(Serialize)]
struct Failed<E> {
    data: (),
    error: E,
}

/// An answer whose body is there as a whole.
pub(super) type Whole = Response<Full<Bytes>>;

/// 200 with the payload of an operation.
pub(super) fn success(data: impl Serialize) -> Whole {
    json(StatusCode::OK, success_text(data))
}

/// The body of a 200.
pub(super) fn success_text(data: impl Serialize) -> Vec<u8> {
    text(&Enveloped { data, meta: Empty {} })
}

/// A failure with its `error` member.
pub(super) fn failure(status: StatusCode, error: impl Serialize) -> Whole {
    json(status, text(&Failed { data: (), error }))
}

fn text(envelope: &impl Serialize) -> Vec<u8> {
    let mut text = Vec::with_capacity(512);
    // Our own structs of text and numbers: there is nothing in them that JSON cannot hold.
    let _ = serde_json::to_writer(&mut text, envelope);
    text
}

/// An answer with a JSON text as its body.
pub(super) fn json(status: StatusCode, text: Vec<u8>) -> Whole {
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    // Room for what the edge and the caches add.
    response.headers_mut().reserve(8);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
