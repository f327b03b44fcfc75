//! All routes and all layers.

use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header::ALLOW;
use axum::http::{HeaderValue, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get};
use tower_http::catch_panic::CatchPanicLayer;

use super::error::ApiError;
use super::{content_type, crawler, frontend_url, health, hook, resolve, sitemap};
use crate::app::App;

/// What may be asked of every known route.
const ALLOWED: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");

/// All operations as one router.
pub(super) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route(content_type::ROUTE, known(get(content_type::get)))
        .route("/api/resolve", known(get(resolve::get)))
        .route("/api/frontend-url", known(get(frontend_url::get)))
        .route("/api/build-sitemap", known(get(sitemap::get)))
        .route("/livez", known(get(health::livez)))
        .route("/readyz", known(get(health::readyz)))
        .route(crawler::ROUTE, known(get(crawler::get)))
        .route("/hooks/cms", hook::routes())
        .fallback(async || ApiError::unknown_route())
        .method_not_allowed_fallback(async || ([(ALLOW, ALLOWED)], ApiError::method_not_allowed()))
        // The only layer: what every answer gets is in `edge`, because every layer more costs each
        // request a box.
        // What happened is in the log, by the hook for panics.
        .layer(CatchPanicLayer::custom(|_: Box<dyn Any + Send>| {
            ApiError::internal().into_response()
        }))
        .with_state(app)
}

/// A known route answers OPTIONS with what it allows; the edge adds CORS.
fn known(route: MethodRouter<Arc<App>>) -> MethodRouter<Arc<App>> {
    route.options(async |State(_): State<Arc<App>>| (StatusCode::OK, [(ALLOW, ALLOWED)]))
}
