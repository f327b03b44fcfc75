//! The log line of each request, written when `[log] access` is on (D29).

use std::time::Duration;

use axum::http::{Method, Request, StatusCode};

use crate::http::request::request_id::RequestId;

/// The part of a target that is logged, in characters.
const MAX_TARGET: usize = 256;
/// The part of a method that is logged, in bytes: a client may invent one.
const MAX_METHOD: usize = 32;

/// The fields of the line that come from the request.
pub(super) struct AccessLog {
    method: Method,
    target: String,
}

/// The fields of the line that come from the response.
pub(super) struct AccessOutcome<'a> {
    pub(super) id: Option<&'a RequestId>,
    /// The label of the route.
    pub(super) route: &'static str,
    pub(super) status: StatusCode,
    /// The length of the body, where it is known when the response begins.
    pub(super) bytes: Option<u64>,
    /// From the head of the request to the head of the response.
    pub(super) duration: Duration,
}

impl AccessLog {
    /// Copies the method and the target.
    pub(super) fn begin<B>(request: &Request<B>) -> Self {
        let target = request.uri().to_string().chars().take(MAX_TARGET).collect();
        Self { method: request.method().clone(), target }
    }

    /// Writes the line.
    pub(super) fn log(self, outcome: &AccessOutcome<'_>) {
        let method = self.method.as_str();
        tracing::info!(
            method = method.get(..MAX_METHOD).unwrap_or(method),
            target = self.target,
            status = outcome.status.as_u16(),
            bytes = outcome.bytes,
            milliseconds = (outcome.duration.as_secs_f64() * 1e6).round() / 1e3,
            route = outcome.route,
            request_id = outcome.id.map(RequestId::as_str),
            "request"
        );
    }
}
