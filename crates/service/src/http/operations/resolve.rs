//! `GET /api/resolve`: from a pathname to its document. It extends `/api/get-content-type` by the
//! document that the site's path index has for the path, or the CMS for a draft.

mod candidates;
mod drafts;
pub(in crate::http) mod from_cms;

use axum::http::header::AGE;
use axum::http::{HeaderMap, HeaderValue};

use super::frontend_url::parse_status;
use super::no_match::{no_match, no_match_since};
use super::resolved_by::{insert_resolved_by, path_index, without_path_index};
use crate::app::{App, ResolutionTags, former_owner, redirects};
use crate::http::request::params::{
    HOST, LOCALE, MAX_UID_BYTES, PATHNAME, SITE, known_site, parse_host, parse_locale,
    parse_pathname, required,
};
use crate::http::request::query::{Param, parse};
use crate::http::response::NO_STORE;
use crate::http::response::conditional::conditional_json;
use crate::http::response::envelope::{HttpResponse, success_text};
use crate::http::response::error::ApiError;
use frontend_map_cache::PathIndexState;
use frontend_map_catalog::moved::redirects::FormerOwner;
use frontend_map_catalog::resolve::{
    Kind, Requested, Resolution, ResolvedByHeader, SitePaths, Unresolved, resolve,
};
use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::PublicUrl;
use frontend_map_cms::Status;
use frontend_map_rules::frontend_url::HostName;
use frontend_map_rules::{ContentTypeUid, Pathname};

const STATUS: Param = Param::unlimited("status");
pub(super) const UID: Param = Param { name: "uid", max_bytes: MAX_UID_BYTES };
pub(super) const DOCUMENT_ID: Param = Param { name: "documentId", max_bytes: 64 };
/// The query parameters.
pub(in crate::http) const PARAMS: [Param; 7] =
    [SITE, PATHNAME, LOCALE, STATUS, UID, DOCUMENT_ID, HOST];

/// Whether the response has to be read from the CMS: for drafts, and for a document by its id.
pub(in crate::http) fn needs_cms(query: Option<&str>) -> bool {
    // A query that is malformed here is refused from memory.
    let values = parse(query, &[STATUS, UID, DOCUMENT_ID]);
    values.is_ok_and(|[status, uid, id]| {
        uid.is_some() || id.is_some() || parse_status(status.as_deref()).is_ok_and(is_draft)
    })
}

fn is_draft(status: Status) -> bool {
    status == Status::Draft
}

