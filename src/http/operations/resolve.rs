//! `GET /api/resolve`: from a pathname to its document. It extends `/api/get-content-type` by the
//! document that the site's path index has for the path.

use axum::http::HeaderMap;

use super::match_result::{MatchResult, no_match};
use super::path_match::{PathMatch, path_index};
use crate::app::App;
use crate::http::request::params::{
    LOCALE, PATHNAME, SITE, known_site, parse_locale, parse_pathname, required,
};
use crate::http::request::query::{Param, parse};
use crate::http::response::conditional::conditional_json;
use crate::http::response::envelope::{HttpResponse, success_text};
use crate::http::response::error::ApiError;
use crate::http::response::json::Json;
use crate::rules::Pathname;
use crate::site::{ResolveBy, Site};
use crate::snapshot::PublicUrl;

const PARAMS: [Param; 3] = [SITE, PATHNAME, LOCALE];

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
    if site.resolve != ResolveBy::Documents {
        let message = format!("site \"{}\" does not have resolve = \"documents\"", site.key);
        return Err(ApiError::not_configured(message));
    }
    let parsed = Pathname::parse(&pathname);
    let index = path_index(app, site);
    let path_match = PathMatch::find(site, &parsed, index.as_ref());
    let document = path_match.owner;
    // A path without a document may get one at any time.
    let cache_control = match document {
        None => &app.http.cache_policy.resolve_miss,
        Some(_) => path_match.cache_control(app),
    };
    let mut response = match &path_match.found {
        None => {
            let error = no_match(site, &pathname, &parsed, false);
            error.into_cacheable_response(cache_control, headers)
        }
        Some(found) => {
            let result = MatchResult::new(site, &pathname, found, locale.as_ref());
            let document = DocumentResult { site, document, path: parsed.normalized() };
            let text = success_text(|json| {
                json.raw("{");
                result.write(json);
                document.write(json);
                json.raw("}");
            });
            conditional_json(text, cache_control, headers)
        }
    };
    path_match.insert_resolved_by(&mut response);
    Ok(response)
}
