//! `GET /api/resolve`: from a pathname to its document. It extends `/api/get-content-type` by the
//! document that the site's path index has for the path, or the CMS for a draft.

mod candidates;
mod drafts;
mod former;
pub(in crate::http) mod from_cms;
mod page;
mod resolution;

use axum::http::header::AGE;
use axum::http::{HeaderMap, HeaderValue};

use self::former::{Note, RedirectTo, timestamp};
use self::page::{Requested, page_text, redirect_text};
use self::resolution::{ResolvedData, ResolvedDocument};
use super::frontend_url::parse_status;
use super::match_result::{MatchResult, no_match, no_match_since};
use super::resolved_by::{insert_resolved_by, path_index, without_path_index};
use crate::app::{App, ResolutionTags, former_owner, redirects};
use crate::http::request::params::{
    HOST, LOCALE, MAX_UID_BYTES, PATHNAME, SITE, known_site, parse_host, parse_locale,
    parse_pathname, required,
};
use crate::http::request::query::{Param, parse};
use crate::http::response::conditional::conditional_json;
use crate::http::response::envelope::{HttpResponse, success_text};
use crate::http::response::error::ApiError;
use frontend_map_catalog::moved::entries::EntryRedirect;
use frontend_map_catalog::moved::redirects::FormerOwner;
use frontend_map_catalog::resolve::{Found, Resolution, ResolvedBy, resolve};
use frontend_map_catalog::site::Site;
use frontend_map_cms::Status;
use frontend_map_rules::frontend_url::HostName;
use frontend_map_rules::{ContentTypeUid, Pathname};

const STATUS: Param = Param::unlimited("status");
pub(super) const UID: Param = Param { name: "uid", max_bytes: MAX_UID_BYTES };
pub(super) const DOCUMENT_ID: Param = Param { name: "documentId", max_bytes: 64 };
/// The query parameters.
pub(in crate::http) const PARAMS: [Param; 7] =
    [SITE, PATHNAME, LOCALE, STATUS, UID, DOCUMENT_ID, HOST];

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

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
    let of_entries = entries.as_ref().map(|state| &*state.index);
    let redirects = redirects(app, site, &state.index, of_entries);
    let forced = redirects.map_or(FormerOwner::None, |one| one.forced(&parsed, host));
    let former = || former_owner(app, site, &state.index, redirects, &parsed, host);
    let mut resolution = resolve(site, &state.index, &parsed, host, forced, former);
    if entries.as_ref().is_some_and(|entries| !entries.index.is_fresh()) {
        resolution = resolution.with_stale_redirects();
    }
    if resolution.is_definite_miss() && is_on_site(site, host_name.as_deref()) {
        count_miss(app, site, &parsed, host);
    }
    let Resolution { found, resolved_by, is_stale } = resolution;
    let tags = app.http.cache_tags.as_ref();
    let tags = tags.map(|header| (header, ResolutionTags::of(site, &found)));
    let requested = Requested { pathname: &pathname, locale: locale.as_ref(), host };
    let redirect_status = app.http.redirect_status;
    let mut response = match found {
        Found::NotKnown(uid) => return Ok(not_known(&uid, headers)),
        Found::Page(page) => {
            let text = page_text(site, &state.index, redirects, &requested, page, redirect_status);
            conditional_json(text, &app.http.cache_policy.resolve, headers)
        }
        Found::NoRule(former) => without_rule(app, site, &requested, &parsed, &former, headers),
        Found::Rule { matched, host, document, former } => {
            let cache_control = cache_control(app, document.is_some(), resolved_by);
            let result = MatchResult::new(site, &pathname, &matched, locale.as_ref(), host);
            let of = |url| {
                ResolvedDocument::new(app, site, &state.index, url, &pathname, host)
                    .with_redirects(redirects)
            };
            let document = document.map(of);
            let note = match &document {
                Some(document) => document.note(redirect_status),
                None => Note::of_former(&former, redirect_status),
            };
            let by = match &document {
                Some(_) => "documents",
                None => resolved_by_note(&note).unwrap_or("rules"),
            };
            let data = ResolvedData { site, resolved_by: by, document, note };
            let text = success_text(|json| {
                json.raw("{");
                result.write(json);
                data.write(json);
                json.raw("}");
            });
            conditional_json(text, cache_control, headers)
        }
    };
    insert_resolved_by(resolved_by, &mut response);
    if let Some((header, tags)) = tags {
        header.insert_resolution(response.headers_mut(), site, tags);
    }
    let lag = app.shared.fleet.lag();
    let age = entries.map_or(state.age, |entries| entries.age.max(state.age));
    if let Some(age) = is_stale.then_some(age).max(lag) {
        response.headers_mut().insert(AGE, HeaderValue::from(age.as_secs()));
    }
    Ok(response)
}

/// What decided by a note, as `resolvedBy` has it.
fn resolved_by_note(note: &Note<'_>) -> Option<&'static str> {
    match note {
        Note::Entry(_) => Some("redirects"),
        note if note.has_moved() => Some("history"),
        _ => None,
    }
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

/// The response to a path that no rule matches: a redirect if a document had it, else a 404.
fn without_rule(
    app: &App,
    site: &Site,
    requested: &Requested<'_>,
    parsed: &Pathname<'_>,
    former: &FormerOwner<'_>,
    headers: HeaderMap,
) -> HttpResponse {
    let policy = &app.http.cache_policy;
    let note = Note::of_former(former, app.http.redirect_status);
    let error = match &note {
        Note::Redirect(RedirectTo { to, .. }) | Note::Entry(EntryRedirect { entry: to, .. }) => {
            let by = resolved_by_note(&note).unwrap_or("rules");
            let locale = to.locale();
            let text = redirect_text(site, requested, by, note, locale);
            return conditional_json(text, &policy.redirect, headers);
        }
        Note::Gone(since) => no_match_since(requested.pathname, parsed, timestamp(*since)),
        Note::Nothing => no_match(site, requested.pathname, parsed, false),
    };
    error.into_cacheable_response(&policy.resolve_miss, headers)
}

fn cache_control(app: &App, has_document: bool, resolved_by: ResolvedBy) -> &HeaderValue {
    let policy = &app.http.cache_policy;
    match resolved_by {
        ResolvedBy::History
        | ResolvedBy::StaleHistory
        | ResolvedBy::Redirects
        | ResolvedBy::StaleRedirects => &policy.redirect,
        // A path without a document may get one at any time.
        _ if !has_document || resolved_by.is_provisional() => &policy.resolve_miss,
        _ => &policy.resolve,
    }
}

/// 503: this content type could own the path, and its documents are not known (D33).
fn not_known(uid: &ContentTypeUid, headers: HeaderMap) -> HttpResponse {
    ApiError::documents_not_known(uid).into_cacheable_response(&NO_STORE, headers)
}
