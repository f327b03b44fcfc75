//! `GET /openapi.json`: the description of the API, which `npm run generate` in `clients/js` writes from
//! `docs/openapi.yaml`.

use std::sync::LazyLock;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;

use crate::http::response::conditional::conditional_tagged_json;
use crate::http::response::etag;

const DESCRIPTION: &[u8] = include_bytes!("openapi.json");

/// A new version of the service may have another description, so each use revalidates it.
const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache");

static TAG: LazyLock<HeaderValue> = LazyLock::new(|| etag::of_bytes(DESCRIPTION));

/// The response, from memory.
pub(in crate::http) async fn get(headers: HeaderMap) -> Response {
    let text = Bytes::from_static(DESCRIPTION);
    conditional_tagged_json(text, TAG.clone(), &NO_CACHE, headers).map(Body::new)
}

/// The description, for tests that compare it with the code.
#[cfg(test)]
pub(in crate::http) fn description() -> serde_json::Value {
    serde_json::from_slice(DESCRIPTION).expect("the text is JSON")
}

#[cfg(test)]
mod tests;
