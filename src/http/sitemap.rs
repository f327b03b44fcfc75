//! Operation 4.3: the public URLs of one content type of a site.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;

use super::error::ApiError;
use super::listed::listed;
use super::param::{SITE, UID_BYTES, boolean, required};
use super::query::{Param, echo, parse};
use super::validation;
use crate::app::App;
use crate::frontend_url::BaseUrl;
use crate::site::Site;
use crate::sitemap::Form;

const PARAMS: [Param; 4] = [
    SITE,
    Param { name: "contentType", max_bytes: UID_BYTES },
    Param::short("xml"),
    Param::short("validate"),
];

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
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let asked = Asked::parse(&app, query.as_deref())?;
    if asked.validate {
        return validation::answer(&app, asked.site, &asked.uid, &headers).await;
    }
    let base = asked.base()?;
    let served = app.snapshot(asked.site, &asked.uid).await?;
    let form = if asked.xml { Form::Xml } else { Form::Json };
    Ok(listed(&app, &served, base, form, &headers))
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
        self.site.base.as_ref().ok_or_else(|| ApiError::no_base_url(&self.site.key))
    }
}
