//! What of a request is in its trace: nothing that its caller made up but the id.

use axum::http::{HeaderMap, HeaderName, Method, Request, StatusCode};

use super::request_id::RequestId;
use crate::metrics::{Label, Route};
use crate::traces::{self, Span};

static TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Begins the span of a request, where it is traced.
pub(super) fn begin<B>(route: Route, request: &Request<B>) -> Option<Span> {
    let span = traces::request_span(route.as_str(), || traceparent(request.headers()))?;
    span.set("http.request.method", method(request.method()));
    span.set("http.route", route.as_str());
    Some(span)
}

/// Of several nobody knows which.
fn traceparent(headers: &HeaderMap) -> Option<&str> {
    let mut sent = headers.get_all(&TRACEPARENT).iter();
    sent.next().filter(|_| sent.next().is_none())?.to_str().ok()
}

/// Notes what came of it.
pub(super) fn end(span: &Span, status: StatusCode, id: Option<&RequestId>) {
    span.set("http.response.status_code", i64::from(status.as_u16()));
    if let Some(id) = id {
        span.set("request_id", id.as_str().to_owned());
    }
    if status.is_server_error() {
        span.fail();
    }
}

/// As the semantic conventions of OpenTelemetry have it: anybody may make a method up.
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
