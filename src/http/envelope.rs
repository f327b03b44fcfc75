//! The two envelopes (specification, section 2.1).

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
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

/// 200 with the payload of an operation.
pub(super) fn success(data: impl Serialize) -> Response {
    json(StatusCode::OK, &Enveloped { data, meta: Empty {} })
}

/// A failure with its `error` member.
pub(super) fn failure(status: StatusCode, error: impl Serialize) -> Response {
    json(status, &Failed { data: (), error })
}

fn json(status: StatusCode, body: &impl Serialize) -> Response {
    // Our own structs of text and numbers: there is nothing in them that JSON cannot hold.
    let body = serde_json::to_vec(body).unwrap_or_default();
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}
