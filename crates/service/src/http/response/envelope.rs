//! The two JSON envelopes: `{data, meta}` of a success and `{data: null, error}` of a failure.

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::{Either, Full};
use serde::Serialize;

use frontend_map_catalog::json::Json;

/// The media type of both.
pub(in crate::http) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The initial capacity of a text, in bytes: enough for most.
const USUAL_BYTES: usize = 512;
/// Room for the headers that the pipeline and the caches add.
const MORE_HEADERS: usize = 8;

/// A body that is complete in memory, or the body of a response of the router's handlers.
pub type ResponseBody = Either<Full<Bytes>, Body>;
/// A response as the server sends it.
pub type HttpResponse = Response<ResponseBody>;

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
struct Enveloped<T> {
    data: T,
    meta: Empty,
}

/// 200 with this payload.
///
/// # Panics
/// If `data` cannot be serialized: the payloads are our own structs of text and numbers.
pub(in crate::http) fn success(data: impl Serialize) -> HttpResponse {
    let mut text = Vec::with_capacity(USUAL_BYTES);
    serde_json::to_writer(&mut text, &Enveloped { data, meta: Empty {} })
        .expect("text and numbers are JSON, and a Vec takes all bytes");
    json_response(StatusCode::OK, text, HeaderMap::new())
}

/// The text of a success with the payload that `data` writes.
pub(in crate::http) fn success_text(data: impl FnOnce(&mut Json)) -> Vec<u8> {
    let mut json = Json::with_capacity(USUAL_BYTES);
    json.raw(r#"{"data":"#);
    data(&mut json);
    json.raw(r#","meta":{}}"#);
    json.into_bytes()
}

/// A failure with the `error` member that `error` writes.
pub(in crate::http) fn failure(
    status: StatusCode,
    error: impl FnOnce(&mut Json),
    recycled: HeaderMap,
) -> HttpResponse {
    let mut text = Json::with_capacity(USUAL_BYTES);
    text.raw(r#"{"data":null,"error":"#);
    error(&mut text);
    text.raw("}");
    json_response(status, text.into_bytes(), recycled)
}

/// A response with a JSON text as its body.
pub(in crate::http) fn json_response(
    status: StatusCode,
    text: Vec<u8>,
    recycled: HeaderMap,
) -> HttpResponse {
    let mut response = full_response(status, Full::from(text), recycled);
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// A response with this body. Its headers reuse the memory of `recycled` ones, those of the
/// request: hyper reads the next request into the map that it gets back, so that a connection
/// allocates one map for all its requests.
pub(in crate::http) fn full_response(
    status: StatusCode,
    body: Full<Bytes>,
    mut recycled: HeaderMap,
) -> HttpResponse {
    recycled.clear();
    recycled.reserve(MORE_HEADERS);
    let mut response = Response::new(Either::Left(body));
    *response.status_mut() = status;
    *response.headers_mut() = recycled;
    response
}
