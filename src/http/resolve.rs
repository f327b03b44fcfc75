//! From a pathname to its document: what operation 4.1 says, and what a path index adds to it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::content_type::{Matched, PATHNAME, cached, conditional, full, no_match, pathname};
use super::envelope::{Whole, success_text};
use super::error::ApiError;
use super::param::{LOCALE, SITE, known_site, locale, required};
use super::query::{Param, parse};
use super::resolved_by::{Choice, RESOLVED_BY, knowledge};
use crate::app::App;
use crate::rules::Pathname;
use crate::site::{ResolveBy, Site};
use crate::snapshot::PublicUrl;

const PARAMS: [Param; 3] = [SITE, PATHNAME, LOCALE];

/// Shape 2.2, and the document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Whereabouts<'a, 'm> {
    site: &'a str,
    pathname: &'a str,
    locale: &'a str,
    matched: Matched<'a, 'm>,
    document_id: Option<&'a str>,
    canonical_url: Option<String>,
    alternates: Alternates<'a>,
}

/// The absolute URLs of all versions by locale; none without a document or a base URL.
struct Alternates<'a> {
    site: &'a Site,
    document: Option<PublicUrl<'a>>,
}

impl Serialize for Alternates<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut alternates = to.serialize_map(None)?;
        let locales = self.site.rules.locales().as_slice();
        if let (Some(document), Some(base)) = (self.document, &self.site.base) {
            for url in document.versions() {
                alternates
                    .serialize_entry(locales[url.locale()].as_str(), &base.join(url.path()))?;
            }
        }
        alternates.end()
    }
}

/// `GET /api/resolve`
pub(super) async fn get(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    answer(&app, query.as_deref(), &headers).unwrap_or_else(ApiError::whole).map(Body::new)
}

fn answer(app: &App, query: Option<&str>, headers: &HeaderMap) -> Result<Whole, ApiError> {
    let [site, asked_pathname, asked_locale] = parse(query, &PARAMS)?;
    let site = known_site(app, &required("site", site)?)?;
    let pathname = pathname(asked_pathname)?;
    let asked_locale = locale(asked_locale.as_deref())?;
    if site.resolve != ResolveBy::Documents {
        let message = format!("site \"{}\" does not have resolve = \"documents\"", site.key);
        return Err(ApiError::not_configured(message));
    }
    let parsed = Pathname::parse(&pathname);
    let index = knowledge(app, site);
    let choice = Choice::make(site, &parsed, index.as_ref());
    let document = choice.owner;
    let mut response = match &choice.found {
        None => no_match(site, &pathname, &parsed, false).whole(),
        Some(found) => {
            let resolved = full(site, &pathname, found, asked_locale.as_ref());
            let path = document.is_some().then(|| parsed.normalized());
            let text = success_text(Whereabouts {
                site: resolved.site,
                pathname: resolved.pathname,
                locale: resolved.locale,
                matched: resolved.matched,
                document_id: document.map(PublicUrl::document_id),
                canonical_url: site.base.as_ref().zip(path).map(|(base, path)| base.join(&path)),
                alternates: Alternates { site, document },
            });
            conditional(text, headers)
        }
    };
    // A document may come to a path that nobody owns.
    let passing = choice.passing || document.is_none();
    let caching = if passing { &app.caching.resolve_miss } else { &app.caching.resolve };
    if let Some(by) = choice.by {
        response.headers_mut().insert(RESOLVED_BY, by);
    }
    Ok(cached(response, caching))
}
