//! CORS for the browsers that may ask: exact origins from the settings (D6; the Fetch standard,
//! section 3.3).

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN,
    VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, Request};

/// The origin of the request, if it is a listed one.
pub(super) fn allowed_origin(listed: &[HeaderValue], headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(ORIGIN)?;
    listed.iter().find(|listed| *listed == origin).cloned()
}

/// Whether a browser asks for permission before it sends the request itself.
pub(super) fn is_preflight<B>(request: &Request<B>) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Adds what a browser has to know. An answer differs by origin even when it allows none.
pub(super) fn dress(headers: &mut HeaderMap, origin: Option<HeaderValue>, preflight: bool) {
    headers.append(VARY, HeaderValue::from_static("Origin"));
    let Some(origin) = origin else {
        return;
    };
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    let more = if preflight {
        [
            (ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD"),
            (
                ACCESS_CONTROL_ALLOW_HEADERS,
                "Authorization, Content-Type, If-None-Match, X-Request-Id",
            ),
            (ACCESS_CONTROL_MAX_AGE, "600"),
        ]
        .to_vec()
    } else {
        [(ACCESS_CONTROL_EXPOSE_HEADERS, "Retry-After, X-Skipped-Documents")].to_vec()
    };
    headers.extend(more.into_iter().map(|(name, value)| (name, HeaderValue::from_static(value))));
}
