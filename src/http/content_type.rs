//! Operation 4.1: from a pathname to the content type whose rule matches it.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::header::{CACHE_CONTROL, ETAG};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::Full;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::envelope::{Whole, json, success_text};
use super::error::{ApiError, CandidateDetails, Details};
use super::etag;
use super::param::{LOCALE, SITE, boolean, known_site, locale, required};
use super::query::{Param, echo, parse};
use super::resolved_by::{Choice, RESOLVED_BY, knowledge};
use crate::app::App;
use crate::rules::{Locale, Match, Pathname};
use crate::site::Site;

/// Where it is found.
pub(super) const ROUTE: &str = "/api/get-content-type";

/// The most candidates in the details of a 404 (D10).
const MAX_CANDIDATES: usize = 50;

/// A pathname (D3).
pub(super) const PATHNAME: Param = Param { name: "pathname", max_bytes: 2048 };

const PARAMS: [Param; 5] = [SITE, PATHNAME, LOCALE, Param::short("compact"), Param::short("debug")];

/// Shape 2.2.
#[derive(Serialize)]
pub(super) struct Resolved<'a, 'm> {
    pub(super) site: &'a str,
    pub(super) pathname: &'a str,
    pub(super) locale: &'a str,
    pub(super) matched: Matched<'a, 'm>,
}

/// The rule and what it takes from the pathname.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Matched<'a, 'm> {
    collection_type: &'a str,
    rule: &'a str,
    params: Params<'a, 'm>,
}

/// Shape 2.3.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Compact<'a> {
    content_type: &'a str,
}

/// The placeholders' values, and always `locale`.
struct Params<'a, 'm> {
    found: &'a Match<'m>,
    locale: &'a str,
}

impl Serialize for Params<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut params = to.serialize_map(None)?;
        if !self.found.params.iter().any(|(name, _)| *name == "locale") {
            params.serialize_entry("locale", self.locale)?;
        }
        for (name, value) in &self.found.params {
            params.serialize_entry(name, value)?;
        }
        params.end()
    }
}

/// `GET /api/get-content-type`, as the router has it.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> axum::response::Response {
    answer(&app, query.as_deref(), &headers).unwrap_or_else(ApiError::whole).map(Body::new)
}

/// The answer to a query; nothing here waits.
pub(super) fn answer(
    app: &App,
    query: Option<&str>,
    headers: &HeaderMap,
) -> Result<Whole, ApiError> {
    let [site, pathname, asked_locale, compact, debug] = parse(query, &PARAMS)?;
    let site = known_site(app, &required("site", site)?)?;
    let pathname = self::pathname(pathname)?;
    let asked_locale = locale(asked_locale.as_deref())?;
    let compact = boolean("compact", compact.as_deref())?;
    let parsed = Pathname::parse(&pathname);
    let index = knowledge(app, site);
    let choice = Choice::make(site, &parsed, index.as_ref());
    let mut response = match &choice.found {
        None => no_match(site, &pathname, &parsed, debug.as_deref() == Some("1")).whole(),
        Some(found) if compact => {
            let content_type = found.rule.content_type.as_str();
            conditional(success_text(Compact { content_type }), headers)
        }
        Some(found) => {
            let resolved = full(site, &pathname, found, asked_locale.as_ref());
            conditional(success_text(resolved), headers)
        }
    };
    let passing = choice.passing || choice.found.is_none();
    let caching = if passing { &app.caching.resolve_miss } else { &app.caching.resolve };
    if let Some(by) = choice.by {
        response.headers_mut().insert(RESOLVED_BY, by);
    }
    Ok(cached(response, caching))
}

/// A pathname that starts with a slash (D4).
pub(super) fn pathname(value: Option<Cow<'_, str>>) -> Result<Cow<'_, str>, ApiError> {
    let pathname = required("pathname", value)?;
    if pathname.starts_with('/') {
        return Ok(pathname);
    }
    let message = format!("`pathname` starts with a slash, unlike {}", echo(&pathname));
    Err(ApiError::validation(message))
}

/// Tagged by its bytes; a client that has them gets a 304 without a body (RFC 9110, 15.4.5).
pub(super) fn conditional(text: Vec<u8>, headers: &HeaderMap) -> Whole {
    let tag = etag::tag(&text);
    let mut response = if etag::is_known(&tag, headers) {
        let mut response = Response::new(Full::default());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        json(StatusCode::OK, text)
    };
    response.headers_mut().insert(ETAG, tag);
    response
}

pub(super) fn cached(mut response: Whole, policy: &HeaderValue) -> Whole {
    response.headers_mut().insert(CACHE_CONTROL, policy.clone());
    response
}

pub(super) fn full<'a, 'm>(
    site: &'a Site,
    pathname: &'a str,
    found: &'a Match<'m>,
    asked: Option<&Locale>,
) -> Resolved<'a, 'm> {
    let locales = site.rules.locales();
    // The path decides; if it says none, the parameter does, if it is one of the site's (D9).
    let asked = asked.and_then(|locale| locales.get(locale.as_str()));
    let locale = found.locale.or(asked).unwrap_or(locales.default_locale()).as_str();
    let matched = Matched {
        collection_type: found.rule.content_type.as_str(),
        rule: found.template.as_str(),
        params: Params { found, locale },
    };
    Resolved { site: &site.key, pathname, locale, matched }
}

pub(super) fn no_match(
    site: &Site,
    pathname: &str,
    parsed: &Pathname<'_>,
    debug: bool,
) -> ApiError {
    let candidates = debug.then(|| {
        let candidates = site.rules.candidates(parsed).take(MAX_CANDIDATES);
        candidates
            .map(|candidate| CandidateDetails {
                collection_type: candidate.rule.content_type.to_string(),
                rule: candidate.template.to_string(),
                reason: candidate.mismatch.reason.as_str(),
                segment: candidate.mismatch.segment,
            })
            .collect()
    });
    ApiError::not_found("No content type matches the given pathname").with(Details::NoMatch {
        pathname: pathname.to_owned(),
        normalized_path: parsed.normalized(),
        candidates,
    })
}
