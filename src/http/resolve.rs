//! From a pathname to its document: what operation 4.1 says, and what a path index adds to it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;

use super::content_type::{PATHNAME, no_match, pathname};
use super::envelope::{Answer, success_text};
use super::error::ApiError;
use super::json::Json;
use super::param::{LOCALE, SITE, known_site, locale, required};
use super::query::{Param, parse};
use super::resolved::{Resolved, conditional};
use super::resolved_by::{Choice, knowledge};
use crate::app::App;
use crate::rules::Pathname;
use crate::site::{ResolveBy, Site};
use crate::snapshot::PublicUrl;

const PARAMS: [Param; 3] = [SITE, PATHNAME, LOCALE];

/// What is known of the document with a path.
struct Whereabouts<'a> {
    site: &'a Site,
    document: Option<PublicUrl<'a>>,
    path: String,
}

impl Whereabouts<'_> {
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
        for (at, url) in document.versions().enumerate() {
            json.raw(if at == 0 { "" } else { "," });
            json.word(locales[url.locale()].as_str()).raw(":").text(&base.join(url.path()));
        }
    }
}

/// `GET /api/resolve`
pub(super) async fn get(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    answer(&app, query.as_deref(), headers).unwrap_or_else(ApiError::whole).map(Body::new)
}

fn answer(app: &App, query: Option<&str>, headers: HeaderMap) -> Result<Answer, ApiError> {
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
    // A document may come to a path that nobody owns.
    let policy = if document.is_none() { &app.caching.resolve_miss } else { choice.policy(app) };
    let mut answer = match &choice.found {
        None => no_match(site, &pathname, &parsed, false).cached(policy, headers),
        Some(found) => {
            let resolved = Resolved::new(site, &pathname, found, asked_locale.as_ref());
            let whereabouts = Whereabouts { site, document, path: parsed.normalized() };
            let text = success_text(|json| {
                json.raw("{");
                resolved.write(json);
                whereabouts.write(json);
                json.raw("}");
            });
            conditional(text, policy, headers)
        }
    };
    choice.tell(&mut answer);
    Ok(answer)
}
