//! All routes and all layers.

use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::ALLOW;
use axum::http::{HeaderValue, Response, StatusCode};
use axum::middleware;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get};
use tower_http::catch_panic::CatchPanicLayer;

use super::error::ApiError;
use super::{content_type, edge, frontend_url, health, sitemap};
use crate::app::App;

/// What may be asked of every known route.
const ALLOWED: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");

/// The service as one router.
pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/api/get-content-type", known(get(content_type::get)))
        .route("/api/frontend-url", known(get(frontend_url::get)))
        .route("/api/build-sitemap", known(get(sitemap::get)))
        .route("/livez", known(get(health::livez)))
        .route("/readyz", known(get(health::readyz)))
        .fallback(async || ApiError::unknown_route())
        .method_not_allowed_fallback(async || ([(ALLOW, ALLOWED)], ApiError::method_not_allowed()))
        // Innermost: a handler's panic becomes an answer that the edge can still dress.
        .layer(CatchPanicLayer::custom(panicked))
        // Outermost, and one function: every layer more costs each request a box.
        .layer(middleware::from_fn_with_state(Arc::clone(&app), edge::guard))
        .with_state(app)
}

/// A known route answers OPTIONS with what it allows; the edge adds CORS.
fn known(route: MethodRouter<Arc<App>>) -> MethodRouter<Arc<App>> {
    route.options(async |State(_): State<Arc<App>>| (StatusCode::OK, [(ALLOW, ALLOWED)]))
}

/// The panic's text is for the log alone.
#[expect(clippy::needless_pass_by_value, reason = "the layer gives it away")]
fn panicked(panic: Box<dyn Any + Send>) -> Response<Body> {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(panic = text.unwrap_or_default(), "a request panicked");
    ApiError::internal().into_response()
}
