//! Operation 4.1: from a pathname to the content type whose rule matches it.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;

use super::envelope::{Answer, success_text};
use super::error::{ApiError, CandidateDetails, Details};
use super::param::{LOCALE, SITE, boolean, known_site, locale, required};
use super::query::{Param, echo, parse};
use super::resolved::{Resolved, conditional};
use super::resolved_by::{Choice, knowledge};
use crate::app::App;
use crate::rules::Pathname;
use crate::site::Site;

/// Where it is found.
pub(super) const ROUTE: &str = "/api/get-content-type";

/// The most candidates in the details of a 404 (D10).
const MAX_CANDIDATES: usize = 50;

/// A pathname (D3).
pub(super) const PATHNAME: Param = Param { name: "pathname", max_bytes: 2048 };

const PARAMS: [Param; 5] = [SITE, PATHNAME, LOCALE, Param::short("compact"), Param::short("debug")];

/// `GET /api/get-content-type`, as the router has it.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> axum::response::Response {
    answer(&app, query.as_deref(), headers).unwrap_or_else(ApiError::whole).map(Body::new)
}

/// The answer to a query; nothing here waits. It takes the room of the request's headers.
pub(super) fn answer(
    app: &App,
    query: Option<&str>,
    headers: HeaderMap,
) -> Result<Answer, ApiError> {
    let [site, pathname, asked_locale, compact, debug] = parse(query, &PARAMS)?;
    let site = known_site(app, &required("site", site)?)?;
    let pathname = self::pathname(pathname)?;
    let asked_locale = locale(asked_locale.as_deref())?;
    let compact = boolean("compact", compact.as_deref())?;
    let parsed = Pathname::parse(&pathname);
    let index = knowledge(app, site);
    let choice = Choice::make(site, &parsed, index.as_ref());
    let policy = choice.policy(app);
    let mut answer = match &choice.found {
        None => {
            let error = no_match(site, &pathname, &parsed, debug.as_deref() == Some("1"));
            error.cached(policy, headers)
        }
        Some(found) if compact => {
            let uid = found.rule.content_type.as_str();
            conditional(compact_text(uid), policy, headers)
        }
        Some(found) => {
            let resolved = Resolved::new(site, &pathname, found, asked_locale.as_ref());
            let text = success_text(|json| {
                json.raw("{");
                resolved.write(json);
                json.raw("}");
            });
            conditional(text, policy, headers)
        }
    };
    choice.tell(&mut answer);
    Ok(answer)
}

/// Shape 2.3.
fn compact_text(content_type: &str) -> Vec<u8> {
    success_text(|json| {
        json.raw(r#"{"contentType":"#).word(content_type).raw("}");
    })
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
