//! `GET /openapi.json`: the description of the API (`docs/openapi.yaml`) as JSON.

mod yaml;

use std::sync::LazyLock;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;

use crate::http::response::conditional::conditional_tagged_json;
use crate::http::response::etag;

const YAML: &str = include_str!("../../../../../docs/openapi.yaml");

/// A new version of the service may have another description, so each use revalidates it.
const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache");

/// The JSON text and its tag, made at the first request.
struct Description {
    text: Bytes,
    tag: HeaderValue,
}

static DESCRIPTION: LazyLock<Description> = LazyLock::new(|| {
    let text = yaml::to_json(YAML).expect("a test converts the same text");
    Description { tag: etag::of_bytes(&text), text: text.into() }
});

/// The response, from memory.
pub(in crate::http) async fn get(headers: HeaderMap) -> Response {
    let Description { text, tag } = &*DESCRIPTION;
    conditional_tagged_json(text.clone(), tag.clone(), &NO_CACHE, headers).map(Body::new)
}

/// The description, for tests that compare it with the code.
#[cfg(test)]
pub(in crate::http) fn description() -> serde_json::Value {
    serde_json::from_slice(&DESCRIPTION.text).expect("the text is JSON")
}

#[cfg(test)]
mod tests;
