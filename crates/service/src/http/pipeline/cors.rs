//! CORS for the configured origins, compared exactly (D6; the Fetch standard, section 3.3).

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN,
    VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, Request};

/// The data of a request that the CORS headers of its response need.
pub(super) struct Cors {
    /// The origin of the request, if it is a configured one.
    allowed_origin: Option<HeaderValue>,
    is_preflight: bool,
}

impl Cors {
    /// `None` where no origin is configured.
    pub(super) fn begin<B>(configured: &[HeaderValue], request: &Request<B>) -> Option<Self> {
        (!configured.is_empty()).then(|| Self {
            allowed_origin: allowed_origin(configured, request.headers()),
            is_preflight: is_preflight(request),
        })
    }

    /// Adds the headers; `methods` are those of the route. `Vary` is also needed where the origin is
    /// not allowed: another origin would get other headers.
    pub(super) fn finish(self, methods: HeaderValue, headers: &mut HeaderMap) {
        headers.append(VARY, HeaderValue::from_static("Origin"));
        let Some(origin) = self.allowed_origin else {
            return;
        };
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        let mut insert = |name, value| headers.insert(name, HeaderValue::from_static(value));
        if self.is_preflight {
            insert(
                ACCESS_CONTROL_ALLOW_HEADERS,
                "Authorization, Content-Type, If-None-Match, X-Request-Id",
            );
            insert(ACCESS_CONTROL_MAX_AGE, "600");
            headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
        } else {
            insert(ACCESS_CONTROL_EXPOSE_HEADERS, "Retry-After, X-Skipped-Documents");
        }
    }
}

fn allowed_origin(configured: &[HeaderValue], headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(ORIGIN)?;
    configured.iter().find(|configured| *configured == origin).cloned()
}

fn is_preflight<B>(request: &Request<B>) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}
