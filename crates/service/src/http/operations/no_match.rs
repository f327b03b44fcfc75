//! The 404 of `/api/get-content-type` and `/api/resolve`: no rule matches.

use crate::http::response::error::ApiError;
use crate::http::responses::{Candidate, Details};
use frontend_map_catalog::resolve::Gone;
use frontend_map_catalog::site::Site;
use frontend_map_rules::Pathname;

/// The most candidates in the details of a 404 (D10).
const MAX_CANDIDATES: usize = 50;

/// 404: no rule matches. With `debug`, its details list the rules that were tried.
pub(super) fn no_match(
    site: &Site,
    pathname: &str,
    parsed: &Pathname<'_>,
    debug: bool,
) -> ApiError {
    let candidates = debug.then(|| {
        let candidates = site.rules.candidates(parsed).take(MAX_CANDIDATES);
        candidates
            .map(|candidate| Candidate {
                collection_type: candidate.rule.content_type.to_string(),
                rule: candidate.template.to_string(),
                reason: candidate.mismatch.reason.as_str(),
                segment: candidate.mismatch.segment,
            })
            .collect()
    });
    error(pathname, parsed, candidates, None)
}

/// The error for a path that a document had until this time, in milliseconds since 1970, and which is not
/// published now.
pub(super) fn no_match_since(pathname: &str, parsed: &Pathname<'_>, since: i64) -> ApiError {
    error(pathname, parsed, None, Some(Gone::since(since)))
}

fn error(
    pathname: &str,
    parsed: &Pathname<'_>,
    candidates: Option<Vec<Candidate>>,
    gone: Option<Gone<'static>>,
) -> ApiError {
    let (pathname, normalized_path) = (pathname.to_owned(), parsed.normalized().into_owned());
    ApiError::not_found("No content type matches the given pathname").with(Details::NoMatch {
        pathname,
        normalized_path,
        candidates,
        gone,
    })
}
