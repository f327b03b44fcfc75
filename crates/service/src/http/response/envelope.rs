//! Responses with a text that is complete in memory.

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::{Either, Full};
use serde::Serialize;

use crate::http::responses::Success;
use frontend_map_catalog::json;

/// The media type of both envelopes.
pub(in crate::http) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Room for the headers that the pipeline and the caches add.
const MORE_HEADERS: usize = 8;

/// A body that is complete in memory, or the body of a response of the router's handlers.
pub type ResponseBody = Either<Full<Bytes>, Body>;
/// A response as the server sends it.
pub type HttpResponse = Response<ResponseBody>;

/// 200 with this payload.
pub(in crate::http) fn success(data: impl Serialize) -> HttpResponse {
    json_response(StatusCode::OK, success_text(data), HeaderMap::new())
}

/// The text of a success with this payload.
pub(in crate::http) fn success_text(data: impl Serialize) -> Vec<u8> {
    json::to_vec(&Success::new(data))
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
