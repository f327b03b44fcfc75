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

use self::former::{Note, former_owner, timestamp};
use self::page::{Requested, page_text, redirect_text};
use self::resolution::{Resolution, ResolvedDocument};
use super::frontend_url::parse_status;
use super::match_result::{MatchResult, no_match, no_match_since};
use super::path_match::{ResolvedBy, owner_host, path_index, without_path_index};
use crate::app::App;
use crate::http::request::params::{
    HOST, LOCALE, MAX_UID_BYTES, PATHNAME, SITE, known_site, parse_host, parse_locale,
    parse_pathname, required,
};
use crate::http::request::query::{Param, parse};
use crate::http::response::conditional::conditional_json;
use crate::http::response::envelope::{HttpResponse, success_text};
use crate::http::response::error::ApiError;
use frontend_map_cache::PathIndexState;
use frontend_map_catalog::moved::redirects::FormerOwner;
use frontend_map_catalog::path_index::{Basis, Decision};
use frontend_map_catalog::site::Site;
use frontend_map_cms::Status;
use frontend_map_rules::{ContentTypeUid, Pathname};

const STATUS: Param = Param::unlimited("status");
const UID: Param = Param { name: "uid", max_bytes: MAX_UID_BYTES };
const DOCUMENT_ID: Param = Param { name: "documentId", max_bytes: 64 };
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
    let host = parse_host(site, host.as_deref())?;
    let parsed = Pathname::parse(&pathname);
    let state = path_index(app, site).ok_or_else(|| without_path_index(site))?;
    let requested = Requested { pathname: &pathname, locale: locale.as_ref(), host };
    let status = app.http.redirect_status;
    if let Some(text) = page_text(site, &state.index, &requested, status) {
        let mut response = conditional_json(text, &app.http.cache_policy.resolve, headers);
        ResolvedBy::Pages.insert(&mut response);
        return Ok(response);
    }
    let Some(mut decision) = state.index.decide(&site.rules, &parsed, host) else {
        let basis = state.index.basis_without_rule(&site.rules);
        if let Basis::Missing(uid) | Basis::Expired(uid) = basis {
            return Ok(not_known(uid, headers));
        }
        return Ok(without_rule(app, site, &state, &requested, &parsed, basis, headers));
    };
    if let Basis::Missing(uid) | Basis::Expired(uid) = decision.basis {
        return Ok(not_known(uid, headers));
    }
    let former = match decision.owner {
        Some(_) => FormerOwner::None,
        None => former_owner(app, site, &state.index, &parsed, host),
    };
    if let FormerOwner::NotKnown(uid) = &former {
        return Ok(not_known(uid, headers));
    }
    let resolved_by = match former.is_stale() {
        Some(is_stale) => ResolvedBy::of_history(is_stale || decision.basis == Basis::Stale),
        None => resolved_by(site, &parsed, &decision, host),
    };
    let cache_control = cache_control(app, &decision, resolved_by);
    let host = host.or(owner_host(site, &decision));
    decision.found = site.rules.with_locale_of_host(decision.found, host);
    let result = MatchResult::new(site, &pathname, &decision.found, locale.as_ref(), host);
    let of = |url| ResolvedDocument::new(app, site, &state.index, url, &pathname, host);
    let document = decision.owner.map(of);
    let note = match &document {
        Some(document) => document.note(status),
        None => Note::of_former(&former, status),
    };
    let by = match &document {
        Some(_) => "documents",
        None if note.has_moved() => "history",
        None => "rules",
    };
    let resolution = Resolution { site, resolved_by: by, document, note };
    let text = success_text(|json| {
        json.raw("{");
        result.write(json);
        resolution.write(json);
        json.raw("}");
    });
    let mut response = conditional_json(text, cache_control, headers);
    resolved_by.insert(&mut response);
    insert_age(resolved_by.is_stale(decision.basis), &state, &mut response);
    Ok(response)
}

/// The response to a path that no rule matches: a redirect if a document had it, else a 404.
fn without_rule(
    app: &App,
    site: &Site,
    state: &PathIndexState,
    requested: &Requested<'_>,
    parsed: &Pathname<'_>,
    basis: Basis<'_>,
    headers: HeaderMap,
) -> HttpResponse {
    let former = former_owner(app, site, &state.index, parsed, requested.host);
    if let FormerOwner::NotKnown(uid) = &former {
        return not_known(uid, headers);
    }
    let is_stale = former.is_stale().map(|is_stale| is_stale || basis == Basis::Stale);
    let (mut response, resolved_by) = match Note::of_former(&former, app.http.redirect_status) {
        Note::Redirect(redirect) => {
            let text = redirect_text(site, requested, redirect);
            let cache_control = &app.http.cache_policy.redirect;
            let response = conditional_json(text, cache_control, headers);
            (response, ResolvedBy::of_history(is_stale.unwrap_or_default()))
        }
        note => {
            let error = match note {
                Note::Gone(since) => no_match_since(requested.pathname, parsed, timestamp(since)),
                _ => no_match(site, requested.pathname, parsed, false),
            };
            let cache_control = &app.http.cache_policy.resolve_miss;
            (error.into_cacheable_response(cache_control, headers), ResolvedBy::of_no_rule(basis))
        }
    };
    resolved_by.insert(&mut response);
    insert_age(resolved_by.is_stale(basis), state, &mut response);
    response
}

fn cache_control<'p>(
    app: &'p App,
    decision: &Decision<'_, '_>,
    resolved_by: ResolvedBy,
) -> &'p HeaderValue {
    let policy = &app.http.cache_policy;
    // A path without a document may get one at any time.
    let is_short = decision.owner.is_none() || resolved_by.is_provisional();
    match resolved_by {
        ResolvedBy::History | ResolvedBy::StaleHistory => &policy.redirect,
        _ if is_short => &policy.resolve_miss,
        _ => &policy.resolve,
    }
}

/// Adds the age of the index where the response depends on a stale snapshot.
fn insert_age(is_stale: bool, state: &PathIndexState, response: &mut HttpResponse) {
    if is_stale {
        response.headers_mut().insert(AGE, HeaderValue::from(state.age.as_secs()));
    }
}

/// 503: this content type could own the path, and its documents are not known (D33).
fn not_known(uid: &ContentTypeUid, headers: HeaderMap) -> HttpResponse {
    ApiError::documents_not_known(uid).into_cacheable_response(&NO_STORE, headers)
}

/// What decided. Documents of a stale index decide only here: `/api/get-content-type` has another
/// rule then.
fn resolved_by(
    site: &Site,
    pathname: &Pathname<'_>,
    decision: &Decision<'_, '_>,
    host: Option<usize>,
) -> ResolvedBy {
    let has_owner = decision.owner.is_some();
    match decision.basis {
        Basis::Stale => {}
        Basis::OwnPathsUnknown => return ResolvedBy::DocumentsWithoutIndex,
        _ => return if has_owner { ResolvedBy::Documents } else { ResolvedBy::Rules },
    }
    let by_rules = site.rules.find_on(pathname, host).filter(|_| !decision.has_own_path());
    let agree = by_rules.is_some_and(|found| std::ptr::eq(found.rule, decision.found.rule));
    if agree { ResolvedBy::RulesWithStaleIndex } else { ResolvedBy::StaleDocuments }
}
