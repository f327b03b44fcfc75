//! The path index of a site, and the header `X-Resolved-By`, which says what decided.

use axum::http::{HeaderName, HeaderValue};

use crate::app::App;
use crate::http::response::envelope::HttpResponse;
use crate::http::response::error::ApiError;
use frontend_map_cache::PathIndexState;
use frontend_map_catalog::resolve::ResolvedByHeader;
use frontend_map_catalog::site::{ResolveBy, Site};

/// Only sites with `resolve = "documents"` send it.
const X_RESOLVED_BY: HeaderName = HeaderName::from_static("x-resolved-by");

/// The path index of a site with `resolve = "documents"`.
pub(super) fn path_index(app: &App, site: &Site) -> Option<PathIndexState> {
    (site.resolve == ResolveBy::Documents).then(|| {
        let index = app.snapshots.path_index(site);
        index.expect("a site that resolves by documents has a path index")
    })
}

/// 501: the site has no path index.
pub(super) fn without_path_index(site: &Site) -> ApiError {
    let message = format!("site \"{}\" does not have resolve = \"documents\"", site.key);
    ApiError::not_configured(message)
}

/// Adds `X-Resolved-By`.
pub(super) fn insert_resolved_by(resolved_by: ResolvedByHeader, response: &mut HttpResponse) {
    let value = HeaderValue::from_static(resolved_by.as_str());
    response.headers_mut().insert(X_RESOLVED_BY, value);
}
