//! Answers that were made from a copy say so: how old it is, and how it came to be.

use std::time::Duration;

use axum::http::header::AGE;
use axum::http::{HeaderMap, HeaderName, HeaderValue};

use crate::app::{How, Served};

/// RFC 9211.
const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");

/// Of the public URLs of a content type.
pub(super) fn dress(headers: &mut HeaderMap, served: &Served) {
    headers.insert(AGE, HeaderValue::from(served.age.as_secs()));
    headers.insert(CACHE_STATUS, cache_status(served.how));
}

/// Of one document, as it was before the CMS began to fail.
pub(super) fn dress_stale(headers: &mut HeaderMap, age: Duration) {
    headers.insert(AGE, HeaderValue::from(age.as_secs()));
    let status = "frontend-map; hit; detail=\"the CMS fails\"";
    headers.insert(CACHE_STATUS, HeaderValue::from_static(status));
}

fn cache_status(how: How) -> HeaderValue {
    let text = match how {
        How::Hit { ttl, failing: false } => format!("frontend-map; hit; ttl={ttl}"),
        How::Hit { ttl, failing: true } => {
            format!("frontend-map; hit; ttl={ttl}; detail=\"the CMS fails\"")
        }
        How::Miss { collapsed: false } => "frontend-map; fwd=miss; stored".to_owned(),
        How::Miss { collapsed: true } => "frontend-map; fwd=miss; collapsed".to_owned(),
    };
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("frontend-map"))
}