/// The response to a pathname, from memory.
pub(in crate::http) fn get(
    app: &App,
    query: Option<&str>,
    headers: HeaderMap,
) -> Result<HttpResponse, ApiError> {
    let [site, pathname, locale, status, _, _, host] = parse(query, &PARAMS)?;
    let site = known_site(app, &required("site", site)?)?;
    let pathname = parse_pathname(pathname)?;
    let locale = parse_locale(locale.as_deref())?;
    parse_status(status.as_deref())?;
    let host_name = host;
    let host = parse_host(site, host_name.as_deref())?;
    let parsed = Pathname::parse(&pathname);
    let state = path_index(app, site).ok_or_else(|| without_path_index(site))?;
    let entries = site.redirects.as_ref().and_then(|site| path_index(app, site));
    let paths = site_paths(app, site, &state, entries.as_ref());
    let forced = paths.redirects.map_or(FormerOwner::None, |one| one.forced(&parsed, host));
    let former = || former_owner(app, site, &state.index, paths.redirects, &parsed, host);
    let mut resolution = resolve(site, &state.index, &parsed, host, forced, former);
    if entries.as_ref().is_some_and(|entries| !entries.index.is_fresh()) {
        resolution = resolution.with_stale_redirects();
    }
    if resolution.is_definite_miss() && is_on_site(site, host_name.as_deref()) {
        count_miss(app, site, &parsed, host);
    }
    let tags = app.http.cache_tags.as_ref();
    let tags = tags.map(|header| (header, ResolutionTags::of(site, &resolution.found)));
    let Resolution { resolved_by, is_stale, .. } = resolution;
    let requested = Requested { pathname: &pathname, locale: locale.as_ref(), host };
    let mut response = match resolution.answer(paths, requested, |url| resource(app, site, url)) {
        Ok(answer) => {
            let is_found = matches!(answer.kind, Kind::Document | Kind::Page);
            let cache_control = cache_control(app, is_found, resolved_by);
            conditional_json(success_text(answer), cache_control, headers)
        }
        Err(Unresolved::NotKnown(uid)) => return Ok(not_known(&uid, headers)),
        Err(Unresolved::NoMatch { gone }) => {
            let error = match gone {
                Some(since) => no_match_since(&pathname, &parsed, since),
                None => no_match(site, &pathname, &parsed, false),
            };
            error.into_cacheable_response(&app.http.cache_policy.resolve_miss, headers)
        }
    };
    insert_resolved_by(resolved_by, &mut response);
    if let Some((header, tags)) = tags {
        header.insert_resolution(response.headers_mut(), site, tags);
    }
    let age = entries.map_or(state.age, |entries| entries.age.max(state.age));
    let lag = app.shared.fleet.lag(age);
    if let Some(age) = is_stale.then_some(age).max(lag) {
        response.headers_mut().insert(AGE, HeaderValue::from(age.as_secs()));
    }
    Ok(response)
}

/// What is known of the paths of a site; `entries` is the index of its redirects in the CMS.
fn site_paths<'a>(
    app: &'a App,
    site: &'a Site,
    state: &'a PathIndexState,
    entries: Option<&'a PathIndexState>,
) -> SitePaths<'a> {
    let index = &*state.index;
    let redirects = redirects(app, site, index, entries.map(|state| &*state.index));
    SitePaths { site, index, redirects, redirect_status: app.http.redirect_status }
}

/// The document with this URL in the API of the CMS.
fn resource(app: &App, site: &Site, url: PublicUrl<'_>) -> Option<String> {
    let uid = &site.rules.rules()[url.rule()].content_type;
    let path = app.snapshots.content().resource(uid, url.document_id())?;
    let locale = site.rules.locales().codes()[url.locale()].as_str();
    Some(if url.is_localized() { [&path, "?locale=", locale].concat() } else { path })
}

/// Whether a host is one of the site's, or none is named.
fn is_on_site(site: &Site, host: Option<&str>) -> bool {
    let is_own = |name: HostName| site.hosts.position(&name).is_some();
    site.hosts.all().is_empty() || host.is_none_or(|text| HostName::parse(text).is_ok_and(is_own))
}

/// Kept out of line, because most requests find a page.
#[cold]
fn count_miss(app: &App, site: &Site, pathname: &Pathname<'_>, host: Option<usize>) {
    if let Some(misses) = app.misses.get(&site.key) {
        let host = host.map(|host| site.hosts.all()[host].base.host());
        misses.record(host.unwrap_or_default(), pathname);
    }
}

fn cache_control(app: &App, is_found: bool, resolved_by: ResolvedByHeader) -> &HeaderValue {
    let policy = &app.http.cache_policy;
    match resolved_by {
        ResolvedByHeader::History
        | ResolvedByHeader::StaleHistory
        | ResolvedByHeader::Redirects
        | ResolvedByHeader::StaleRedirects => &policy.redirect,
        // A path without a document may get one at any time.
        _ if !is_found || resolved_by.is_provisional() => &policy.resolve_miss,
        _ => &policy.resolve,
    }
}

/// 503: this content type could own the path, and its documents are not known (D33).
fn not_known(uid: &ContentTypeUid, headers: HeaderMap) -> HttpResponse {
    ApiError::documents_not_known(uid).into_cacheable_response(&NO_STORE, headers)
}
