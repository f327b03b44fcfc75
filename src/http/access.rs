//! The line that a request gets in the log when `[log] access` is on (D29).

use std::time::Duration;

use axum::http::{Method, Request, StatusCode};

use super::request_id::RequestId;
use crate::metrics::{Label, Route};

/// How much of a target is logged, in characters.
const MAX_TARGET: usize = 256;
/// How much of a method is logged, in bytes: anybody may make one up.
const MAX_METHOD: usize = 32;

/// What is asked for, by a request on its way.
pub(super) struct Access {
    method: Method,
    target: String,
}

/// What became of it.
pub(super) struct Outcome<'a> {
    pub(super) id: Option<&'a RequestId>,
    pub(super) route: Route,
    pub(super) status: StatusCode,
    /// The length of the body, where it is known when the answer begins.
    pub(super) bytes: Option<u64>,
    pub(super) taken: Duration,
}

impl Access {
    /// Notes what is asked for.
    pub(super) fn note<B>(request: &Request<B>) -> Self {
        let target = request.uri().to_string().chars().take(MAX_TARGET).collect();
        Self { method: request.method().clone(), target }
    }

    /// Writes the line, when the head of the answer is there.
    pub(super) fn tell(self, outcome: &Outcome<'_>) {
        let method = self.method.as_str();
        tracing::info!(
            method = method.get(..MAX_METHOD).unwrap_or(method),
            target = self.target,
            status = outcome.status.as_u16(),
            bytes = outcome.bytes,
            milliseconds = outcome.taken.as_secs_f64() * 1e3,
            route = outcome.route.as_str(),
            request_id = outcome.id.map(RequestId::as_str),
            "request"
        );
    }
}
