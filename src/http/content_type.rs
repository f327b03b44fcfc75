//! Operation 4.1: from a pathname to the content type whose rule matches it.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::response::Response;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::envelope::success;
use super::error::{ApiError, CandidateDetails, Details};
use super::param::{LOCALE, SITE, boolean, known_site, locale, required};
use super::query::{Param, echo, parse};
use crate::app::App;
use crate::rules::{Locale, Match, Pathname};
use crate::site::Site;

/// The most candidates in the details of a 404 (D10).
const MAX_CANDIDATES: usize = 50;

const PARAMS: [Param; 5] = [
    SITE,
    Param { name: "pathname", max_bytes: 2048 },
    LOCALE,
    Param::short("compact"),
    Param::short("debug"),
];

/// Shape 2.2.
#[derive(Serialize)]
struct Full<'a> {
    site: &'a str,
    pathname: &'a str,
    locale: &'a str,
    matched: Matched<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Matched<'a> {
    collection_type: &'a str,
    rule: String,
    params: Params<'a>,
}

/// Shape 2.3.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Compact<'a> {
    content_type: &'a str,
}

/// The placeholders' values, and always `locale`.
struct Params<'a> {
    found: &'a Match<'a>,
    locale: &'a str,
}

impl Serialize for Params<'_> {
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

/// `GET /api/get-content-type`
pub(super) async fn get(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let [site, pathname, asked_locale, compact, debug] = parse(query.as_deref(), &PARAMS)?;
    let site = known_site(&app, &required("site", site)?)?;
    let pathname = required("pathname", pathname)?;
    if !pathname.starts_with('/') {
        let message = format!("`pathname` starts with a slash, unlike {}", echo(&pathname));
        return Err(ApiError::validation(message));
    }
    let asked_locale = locale(asked_locale.as_deref())?;
    let compact = boolean("compact", compact.as_deref())?;
    let parsed = Pathname::parse(&pathname);
    match site.rules.find(&parsed) {
        Some(found) if compact => {
            Ok(success(Compact { content_type: found.rule.content_type.as_str() }))
        }
        Some(found) => Ok(full(site, &pathname, &found, asked_locale.as_ref())),
        None => Err(no_match(site, &pathname, &parsed, debug.as_deref() == Some("1"))),
    }
}

fn full(site: &Site, pathname: &str, found: &Match<'_>, asked: Option<&Locale>) -> Response {
    let locales = site.rules.locales();
    // The path decides; if it says none, the parameter does, if it is one of the site's (D9).
    let asked = asked.and_then(|locale| locales.get(locale.as_str()));
    let locale = found.locale.or(asked).unwrap_or(locales.default_locale()).as_str();
    let matched = Matched {
        collection_type: found.rule.content_type.as_str(),
        rule: found.template.to_string(),
        params: Params { found, locale },
    };
    success(Full { site: &site.key, pathname, locale, matched })
}

fn no_match(site: &Site, pathname: &str, parsed: &Pathname<'_>, debug: bool) -> ApiError {
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
