//! `GET /api/changes`: what has changed on a site since a cursor, from memory.

use axum::http::HeaderMap;
use axum::response::Response;

use crate::app::App;
use crate::http::request::bearer::require_bearer;
use crate::http::request::call::Call;
use crate::http::request::params::{SITE, known_site, required};
use crate::http::request::query::{Param, echo, parse};
use crate::http::response::envelope::success;
use crate::http::response::error::ApiError;
use crate::http::response::no_store;
use crate::http::responses::ChangeList;
use frontend_map_catalog::changes::log::{ChangeRow, Filter, Kind, Read, Since};
use frontend_map_catalog::site::Site;
use frontend_map_fleet::changes::{Readiness, Wanted};

/// The query parameters.
pub(in crate::http) const PARAMS: [Param; 2] = [SITE, Param::unlimited("since")];

/// The most changes of a response.
const MAX_CHANGES: usize = 1_000;

/// The response.
pub(in crate::http) async fn get(Call { app, query, headers }: Call) -> Result<Response, ApiError> {
    let [site, since] = parse(query.as_deref(), &PARAMS)?;
    let site = known_site(&app, &required("site", site)?)?;
    let since = since.as_deref().map(parse_since).transpose()?;
    let with_unlisted = may_see_unlisted(&app, &headers)?;
    let filter = Filter { with_unlisted, kinds: Kind::ALL };
    let is_ahead = wait_for_log(&app, site, since).await?;
    let mut changes = Vec::new();
    let mut read = app.shared.change_log.read(&site.key, since, MAX_CHANGES, filter, |change| {
        changes.push(ChangeRow::from(change));
    });
    if let Some(Since::Cursor(cursor)) = since.filter(|_| is_ahead) {
        read = Read { cursor, more: false, reset: false };
    }
    let Read { cursor, more, reset } = read;
    Ok(no_store(success(ChangeList { cursor: cursor.to_string(), more, reset, changes })))
}

/// Waits for the log that instances share, which may have more than is known here. Returns whether the
/// cursor is after what is known.
async fn wait_for_log(app: &App, site: &Site, since: Option<Since>) -> Result<bool, ApiError> {
    match app.shared.fleet.readiness(site, Wanted::Changes(since)).await {
        None | Some(Readiness::Ready) => Ok(false),
        Some(Readiness::Ahead) => Ok(true),
        Some(Readiness::NotYet) => Err(ApiError::changes_not_known()),
    }
}

fn parse_since(text: &str) -> Result<Since, ApiError> {
    Since::parse(text).ok_or_else(|| {
        let message =
            format!("`since` must be a cursor of an earlier response or 0, not {}", echo(text));
        ApiError::validation(message)
    })
}

/// Whether the request has the token for pages that sitemaps leave out. Without a token in the settings
/// no request has it.
fn may_see_unlisted(app: &App, headers: &HeaderMap) -> Result<bool, ApiError> {
    let expected = app.http.validate_token.as_ref();
    if expected.is_none() || !headers.contains_key(axum::http::header::AUTHORIZATION) {
        return Ok(false);
    }
    require_bearer(expected, headers).map(|()| true)
}
