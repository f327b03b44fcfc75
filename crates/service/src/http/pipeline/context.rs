//! The request context: begins with the request and finishes with the response, adding the common
//! headers (D6) and recording the request in metrics, access log and traces.

use std::time::Instant;

use axum::body::HttpBody;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, Request, Response, StatusCode, Version};
use tracing::Span;

use super::access_log::{AccessLog, AccessOutcome};
use super::cors::Cors;
use super::routes::Route;
use super::trace;
use crate::app::App;
use crate::http::request::request_id::{RequestId, X_REQUEST_ID};
use frontend_map_platform::traces;

/// The data of a request that its response needs.
pub(super) struct RequestContext<'a> {
    app: &'a App,
    route: Route,
    begun: Instant,
    cors: Option<Cors>,
    version: Version,
    id: Option<RequestId>,
    access_log: Option<AccessLog>,
    trace: Option<traces::Span>,
}

impl<'a> RequestContext<'a> {
    /// Begins with the head of the request.
    pub(super) fn begin<B>(app: &'a App, route: Route, request: &Request<B>) -> Self {
        let own_id = || app.http.access_log.then(RequestId::generate);
        Self {
            app,
            route,
            begun: Instant::now(),
            cors: Cors::begin(&app.http.cors_origins, request),
            version: request.version(),
            id: RequestId::from_headers(request.headers()).or_else(own_id),
            access_log: app.http.access_log.then(|| AccessLog::begin(request)),
            trace: trace::begin(route, request),
        }
    }

    /// The span of the log lines that the request causes.
    pub(super) fn log_span(&self) -> Span {
        // Of the highest level, so that no filter that lets a line through hides its request id.
        let span = |id: &RequestId| tracing::error_span!("request", request_id = id.as_str());
        self.id.as_ref().map_or_else(Span::none, span)
    }

    /// The trace span, if the request is traced.
    pub(super) fn trace(&self) -> Option<&traces::Span> {
        self.trace.as_ref()
    }

    /// Completes the head of the response, counts it, logs it and ends its trace.
    pub(super) fn finish<B: HttpBody>(self, response: &mut Response<B>) {
        if response.status() == StatusCode::NOT_MODIFIED {
            // The router sets the length of a response to HEAD to that of its body, which is 0 here.
            // It would have to be that of the 200 (RFC 9110, section 8.6).
            response.headers_mut().remove(CONTENT_LENGTH);
        }
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if self.app.shared.is_draining() {
            // Clients such as load balancers close the connection then, and lose no request with it.
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            if self.version == Version::HTTP_10 {
                // hyper adds `Connection: keep-alive` to a 1.1 response to a 1.0 request.
                *response.version_mut() = Version::HTTP_10;
            }
        }
        if let Some(cors) = self.cors {
            cors.finish(self.route.cross_origin_methods(), response.headers_mut());
        }
        let (status, duration) = (response.status(), self.begun.elapsed());
        self.app.shared.metrics.requests.end(self.route.index(), status.as_u16(), duration);
        if let Some(span) = self.trace {
            trace::end(&span, status, self.id.as_ref());
        }
        if let Some(access_log) = self.access_log {
            let (id, route) = (self.id.as_ref(), self.route.label());
            let bytes = response.body().size_hint().exact();
            access_log.log(&AccessOutcome { id, route, status, bytes, duration });
        }
        if let Some(id) = self.id {
            response.headers_mut().insert(&X_REQUEST_ID, id.into_value());
        }
    }
}
