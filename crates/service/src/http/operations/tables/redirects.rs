//! `GET /api/redirects`: each path that a redirect of the CMS has or that a document had before, with
//! where it leads.

use std::sync::Arc;

use axum::response::Response;

use super::{Format, by_type};
use crate::http::operations::resolved_by::without_path_index;
use crate::http::request::bearer::require_bearer;
use crate::http::request::call::Call;
use crate::http::request::params::{SITE, known_site, required};
use crate::http::request::query::{Param, parse};
use crate::http::response::error::ApiError;
use frontend_map_catalog::moved::redirects::Redirects;
use frontend_map_catalog::tables::Rows as _;

/// The query parameters.
pub(in crate::http) const PARAMS: [Param; 1] = [SITE];

/// The response.
pub(in crate::http) async fn get(Call { app, query, headers }: Call) -> Result<Response, ApiError> {
    let [site] = parse(query.as_deref(), &PARAMS)?;
    let site = known_site(&app, &required("site", site)?)?;
    require_bearer(app.http.validate_token.as_ref(), &headers)?;
    let cached_snapshots = match app.snapshots.history(site) {
        Some(_) => app.snapshots.get_each(site, site.rules.content_types()).await?,
        None => return Err(without_path_index(site)),
    };
    if app.imports.are_pending() {
        tokio::task::block_in_place(|| app.imports.run(&app.sites, &app.snapshots));
    }
    // Read after the walks: what they have moved is in it.
    let Some(history) = app.snapshots.history(site) else { return Err(without_path_index(site)) };
    let format = Format::preferred(&headers, history.history.len() as u64);
    let entries = match &site.redirects {
        Some(site) => app.snapshots.get_each(site, site.rules.content_types()).await?,
        None => Vec::new(),
    };
    let history = history.to_owned(Arc::clone(site), Arc::clone(&app.shared.path_history));
    let (documents, entries) = (by_type(&cached_snapshots), by_type(&entries));
    let redirects = Redirects::new(history, &documents, &entries, app.http.redirect_status);
    Ok(format.respond_privately(redirects.chunks(format.form), &cached_snapshots))
}
