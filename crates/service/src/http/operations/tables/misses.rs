//! `/api/misses`: the paths that `/api/resolve` found nothing for. GET lists them with the pages that were
//! perhaps meant, DELETE clears one or all of them.

use axum::response::Response;

use super::{Format, snapshots};
use crate::app::{App, SiteMisses, read_misses, remove_misses};
use crate::http::operations::resolved_by::without_path_index;
use crate::http::request::bearer::{require_bearer, require_validate_token};
use crate::http::request::call::Call;
use crate::http::request::params::{
    HOST, PATHNAME, SITE, known_site, parse_host, parse_pathname, required,
};
use crate::http::request::query::{Param, parse};
use crate::http::response::envelope::success;
use crate::http::response::error::ApiError;
use crate::http::response::no_store;
use crate::http::responses::ClearedMisses;
use frontend_map_catalog::misses::{MissKey, Misses};
use frontend_map_catalog::site::Site;
use frontend_map_catalog::tables::Rows as _;
use frontend_map_rules::Pathname;

/// The query parameters of GET.
pub(in crate::http) const PARAMS: [Param; 1] = [SITE];
/// The query parameters of DELETE.
pub(in crate::http) const DELETE_PARAMS: [Param; 3] = [SITE, PATHNAME, HOST];

/// The list.
pub(in crate::http) async fn get(Call { app, query, headers }: Call) -> Result<Response, ApiError> {
    let [site] = parse(query.as_deref(), &PARAMS)?;
    let site = known_site(&app, &required("site", site)?)?;
    require_bearer(app.http.validate_token.as_ref(), &headers)?;
    let misses = misses(&app, site)?;
    let cached_snapshots = app.snapshots.get_each(site, site.rules.content_types()).await?;
    let snapshots = snapshots(&cached_snapshots);
    let listing = misses.listing.lock().await;
    let summary = read_misses(&app, site, misses).await;
    let table = tokio::task::block_in_place(|| Misses::new(&summary, site, &snapshots));
    drop(listing);
    let format = Format::preferred(&headers, table.count() as u64);
    Ok(format.respond_privately(table.chunks(format.form), &cached_snapshots))
}

/// Clears the row in which a path counts, or all rows.
pub(in crate::http) async fn delete(
    Call { app, query, headers }: Call,
) -> Result<Response, ApiError> {
    let [site, pathname, host] = parse(query.as_deref(), &DELETE_PARAMS)?;
    let site = known_site(&app, &required("site", site)?)?;
    // Without a token anybody could clear the list.
    require_validate_token(app.http.validate_token.as_ref(), &headers)?;
    let misses = misses(&app, site)?;
    if let Some(text) = host.as_deref() {
        let is_one_of_several = parse_host(site, Some(text))?.is_some();
        if pathname.is_none() || (site.hosts.are_several() && !is_one_of_several) {
            let message = "`host` must be one of the site's, beside `pathname`";
            return Err(ApiError::validation(message.to_owned()));
        }
    }
    let host = parse_host(site, host.as_deref())?;
    let pathname = pathname.map(|own| parse_pathname(Some(own))).transpose()?;
    let key = pathname.map(|own| key(site, &own, host));
    let removed = remove_misses(&app, site, misses, key.as_ref()).await;
    let removed = removed.map_err(|_| ApiError::misses_not_shared())?;
    Ok(no_store(success(ClearedMisses { cleared: removed })))
}

fn misses<'a>(app: &'a App, site: &Site) -> Result<&'a SiteMisses, ApiError> {
    app.misses.get(&site.key).map(|misses| &**misses).ok_or_else(|| without_path_index(site))
}

fn key(site: &Site, pathname: &str, host: Option<usize>) -> MissKey {
    let host = host.map(|host| site.hosts.all()[host].base.host());
    MissKey::of(host.unwrap_or_default(), Pathname::parse(pathname).normalized().into_owned())
}
