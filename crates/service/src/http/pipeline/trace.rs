//! The trace span of a request. The request id is its only attribute that a client chooses.

use axum::http::{HeaderMap, HeaderName, Method, Request, StatusCode};

use super::routes::Route;
use crate::http::request::request_id::RequestId;
use frontend_map_platform::traces::{self, Span};

static TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Begins the span, if the request is traced.
pub(super) fn begin<B>(route: Route, request: &Request<B>) -> Option<Span> {
    let span = traces::request_span(|| route.label(), || traceparent(request.headers()))?;
    span.set("http.request.method", method(request.method()));
    span.set("http.route", route.label());
    Some(span)
}

/// The header, unless there are several: none of them is the right one then.
fn traceparent(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(&TRACEPARENT).iter();
    values.next().filter(|_| values.next().is_none())?.to_str().ok()
}

/// Records the status of the response.
pub(super) fn end(span: &Span, status: StatusCode, id: Option<&RequestId>) {
    span.set("http.response.status_code", i64::from(status.as_u16()));
    if let Some(id) = id {
        span.set("request_id", id.as_str().to_owned());
    }
    if status.is_server_error() {
        span.fail();
    }
}

/// The method, or `_OTHER` as the semantic conventions of OpenTelemetry have it: a client may invent
/// a method.
fn method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::OPTIONS => "OPTIONS",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "_OTHER",
    }
}
