//! Operation 4.3: the public URLs of one content type of a site.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;

use super::envelope::success;
use super::error::ApiError;
use super::listed::{SKIPPED, listed};
use super::param::{SITE, UID_BYTES, boolean, required};
use super::query::{Param, echo, parse};
use crate::app::App;
use crate::frontend_url::BaseUrl;
use crate::site::Site;
use crate::sitemap::Form;
use crate::validator::Targets;

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
    let base = asked.base()?;
    let served = app.snapshot(asked.site, &asked.uid).await?;
    if !asked.validate {
        let form = if asked.xml { Form::Xml } else { Form::Json };
        return Ok(listed(&app, &served, base, form, &headers));
    }
    let snapshot = Arc::clone(&served.kept.snapshot);
    let targets = Targets::new(asked.site, &asked.uid, snapshot);
    let targets = targets.ok_or_else(|| ApiError::no_base_url(&asked.site.key))?;
    let mut response = success(app.validator.report(&targets).await).map(Body::new);
    let skipped = targets.snapshot.skipped.total();
    response.headers_mut().insert(SKIPPED, HeaderValue::from(skipped));
    Ok(response)
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
