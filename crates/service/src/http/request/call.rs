//! What the handlers of the router read of a request.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;

use crate::app::App;

/// A request without its body, and the app that responds to it.
pub(in crate::http) struct Call {
    pub(in crate::http) app: Arc<App>,
    /// As it was sent.
    pub(in crate::http) query: Option<String>,
    pub(in crate::http) headers: HeaderMap,
}

impl FromRequestParts<Arc<App>> for Call {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Infallible> {
        let query = parts.uri.query().map(str::to_owned);
        Ok(Self { app: Arc::clone(app), query, headers: std::mem::take(&mut parts.headers) })
    }
}
