//! `GET /api/sites`: the sites of the settings with their locales and content types, from memory.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use serde::Serialize;

use crate::app::App;
use crate::http::request::bearer::require_bearer;
use crate::http::request::query::parse;
use crate::http::response::envelope::success;
use crate::http::response::error::ApiError;
use frontend_map_catalog::site::Site;
use frontend_map_rules::{ContentTypeUid, Locale};

/// The payload of the response.
#[derive(Serialize)]
struct Sites<'a> {
    sites: Vec<SiteRow<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SiteRow<'a> {
    key: &'a str,
    locales: Vec<&'a str>,
    /// In the order of the rules.
    content_types: Vec<&'a str>,
}

/// The response.
pub(in crate::http) async fn get(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let [] = parse(query.as_deref(), &[])?;
    require_bearer(app.http.validate_token.as_ref(), &headers)?;
    let sites = app.sites.iter().map(row).collect();
    let mut response = success(Sites { sites }).map(Body::new);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

fn row(site: &Site) -> SiteRow<'_> {
    SiteRow {
        key: &site.key,
        locales: site.rules.locales().codes().iter().map(Locale::as_str).collect(),
        content_types: site.rules.content_types().into_iter().map(ContentTypeUid::as_str).collect(),
    }
}
