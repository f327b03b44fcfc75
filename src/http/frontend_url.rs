//! Operation 4.2: the public URL of one document.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::bearer::admit;
use super::copy::dress_stale;
use super::envelope::success;
use super::error::{ApiError, Details};
use super::param::{LOCALE, SITE, UID_BYTES, known_site, locale, required};
use super::query::{Param, echo, parse};
use crate::app::{App, Found};
use crate::content::{ContentError, Document, Status};
use crate::frontend_url::frontend_path;
use crate::rules::{Locale, is_document_id};
use crate::site::Site;

const PARAMS: [Param; 5] = [
    Param { name: "uid", max_bytes: UID_BYTES },
    Param { name: "documentId", max_bytes: 64 },
    LOCALE,
    Param::short("status"),
    SITE,
];

/// Shape 2.4.
#[derive(Serialize)]
struct FrontendUrl {
    url: String,
    path: String,
}

/// The checked parameters.
struct Asked<'a> {
    uid: Cow<'a, str>,
    document_id: Cow<'a, str>,
    locale: Option<Locale>,
    status: Status,
    site: Option<&'a Site>,
}

/// `GET /api/frontend-url`, answered in the order of D21.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let asked = Asked::parse(&app, query.as_deref())?;
    if asked.status == Status::Published {
        return answer(&app, &asked).await;
    }
    let answered = match admit(app.auth.draft.as_ref(), &headers) {
        Ok(()) => answer(&app, &asked).await,
        Err(refused) => Err(refused),
    };
    let mut response = answered.into_response();
    // Whatever the answer is: it tells of what is not public.
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

async fn answer(app: &App, asked: &Asked<'_>) -> Result<Response, ApiError> {
    let site = asked.site_with_rule(app)?;
    let locale = asked.locale_of(site)?;
    let found = fetch(app, site, asked, locale).await?;
    let stale = found.stale;
    let mut response = url(site, asked, locale, found).into_response();
    if let Some(age) = stale {
        dress_stale(response.headers_mut(), age);
    }
    Ok(response)
}

fn url(
    site: &Site,
    asked: &Asked<'_>,
    locale: &Locale,
    found: Found,
) -> Result<Response, ApiError> {
    let document = found.document.ok_or_else(|| no_version(asked.status, locale))?;
    let path = path(site, asked, &document)?;
    let base = site.base.as_ref().ok_or_else(|| no_base(site, &path))?;
    Ok(success(FrontendUrl { url: base.join(&path), path }).map(Body::new))
}

fn no_version(status: Status, locale: &Locale) -> ApiError {
    let status = status.as_str();
    let text = format!("there is no {status} version of this document in locale \"{locale}\"");
    ApiError::not_found(text)
}

impl<'a> Asked<'a> {
    fn parse(app: &'a App, query: Option<&'a str>) -> Result<Self, ApiError> {
        let [uid, document_id, asked_locale, asked_status, site] = parse(query, &PARAMS)?;
        let asked = Self {
            uid: required("uid", uid)?,
            document_id: required("documentId", document_id)?,
            locale: locale(asked_locale.as_deref())?,
            status: status(asked_status.as_deref())?,
            site: site.map(|key| known_site(app, &key)).transpose()?,
        };
        if !is_document_id(&asked.document_id) {
            let message = format!("`documentId` is not one: {}", echo(&asked.document_id));
            return Err(ApiError::validation(message));
        }
        Ok(asked)
    }

    /// The site that is asked for, or the one that the type belongs to (D17).
    fn site_with_rule(&self, app: &'a App) -> Result<&'a Site, ApiError> {
        let site = self.site.or_else(|| app.sites.of_type(&self.uid));
        site.filter(|site| site.has_rule(&self.uid)).ok_or_else(|| {
            let uid = echo(&self.uid);
            ApiError::not_found(format!("there is no frontend URL rule for content type {uid}"))
        })
    }

    fn locale_of(&self, site: &'a Site) -> Result<&'a Locale, ApiError> {
        let locales = site.rules.locales();
        let Some(asked) = &self.locale else {
            return Ok(locales.default_locale());
        };
        locales.get(asked.as_str()).ok_or_else(|| {
            ApiError::not_found(format!("site \"{}\" has no locale \"{asked}\"", site.key))
        })
    }
}

fn status(value: Option<&str>) -> Result<Status, ApiError> {
    match value {
        None | Some("published") => Ok(Status::Published),
        Some("draft") => Ok(Status::Draft),
        Some(text) => {
            let message = format!("`status` is draft or published, not {}", echo(text));
            Err(ApiError::validation(message))
        }
    }
}

async fn fetch(
    app: &App,
    site: &Site,
    asked: &Asked<'_>,
    locale: &Locale,
) -> Result<Found, ApiError> {
    let found = app.document(site, &asked.uid, &asked.document_id, locale, asked.status).await;
    Ok(found.inspect_err(|error| tell(asked, error))?)
}

/// That the CMS is left alone is told once, and not by each who would have asked it.
fn tell(asked: &Asked<'_>, error: &ContentError) {
    let (uid, document) = (&asked.uid, &asked.document_id);
    if matches!(error, ContentError::CircuitOpen { .. }) {
        tracing::debug!(%uid, %document, %error, "a document was not asked for");
    } else {
        tracing::warn!(%uid, %document, %error, "a document could not be read");
    }
}

fn path(site: &Site, asked: &Asked<'_>, document: &Document<'_>) -> Result<String, ApiError> {
    let drafts = asked.status == Status::Draft;
    match frontend_path(&site.rules, site.base.as_ref(), &asked.uid, document, drafts) {
        Some(Ok(found)) => Ok(found.path),
        Some(Err(no_url)) => {
            Err(ApiError::not_found("this document has no frontend URL").with(Details::NoUrl {
                reason: no_url.reason.to_string(),
                rule: no_url.template.to_string(),
            }))
        }
        None => Err(ApiError::not_found("there is no frontend URL rule for this content type")),
    }
}

fn no_base(site: &Site, path: &str) -> ApiError {
    let variable = Site::base_url_variable(&site.key);
    ApiError::not_configured(format!("{variable} is not configured"))
        .with(Details::Path { path: path.to_owned() })
}
