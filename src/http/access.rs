//! The line that a request gets in the log when `[log] access` is on (D29).

use std::time::Duration;

use axum::http::{Method, Request, StatusCode};

/// How much of a target is logged, in characters.
const MAX_TARGET: usize = 256;

/// A request on its way.
pub(super) struct Access {
    method: Method,
    target: String,
}

impl Access {
    /// Notes what is asked for.
    pub(super) fn note<B>(request: &Request<B>) -> Self {
        let target = request.uri().to_string().chars().take(MAX_TARGET).collect();
        Self { method: request.method().clone(), target }
    }

    /// Writes the line.
    pub(super) fn tell(self, status: StatusCode, taken: Duration) {
        let (method, target) = (self.method.as_str(), self.target.as_str());
        let (status, milliseconds) = (status.as_u16(), taken.as_secs_f64() * 1e3);
        tracing::info!(method, target, status, milliseconds, "request");
    }
}
