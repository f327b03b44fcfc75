//! `GET /livez` and `GET /readyz`, for orchestrators.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::IntoResponse;

use crate::app::{App, Readiness};

/// 200 while the process responds.
pub(in crate::http) async fn livez() -> impl IntoResponse {
    ([(CACHE_CONTROL, "no-store")], "ok\n")
}

/// The service is ready. Its settings are loaded, because it listens only after that.
pub(in crate::http) async fn readyz(State(app): State<Arc<App>>) -> impl IntoResponse {
    let (status, text) = match app.readiness() {
        Readiness::Ready => (StatusCode::OK, "ready\n"),
        Readiness::Starting => (StatusCode::SERVICE_UNAVAILABLE, "starting\n"),
        Readiness::Draining => (StatusCode::SERVICE_UNAVAILABLE, "draining\n"),
    };
    (status, [(CACHE_CONTROL, "no-store")], text)
}
