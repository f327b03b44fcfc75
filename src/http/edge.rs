//! What every request passes and every answer gets (D3, D6).

use std::time::Instant;

use axum::body::HttpBody;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, HOST, X_CONTENT_TYPE_OPTIONS};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri, Version};
use tracing::Span;

use super::access::{Access, Outcome};
use super::cors;
use super::error::ApiError;
use super::request_id::{HEADER, RequestId};
use super::traced;
use crate::app::App;
use crate::metrics::Route;
use crate::traces;

/// The longest request target, in bytes (D3).
const MAX_TARGET: usize = 8 * 1024;

/// What of a request its answer has to know.
pub(super) struct Edge<'a> {
    app: &'a App,
    route: Route,
    begun: Instant,
    origin: Option<HeaderValue>,
    preflight: bool,
    version: Version,
    id: Option<RequestId>,
    access: Option<Access>,
    traced: Option<traces::Span>,
}

impl<'a> Edge<'a> {
    /// Takes note of a request.
    pub(super) fn meet<B>(app: &'a App, route: Route, request: &Request<B>) -> Self {
        let with_cors = !app.cors_origins.is_empty();
        let origin = with_cors.then(|| cors::allowed_origin(&app.cors_origins, request.headers()));
        Self {
            app,
            route,
            begun: Instant::now(),
            origin: origin.flatten(),
            preflight: with_cors && cors::is_preflight(request),
            version: request.version(),
            id: RequestId::sent(request.headers()).or_else(|| app.access_log.then(RequestId::new)),
            access: app.access_log.then(|| Access::note(request)),
            traced: traced::begin(route, request),
        }
    }

    /// What goes round everything that is logged on the way to the answer.
    pub(super) fn span(&self) -> Span {
        // Of the highest level: no filter that lets a line through keeps its id back.
        let span = |id: &RequestId| tracing::error_span!("request", request_id = id.as_str());
        self.id.as_ref().map_or_else(Span::none, span)
    }

    /// What is recorded of it, if anything.
    pub(super) fn traced(&self) -> Option<&traces::Span> {
        self.traced.as_ref()
    }

    /// Gives an answer what every answer has, and counts it.
    pub(super) fn dress<B: HttpBody>(self, response: &mut Response<B>) {
        if response.status() == StatusCode::NOT_MODIFIED {
            // The router gives the answer to a HEAD the length of its body, which is none here. It
            // would have to be that of the 200 (RFC 9110, section 8.6).
            response.headers_mut().remove(CONTENT_LENGTH);
        }
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if self.app.lasting().is_draining() {
            // Balancers move the connections that they keep, and lose no request with them.
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            if self.version == Version::HTTP_10 {
                // To an answer of 1.1 hyper adds that a connection is kept which it keeps.
                *response.version_mut() = Version::HTTP_10;
            }
        }
        if !self.app.cors_origins.is_empty() {
            cors::dress(response.headers_mut(), self.origin, self.preflight);
        }
        let (status, taken) = (response.status(), self.begun.elapsed());
        self.app.lasting().metrics.requests.end(self.route, status.as_u16(), taken);
        if let Some(span) = self.traced {
            traced::end(&span, status, self.id.as_ref());
        }
        if let Some(access) = self.access {
            let (id, bytes) = (self.id.as_ref(), response.body().size_hint().exact());
            access.tell(&Outcome { id, route: self.route, status, bytes, taken });
        }
        if let Some(id) = self.id {
            response.headers_mut().insert(&HEADER, id.into_value());
        }
    }
}

/// Refuses what no route should see.
pub(super) fn refuse<B>(request: &Request<B>) -> Result<(), ApiError> {
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
    let repeated = headers.len() > headers.keys_len();
    if repeated && headers.get_all(HOST).iter().count() > 1 {
        return false;
    }
    headers.get(HOST).is_some_and(|host| is_host(host.as_bytes()))
}

/// `uri-host [ ":" port ]` of RFC 9110, section 7.2.
fn is_host(host: &[u8]) -> bool {
    host.is_empty() || is_usual_host(host) || is_authority(host)
}

/// A name or an IPv4 address, maybe with a port: what nearly all are, in one pass.
fn is_usual_host(host: &[u8]) -> bool {
    let at = memchr::memchr(b':', host).unwrap_or(host.len());
    let (name, port) = host.split_at(at);
    let usual = |b: &u8| b.is_ascii_alphanumeric() || *b == b'.' || *b == b'-';
    !name.is_empty() && name.iter().all(usual) && port.iter().skip(1).all(u8::is_ascii_digit)
}

fn is_authority(host: &[u8]) -> bool {
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
