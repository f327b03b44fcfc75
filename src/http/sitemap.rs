//! Operation 4.3: the public URLs of one content type of a site.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::envelope::success;
use super::error::ApiError;
use super::param::{SITE, UID_BYTES, boolean, required};
use super::query::{Param, echo, parse};
use crate::app::App;
use crate::frontend_url::BaseUrl;
use crate::site::Site;
use crate::sitemap::{Sitemap, xml};

const PARAMS: [Param; 4] = [
    SITE,
    Param { name: "contentType", max_bytes: UID_BYTES },
    Param::short("xml"),
    Param::short("validate"),
];

/// How many documents were left out because they have no URL (D13).
const SKIPPED: HeaderName = HeaderName::from_static("x-skipped-documents");

/// Shape 2.5.
#[derive(Serialize)]
struct Urls<'a> {
    count: usize,
    urls: &'a [String],
}

/// The checked parameters.
struct Asked<'a> {
    site: &'a Site,
    uid: Cow<'a, str>,
    xml: bool,
    validate: bool,
}

/// `GET /api/build-sitemap`
pub(super) async fn get(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let asked = Asked::parse(&app, query.as_deref())?;
    let base = asked.base()?;
    let sitemap = app.sitemap(asked.site, base, &asked.uid).await.map_err(|error| {
        tracing::warn!(site = asked.site.key, uid = %asked.uid, %error, "a sitemap could not be built");
        error
    })?;
    let skipped = HeaderValue::from(sitemap.skipped.total());
    let mut response = if asked.validate {
        success(app.validator.report(&asked.site.key, &asked.uid, sitemap.urls).await)
            .map(Body::new)
    } else {
        listed(&sitemap, asked.xml)
    };
    response.headers_mut().insert(SKIPPED, skipped);
    Ok(response)
}

fn listed(sitemap: &Sitemap, as_xml: bool) -> Response {
    let urls = &sitemap.urls;
    if !as_xml {
        return success(Urls { count: urls.len(), urls }).map(Body::new);
    }
    match xml(urls) {
        Ok(body) => ([(CONTENT_TYPE, "application/xml")], body).into_response(),
        Err(error) => {
            tracing::error!(%error, "a sitemap could not be written as XML");
            ApiError::internal().into_response()
        }
    }
}

impl<'a> Asked<'a> {
    fn parse(app: &'a App, query: Option<&'a str>) -> Result<Self, ApiError> {
        let [key, uid, xml, validate] = parse(query, &PARAMS)?;
        let key = required("site", key)?;
        let uid = required("contentType", uid)?;
        let xml = boolean("xml", xml.as_deref())?;
        let validate = boolean("validate", validate.as_deref())?;
        let refuse = |what: &str| {
            let [uid, key] = [echo(&uid), echo(&key)];
            ApiError::validation(format!("contentType {uid}, site {key}: {what}"))
        };
        let site = app.sites.get(&key).ok_or_else(|| refuse("there is no such `site`"))?;
        if !site.has_rule(&uid) {
            return Err(refuse("the site has no rule for this `contentType`"));
        }
        Ok(Self { site, uid, xml, validate })
    }

    fn base(&self) -> Result<&'a BaseUrl, ApiError> {
        self.site.base.as_ref().ok_or_else(|| {
            let variable = Site::base_url_variable(&self.site.key);
            ApiError::not_configured(format!("{variable} is not configured"))
        })
    }
}
