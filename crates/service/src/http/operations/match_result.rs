//! The parts that the responses of `/api/get-content-type` and `/api/resolve` share: the match, and
//! the 404 without one.

use crate::http::response::error::{ApiError, CandidateDetails, Details};
use frontend_map_catalog::json::Json;
use frontend_map_catalog::site::Site;
use frontend_map_rules::{Locale, Match, Pathname, SiteLocale};

/// The most candidates in the details of a 404 (D10).
const MAX_CANDIDATES: usize = 50;

/// The members `site`, `pathname`, `locale` and `matched`.
pub(super) struct MatchResult<'a, 'm> {
    site: &'a Site,
    pathname: &'a str,
    locale: &'a str,
    found: &'a Match<'m>,
}

impl<'a, 'm> MatchResult<'a, 'm> {
    /// `requested` is the locale of the parameter. `host` is the position of the host of the request,
    /// else of the document, if the site has several.
    pub(super) fn new(
        site: &'a Site,
        pathname: &'a str,
        found: &'a Match<'m>,
        requested: Option<&Locale>,
        host: Option<usize>,
    ) -> Self {
        let locales = site.rules.locales();
        // The path decides; if it has no locale, the parameter does, if the site has it (D9).
        let requested = requested.and_then(|locale| locales.get(locale.as_str()));
        let requested = requested.map(SiteLocale::code);
        let is_shared = |locale: &&Locale| found.shared.is_empty() || found.shared.contains(locale);
        let mut requested = requested.filter(is_shared);
        let mut first = found.shared.first().unwrap_or(locales.default_locale().code());
        if let Some(host) = host {
            let mut own = site.hosts.locales_of(host).map(|at| &locales.codes()[at]);
            requested = requested.filter(|locale| own.clone().any(|own| own == *locale));
            first = own.find(is_shared).unwrap_or(first);
        }
        let locale = found.locale.map(SiteLocale::code).or(requested).unwrap_or(first).as_str();
        Self { site, pathname, locale, found }
    }

    /// Writes the members without the braces around them.
    pub(super) fn write(&self, json: &mut Json) {
        json.raw(r#""site":"#).word(&self.site.key);
        json.raw(r#","pathname":"#).text(self.pathname);
        json.raw(r#","locale":"#).word(self.locale);
        json.raw(r#","matched":{"collectionType":"#).word(self.found.rule.content_type.as_str());
        json.raw(r#","rule":"#).text(self.found.template.as_str());
        json.raw(r#","params":"#);
        self.write_params(json);
        json.raw("}");
    }

    /// The values of the placeholders, and always `locale`.
    fn write_params(&self, json: &mut Json) {
        let mut separator = "{";
        if !self.found.params.has_locale() {
            json.raw(r#"{"locale":"#).word(self.locale);
            separator = ",";
        }
        for (name, value) in self.found.params.iter() {
            json.raw(separator).word(name).raw(":").text(value);
            separator = ",";
        }
        json.raw("}");
    }
}

const NO_MATCH: &str = "No content type matches the given pathname";

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
            .map(|candidate| CandidateDetails {
                collection_type: candidate.rule.content_type.to_string(),
                rule: candidate.template.to_string(),
                reason: candidate.mismatch.reason.as_str(),
                segment: candidate.mismatch.segment,
            })
            .collect()
    });
    ApiError::not_found(NO_MATCH).with(Details::NoMatch {
        pathname: pathname.to_owned(),
        normalized_path: parsed.normalized(),
        candidates,
        gone: None,
    })
}

/// The error for a path that a document had until this time, and which is not published now.
pub(super) fn no_match_since(pathname: &str, parsed: &Pathname<'_>, gone: String) -> ApiError {
    ApiError::not_found(NO_MATCH).with(Details::NoMatch {
        pathname: pathname.to_owned(),
        normalized_path: parsed.normalized(),
        candidates: None,
        gone: Some(gone),
    })
}
