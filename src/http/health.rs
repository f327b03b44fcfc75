//! `/livez` and `/readyz`: small, uncounted, for orchestrators.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::IntoResponse;

use crate::app::App;

/// The process answers.
pub(super) async fn livez() -> impl IntoResponse {
    ([(CACHE_CONTROL, "no-store")], "ok\n")
}

/// The settings are loaded (else there would be no port) and the service is not draining.
pub(super) async fn readyz(State(app): State<Arc<App>>) -> impl IntoResponse {
    let (status, text) = if app.lasting().is_draining() {
        (StatusCode::SERVICE_UNAVAILABLE, "draining\n")
    } else {
        (StatusCode::OK, "ready\n")
    };
    (status, [(CACHE_CONTROL, "no-store")], text)
}
