//! Conditional responses (RFC 9110, section 13): a client that has the current version gets a 304
//! without a body.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::{Body, Bytes};
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, LAST_MODIFIED, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::Full;

use super::envelope::{HttpResponse, JSON, full_response};
use super::etag::{self, if_none_match_lists};

/// 200 with this JSON text, tagged by its bytes, or a 304. The response reuses the memory of the
/// request's headers.
pub(in crate::http) fn conditional_json(
    text: Vec<u8>,
    cache_control: &HeaderValue,
    request_headers: HeaderMap,
) -> HttpResponse {
    let tag = etag::of_bytes(&text);
    conditional_tagged_json(text, tag, cache_control, request_headers)
}

/// A conditional response with a tag that is known already.
#[inline]
pub(in crate::http) fn conditional_tagged_json(
    text: impl Into<Bytes>,
    tag: HeaderValue,
    cache_control: &HeaderValue,
    request_headers: HeaderMap,
) -> HttpResponse {
    let not_modified = if_none_match_lists(&tag, &request_headers);
    let mut response = if not_modified {
        full_response(StatusCode::NOT_MODIFIED, Full::default(), request_headers)
    } else {
        full_response(StatusCode::OK, Full::new(text.into()), request_headers)
    };
    let headers = response.headers_mut();
    if !not_modified {
        headers.insert(CONTENT_TYPE, JSON);
    }
    headers.insert(ETAG, tag);
    headers.insert(CACHE_CONTROL, cache_control.clone());
    response
}

/// What the headers say of a text that has validators.
pub(in crate::http) struct Representation {
    pub(in crate::http) content_type: &'static str,
    pub(in crate::http) gzip: bool,
    pub(in crate::http) tag: HeaderValue,
    /// When the text has changed last, if that is known.
    pub(in crate::http) changed: Option<SystemTime>,
}

impl Representation {
    /// Whether the client has the text.
    pub(in crate::http) fn is_not_modified(&self, request_headers: &HeaderMap) -> bool {
        is_not_modified(&self.tag, self.changed, request_headers)
    }

    /// The response with this body; `None`: a 304.
    pub(in crate::http) fn respond(
        self,
        body: Option<Body>,
        cache_control: &HeaderValue,
    ) -> Response<Body> {
        let mut response = Response::default();
        if let Some(body) = body {
            *response.body_mut() = body;
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
            if self.gzip {
                headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
        } else {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = response.headers_mut();
        headers.insert(ETAG, self.tag);
        headers.insert(VARY, HeaderValue::from_name(ACCEPT_ENCODING));
        headers.insert(CACHE_CONTROL, cache_control.clone());
        if let Some(changed) = self.changed {
            headers.insert(LAST_MODIFIED, last_modified(changed));
        }
        response
    }
}

/// Whether the client has the current version: by `If-None-Match`, or without one by
/// `If-Modified-Since`, in whole seconds (sections 13.1.3 and 13.2.2). A resource without a date
/// of modification is compared by its tag alone.
pub(in crate::http) fn is_not_modified(
    tag: &HeaderValue,
    modified: Option<SystemTime>,
    request_headers: &HeaderMap,
) -> bool {
    if request_headers.contains_key(IF_NONE_MATCH) {
        return if_none_match_lists(tag, request_headers);
    }
    let since = request_headers.get(IF_MODIFIED_SINCE).and_then(|value| value.to_str().ok());
    let since = since.and_then(|text| httpdate::parse_http_date(text).ok());
    modified
        .zip(since)
        .is_some_and(|(modified, since)| unix_seconds(modified) <= unix_seconds(since))
}

/// The value of `Last-Modified`: never later than the response itself (sections 5.6.7 and 8.8.2.1).
fn last_modified(modified: SystemTime) -> HeaderValue {
    let text = httpdate::fmt_http_date(modified.min(SystemTime::now()));
    HeaderValue::try_from(text).expect("an HTTP date is visible ASCII")
}

fn unix_seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
