//! The two envelopes (specification, section 2.1).

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::{Either, Full};
use serde::Serialize;

use super::json::Json;

/// The type of these texts.
pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Room for most answers.
const USUAL_BYTES: usize = 512;

/// A body that is there as a whole, or one of the router's.
pub type AnswerBody = Either<Full<Bytes>, Body>;
/// An answer.
pub type Answer = Response<AnswerBody>;

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
struct Enveloped<T> {
    data: T,
    meta: Empty,
}

/// 200 with the payload of an operation.
pub(super) fn success(data: impl Serialize) -> Answer {
    let mut text = Vec::with_capacity(USUAL_BYTES);
    // Our own structs of text and numbers: there is nothing in them that JSON cannot hold.
    let _ = serde_json::to_writer(&mut text, &Enveloped { data, meta: Empty {} });
    json(StatusCode::OK, text, HeaderMap::new())
}

/// The body of a 200 with the payload that `data` writes.
pub(super) fn success_text(data: impl FnOnce(&mut Json)) -> Vec<u8> {
    let mut json = Json::with_capacity(USUAL_BYTES);
    json.raw(r#"{"data":"#);
    data(&mut json);
    json.raw(r#","meta":{}}"#);
    json.into_bytes()
}

/// A failure with the `error` member that `error` writes.
pub(super) fn failure(
    status: StatusCode,
    error: impl FnOnce(&mut Json),
    spent: HeaderMap,
) -> Answer {
    let mut text = Json::with_capacity(USUAL_BYTES);
    text.raw(r#"{"data":null,"error":"#);
    error(&mut text);
    text.raw("}");
    json(status, text.into_bytes(), spent)
}

/// An answer with a JSON text as its body.
pub(super) fn json(status: StatusCode, text: Vec<u8>, spent: HeaderMap) -> Answer {
    let mut answer = whole(status, Full::from(text), spent);
    answer.headers_mut().insert(CONTENT_TYPE, JSON);
    answer
}

/// An answer with this body. Its headers take the room of `spent` ones, those of the request, say:
/// hyper reads the next request into what it gets back, so a connection has one map for all.
pub(super) fn whole(status: StatusCode, body: Full<Bytes>, mut spent: HeaderMap) -> Answer {
    spent.clear();
    // For what the edge and the caches add.
    spent.reserve(8);
    let mut answer = Response::new(Either::Left(body));
    *answer.status_mut() = status;
    *answer.headers_mut() = spent;
    answer
}
