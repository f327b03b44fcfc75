//! `GET /api/resolve`: from a pathname to its document. It extends `/api/get-content-type` by the
//! document that the site's path index has for the path.

use axum::http::header::AGE;
use axum::http::{HeaderMap, HeaderValue};

use super::match_result::{MatchResult, no_match};
use super::path_match::{ResolvedBy, path_index};
use crate::app::App;
use crate::http::request::params::{
    LOCALE, PATHNAME, SITE, known_site, parse_locale, parse_pathname, required,
};
use crate::http::request::query::{Param, parse};
use crate::http::response::conditional::conditional_json;
use crate::http::response::envelope::{HttpResponse, success_text};
use crate::http::response::error::ApiError;
use crate::http::response::json::Json;
use crate::path_index::{Basis, Decision};
use crate::rules::{ContentTypeUid, Pathname};
use crate::site::Site;
use crate::snapshot::PublicUrl;

/// The query parameters.
pub(in crate::http) const PARAMS: [Param; 3] = [SITE, PATHNAME, LOCALE];

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// The members `documentId`, `canonicalUrl` and `alternates`.
struct DocumentResult<'a> {
    site: &'a Site,
    document: Option<PublicUrl<'a>>,
    path: String,
}

impl DocumentResult<'_> {
    /// Writes the members with a comma before them.
    fn write(&self, json: &mut Json) {
        let id = self.document.map(PublicUrl::document_id);
        let base = self.site.base.as_ref().filter(|_| self.document.is_some());
        let canonical = base.map(|base| base.join(&self.path));
        json.raw(r#","documentId":"#).text_or_null(id);
        json.raw(r#","canonicalUrl":"#).text_or_null(canonical.as_deref());
        json.raw(r#","alternates":{"#);
        self.write_alternates(json);
        json.raw("}");
    }

    /// The absolute URLs of all versions by locale; none without a document or a base URL.
    fn write_alternates(&self, json: &mut Json) {
        let (Some(document), Some(base)) = (self.document, &self.site.base) else {
            return;
        };
        let locales = self.site.rules.locales().as_slice();
        for (position, url) in document.versions().enumerate() {
            json.raw(if position == 0 { "" } else { "," });
            json.word(locales[url.locale()].as_str()).raw(":").text(&base.join(url.path()));
        }
    }
}

/// The response, from memory.
pub(in crate::http) fn get(
    app: &App,
    query: Option<&str>,
    headers: HeaderMap,
) -> Result<HttpResponse, ApiError> {
    let [site, pathname, locale] = parse(query, &PARAMS)?;
    let site = known_site(app, &required("site", site)?)?;
    let pathname = parse_pathname(pathname)?;
    let locale = parse_locale(locale.as_deref())?;
    let parsed = Pathname::parse(&pathname);
    let Some(state) = path_index(app, site) else {
        let message = format!("site \"{}\" does not have resolve = \"documents\"", site.key);
        return Err(ApiError::not_configured(message));
    };
    let Some(decision) = state.index.decide(&site.rules, &parsed) else {
        let error = no_match(site, &pathname, &parsed, false);
        let cache_control = &app.http.cache_policy.resolve_miss;
        let mut response = error.into_cacheable_response(cache_control, headers);
        ResolvedBy::Rules.insert(&mut response);
        return Ok(response);
    };
    if let Basis::Missing(uid) | Basis::Expired(uid) = decision.basis {
        return Ok(not_known(uid, headers));
    }
    let resolved_by = resolved_by(site, &parsed, &decision);
    let policy = &app.http.cache_policy;
    // A path without a document may get one at any time.
    let is_short = decision.owner.is_none() || resolved_by.is_provisional();
    let cache_control = if is_short { &policy.resolve_miss } else { &policy.resolve };
    let result = MatchResult::new(site, &pathname, &decision.found, locale.as_ref());
    let document = DocumentResult { site, document: decision.owner, path: parsed.normalized() };
    let text = success_text(|json| {
        json.raw("{");
        result.write(json);
        document.write(json);
        json.raw("}");
    });
    let mut response = conditional_json(text, cache_control, headers);
    resolved_by.insert(&mut response);
    if decision.basis == Basis::Stale {
        response.headers_mut().insert(AGE, HeaderValue::from(state.age.as_secs()));
    }
    Ok(response)
}

/// 503: this content type could own the path, and its documents are not known (D33).
fn not_known(uid: &ContentTypeUid, headers: HeaderMap) -> HttpResponse {
    ApiError::documents_not_known(uid).into_cacheable_response(&NO_STORE, headers)
}

/// What decided. Documents of a stale index decide only here: `/api/get-content-type` has another
/// rule then.
fn resolved_by(site: &Site, pathname: &Pathname<'_>, decision: &Decision<'_, '_>) -> ResolvedBy {
    let has_owner = decision.owner.is_some();
    if decision.basis != Basis::Stale {
        return if has_owner { ResolvedBy::Documents } else { ResolvedBy::Rules };
    }
    let by_rules = site.rules.find(pathname);
    let agree = by_rules.is_some_and(|found| std::ptr::eq(found.rule, decision.found.rule));
    if agree { ResolvedBy::RulesWithStaleIndex } else { ResolvedBy::StaleDocuments }
}
