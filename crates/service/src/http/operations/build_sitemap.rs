//! `GET /api/build-sitemap`: the public URLs of one content type of a site.

mod url_list;
mod validation;

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::HeaderName;
use axum::response::Response;

use self::url_list::url_list;
use crate::app::App;
use crate::http::request::call::Call;
use crate::http::request::params::{MAX_UID_BYTES, SITE, parse_boolean, required};
use crate::http::request::query::{Param, echo, parse};
use crate::http::response::cache_status::insert_cache_status;
use crate::http::response::error::ApiError;
use frontend_map_cache::CachedSnapshot;
use frontend_map_catalog::site::{PAGES, Site};
use frontend_map_catalog::sitemap::Form;

/// The query parameters.
pub(in crate::http) const PARAMS: [Param; 5] = [
    SITE,
    Param { name: "contentType", max_bytes: MAX_UID_BYTES },
    Param::unlimited("xml"),
    Param::unlimited("validate"),
    Param::unlimited("content"),
];

/// The number of documents that were left out because they have no URL (D13).
const X_SKIPPED_DOCUMENTS: HeaderName = HeaderName::from_static("x-skipped-documents");

/// The checked parameters.
struct Params<'a> {
    site: &'a Arc<Site>,
    uid: Cow<'a, str>,
    xml: bool,
    validate: bool,
    /// Whether the validation judges the content of pages.
    content: bool,
}

/// The response: a list of URLs, or with `validate=true` a validation run.
pub(in crate::http) async fn get(Call { app, query, headers }: Call) -> Result<Response, ApiError> {
    let params = Params::parse(&app, query.as_deref())?;
    if params.validate {
        return validation::validate(&app, &params, &headers).await;
    }
    params.check_base_urls()?;
    let form = if params.xml { Form::Xml } else { Form::Json };
    if let Some(pages) = params.pages(&app).await {
        return Ok(url_list(&app, &pages, params.site, &params.uid, form, &headers));
    }
    let served = app.snapshots.get_listed(params.site, &params.uid).await?;
    let mut response = url_list(&app, &served.cached, params.site, &params.uid, form, &headers);
    insert_cache_status(response.headers_mut(), &served);
    Ok(response)
}

impl<'a> Params<'a> {
    fn parse(app: &'a App, query: Option<&'a str>) -> Result<Self, ApiError> {
        let [key, uid, xml, validate, content] = parse(query, &PARAMS)?;
        let key = required("site", key)?;
        let uid = required("contentType", uid)?;
        let xml = parse_boolean("xml", xml.as_deref())?;
        let validate = parse_boolean("validate", validate.as_deref())?;
        let content = parse_boolean("content", content.as_deref())?;
        if content && !validate {
            return Err(ApiError::validation("`content` needs `validate=true`"));
        }
        let refuse = |what: &str| {
            let [uid, key] = [echo(&uid), echo(&key)];
            ApiError::validation(format!("contentType {uid}, site {key}: {what}"))
        };
        let site = app.sites.get(&key).ok_or_else(|| refuse("there is no such `site`"))?;
        if !site.has_group(&uid) {
            return Err(refuse("the site has no rule for this `contentType`"));
        }
        Ok(Self { site, uid, xml, validate, content })
    }

    /// The pages outside the CMS, if these are requested.
    async fn pages(&self, app: &App) -> Option<CachedSnapshot> {
        if self.uid == PAGES { app.snapshots.get_listed_pages(self.site).await } else { None }
    }

    /// 501 if a locale has no base URL in which the content type can have URLs.
    fn check_base_urls(&self) -> Result<(), ApiError> {
        let missing = match &*self.uid {
            PAGES => self.site.first_page_without_base(),
            uid => self.site.first_without_base([uid]),
        };
        ApiError::if_no_base_url(self.site, missing)
    }
}
