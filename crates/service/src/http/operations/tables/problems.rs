//! `GET /api/problems`: the documents of a site that have no URL, and the paths that several have.

use std::sync::Arc;

use axum::response::Response;

use super::{Format, ServedSnapshots, by_type, snapshots};
use crate::app::App;
use crate::http::request::bearer::require_bearer;
use crate::http::request::call::Call;
use crate::http::request::params::{SITE, known_site, required};
use crate::http::request::query::{Param, parse};
use crate::http::response::error::ApiError;
use frontend_map_catalog::site::Site;
use frontend_map_catalog::tables::{Problems, RedirectProblems, Rows as _};

/// The query parameters.
pub(in crate::http) const PARAMS: [Param; 1] = [SITE];

/// The response.
pub(in crate::http) async fn get(Call { app, query, headers }: Call) -> Result<Response, ApiError> {
    let [site] = parse(query.as_deref(), &PARAMS)?;
    let site = known_site(&app, &required("site", site)?)?;
    require_bearer(app.http.validate_token.as_ref(), &headers)?;
    let cached_snapshots = app.snapshots.get_each(site, site.rules.content_types()).await?;
    let snapshots = snapshots(&cached_snapshots);
    let shared = app.shared_paths.get(site, &snapshots).await;
    let links = app.admin_links(site);
    let redirects = redirects(&app, site, &cached_snapshots).await?;
    let problems =
        Problems::new(Arc::clone(site), snapshots, shared, links).with_redirects(redirects);
    let format = Format::preferred(&headers, problems.count() as u64);
    Ok(format.respond_privately(problems.chunks(format.form), &cached_snapshots))
}

/// The problems of the redirects of a site, if it has content types for them.
async fn redirects(
    app: &App,
    site: &Site,
    documents: &ServedSnapshots<'_>,
) -> Result<Option<RedirectProblems>, ApiError> {
    let Some(of_redirects) = &site.redirects else { return Ok(None) };
    let types = of_redirects.rules.content_types();
    let redirects = app.snapshots.get_each(of_redirects, types).await?;
    let (documents, redirects) = (by_type(documents), by_type(&redirects));
    let (history, links) = (app.snapshots.history(site), app.admin_links(of_redirects));
    let find = || RedirectProblems::find(site, &documents, &redirects, history, links);
    Ok(tokio::task::block_in_place(find))
}
