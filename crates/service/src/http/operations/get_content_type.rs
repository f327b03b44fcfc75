//! `GET /api/get-content-type`: from a pathname to the content type whose rule matches it.

use axum::http::HeaderMap;

use super::no_match::no_match;
use super::resolved_by::{insert_resolved_by, path_index};
use crate::app::App;
use crate::http::request::params::{
    HOST, LOCALE, PATHNAME, SITE, known_site, parse_boolean, parse_host, parse_locale,
    parse_pathname, required,
};
use crate::http::request::query::{Param, parse};
use crate::http::response::conditional::conditional_json;
use crate::http::response::envelope::{HttpResponse, success_text};
use crate::http::response::error::ApiError;
use frontend_map_catalog::resolve::{
    CompactMatch, PathMatch, Requested, ResolvedByHeader, resolve_rule,
};
use frontend_map_rules::Pathname;

/// The query parameters.
pub(in crate::http) const PARAMS: [Param; 6] =
    [SITE, PATHNAME, LOCALE, Param::unlimited("compact"), Param::unlimited("debug"), HOST];

/// The response, from memory.
pub(in crate::http) fn get(
    app: &App,
    query: Option<&str>,
    headers: HeaderMap,
) -> Result<HttpResponse, ApiError> {
    let [site, pathname, locale, compact, debug, host] = parse(query, &PARAMS)?;
    let site = known_site(app, &required("site", site)?)?;
    let pathname = parse_pathname(pathname)?;
    let locale = parse_locale(locale.as_deref())?;
    let compact = parse_boolean("compact", compact.as_deref())?;
    let host = parse_host(site, host.as_deref())?;
    let parsed = Pathname::parse(&pathname);
    let index = path_index(app, site);
    let index = index.as_ref().map(|state| &*state.index);
    let resolution = resolve_rule(site, index, &parsed, host);
    let is_provisional = resolution.resolved_by.is_some_and(ResolvedByHeader::is_provisional);
    let cache_control = match &resolution.matched {
        Some(_) if !is_provisional => &app.http.cache_policy.resolve,
        _ => &app.http.cache_policy.resolve_miss,
    };
    let mut response = match &resolution.matched {
        None => {
            let error = no_match(site, &pathname, &parsed, debug.as_deref() == Some("1"));
            error.into_cacheable_response(cache_control, headers)
        }
        Some(found) => {
            let locale = locale.as_ref();
            let requested = Requested { pathname: &pathname, locale, host: resolution.host };
            let text = if compact {
                success_text(CompactMatch { content_type: found.rule.content_type.as_str() })
            } else {
                success_text(PathMatch::new(site, requested, found))
            };
            conditional_json(text, cache_control, headers)
        }
    };
    if let Some(resolved_by) = resolution.resolved_by {
        insert_resolved_by(resolved_by, &mut response);
    }
    Ok(response)
}
