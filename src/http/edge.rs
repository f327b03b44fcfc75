//! What every request passes and every answer gets, in one function (D3, D6).

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{HOST, X_CONTENT_TYPE_OPTIONS};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Uri, Version};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::access::Access;
use super::cors;
use super::error::ApiError;
use crate::app::App;

/// The longest request target, in bytes (D3).
const MAX_TARGET: usize = 8 * 1024;

/// Refuses what no route should see, and dresses every answer.
pub(super) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let origin = cors::allowed_origin(&app.cors_origins, request.headers());
    let preflight = cors::is_preflight(&request);
    let access = app.access_log.then(|| Access::begin(&request));
    let mut response = match refuse(&request) {
        Err(error) => error.into_response(),
        Ok(()) => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !app.cors_origins.is_empty() {
        cors::dress(headers, origin, preflight);
    }
    if let Some(access) = access {
        access.end(&response);
    }
    response
}

fn refuse(request: &Request) -> Result<(), ApiError> {
    if target_length(request.uri()) > MAX_TARGET {
        return Err(ApiError::target_too_long(MAX_TARGET));
    }
    if request.version() == Version::HTTP_11 && !has_one_host(request.headers()) {
        return Err(ApiError::bad_host());
    }
    Ok(())
}

/// The length of the target as it was sent, in origin form or absolute form.
fn target_length(uri: &Uri) -> usize {
    let scheme = uri.scheme_str().map_or(0, |scheme| scheme.len() + "://".len());
    let authority = uri.authority().map_or(0, |authority| authority.as_str().len());
    scheme + authority + uri.path_and_query().map_or(0, |path| path.as_str().len())
}

/// RFC 9112, section 3.2: a 1.1 request has exactly one valid `Host`. It may be empty.
fn has_one_host(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => is_host(host.as_bytes()),
        _ => false,
    }
}

/// `uri-host [ ":" port ]` of RFC 9110, section 7.2.
fn is_host(host: &[u8]) -> bool {
    if host.is_empty() {
        return true;
    }
    let authority = Authority::try_from(host);
    authority.is_ok_and(|authority| {
        let port = authority.as_str().strip_prefix(authority.host()).unwrap_or("@");
        let digits = port.strip_prefix(':').unwrap_or(port);
        digits.bytes().all(|b| b.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_hosts() {
        for host in ["", "localhost", "a.example:80", "127.0.0.1:8080", "[::1]:80", "h:"] {
            assert!(is_host(host.as_bytes()), "{host}");
        }
        for host in ["a b", "u@h", "h:80x", "h/p", "h?x", "a,b c", "[::1", "h:80:90", "\u{e9}"] {
            assert!(!is_host(host.as_bytes()), "{host}");
        }
    }
}
