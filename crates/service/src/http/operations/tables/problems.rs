//! `GET /api/problems`: the documents of a site that have no URL, and the paths that several have.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;

use super::{Format, insert_headers, snapshots};
use crate::app::App;
use crate::http::request::bearer::require_bearer;
use crate::http::request::params::{SITE, known_shared_site, required};
use crate::http::request::query::{Param, parse};
use crate::http::response::error::ApiError;
use frontend_map_catalog::tables::Problems;

/// The query parameters.
pub(in crate::http) const PARAMS: [Param; 1] = [SITE];

/// The response.
pub(in crate::http) async fn get(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let [site] = parse(query.as_deref(), &PARAMS)?;
    let site = known_shared_site(&app, &required("site", site)?)?;
    require_bearer(app.http.validate_token.as_ref(), &headers)?;
    let cached_snapshots = app.snapshots.get_each(site, site.rules.content_types()).await?;
    let snapshots = snapshots(&cached_snapshots);
    let shared = app.shared_paths.get(site, &snapshots).await;
    let problems = Problems::new(Arc::clone(site), snapshots, shared, app.admin_links(site));
    let format = Format::preferred(&headers, problems.count() as u64);
    let mut response = format.respond(problems.chunks(format.form));
    let headers = response.headers_mut();
    insert_headers(headers, &cached_snapshots);
    // What is wrong with the content is not for shared caches.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
