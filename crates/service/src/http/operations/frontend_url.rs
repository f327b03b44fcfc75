//! `GET /api/frontend-url`: the public URL of one document.

mod difference;
mod path_or_reason;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};

use super::version_paths::shared_path;
use crate::app::{App, log_unread_documents};
use crate::http::request::bearer::require_bearer;
use crate::http::request::call::Call;
use crate::http::request::params::{
    LOCALE, MAX_UID_BYTES, SITE, known_site, parse_boolean, parse_document_id,
    parse_document_locale, required,
};
use crate::http::request::query::{Param, echo, parse};
use crate::http::response::cache_status::insert_last_good_status;
use crate::http::response::envelope::success;
use crate::http::response::error::ApiError;
use crate::http::response::insert_no_store;
use crate::http::responses::{Details, FrontendUrl};
use frontend_map_cache::{FoundDocument, Stale};
use frontend_map_catalog::path_index::VersionPath;
use frontend_map_catalog::site::Site;
use frontend_map_cms::{ContentError, Document, Status};
use frontend_map_rules::frontend_url::NoUrlReason;
use frontend_map_rules::{Locale, SiteLocale};

pub(super) use difference::update_if_different;
pub(super) use path_or_reason::path;
use path_or_reason::{in_snapshot, newest};

/// The parameters that name a version, those of `/api/resolve` too.
const VERSION_PARAMS: [Param; 5] = [
    Param { name: "uid", max_bytes: MAX_UID_BYTES },
    Param { name: "documentId", max_bytes: 64 },
    LOCALE,
    Param::unlimited("status"),
    SITE,
];

/// The query parameters.
pub(in crate::http) const PARAMS: [Param; 6] = {
    let [uid, document_id, locale, status, site] = VERSION_PARAMS;
    [uid, document_id, locale, status, site, Param::unlimited(DETAILS)]
};

/// The parameter for what the response has beyond the URL.
const DETAILS: &str = "details";

/// The reason of a content type without a rule.
pub(super) const NO_RULE: &str = "no_rule";
/// The reason of a document without a version of the requested status in the requested locale.
pub(super) const NO_VERSION: &str = "no_version";

/// The checked parameters.
pub(super) struct Params<'a> {
    pub(super) uid: Cow<'a, str>,
    pub(super) document_id: Cow<'a, str>,
    locale: Option<Locale>,
    pub(super) status: Status,
    pub(super) site: Option<&'a Arc<Site>>,
    details: bool,
}

/// The response. Its errors have the order of D21: parameters, rule, document, URL, base URL.
pub(in crate::http) async fn get(Call { app, query, headers }: Call) -> Result<Response, ApiError> {
    let [version @ .., details] = parse(query.as_deref(), &PARAMS)?;
    let details = parse_boolean(DETAILS, details.as_deref())?;
    let params = Params { details, ..Params::of_version(&app, version)? };
    if params.status == Status::Published {
        return respond(&app, &params).await;
    }
    Ok(draft_response(&app, &headers, respond(&app, &params)).await)
}

/// This response, if the request has the token of drafts. No cache keeps it, not even an error: that
/// reveals what is not public.
pub(super) async fn draft_response(
    app: &App,
    headers: &HeaderMap,
    response: impl Future<Output = Result<Response, ApiError>>,
) -> Response {
    let result = match require_bearer(app.http.draft_token.as_ref(), headers) {
        Ok(()) => response.await,
        Err(refused) => Err(refused),
    };
    let mut response = result.into_response();
    insert_no_store(response.headers_mut());
    response
}

async fn respond(app: &App, params: &Params<'_>) -> Result<Response, ApiError> {
    let site = params.site_with_rule(app)?;
    let locale = params.locale_of(site)?;
    let found = app.documents.get(site, &params.uid, &params.document_id, locale, params.status);
    let (path, age) = match found.await {
        Ok(FoundDocument { document, stale: None }) => {
            if params.status == Status::Published {
                let (uid, id) = (&*params.uid, &*params.document_id);
                update_if_different(app, site, uid, id, locale, document.as_deref()).await;
            }
            (path_of(app, site, params, locale, document.as_deref()), None)
        }
        Ok(FoundDocument { document, stale: Some(Stale { age, error }) }) => {
            let last_good = path_of(app, site, params, locale, document.as_deref());
            let found = newest(Some((last_good, age)), in_snapshot(app, site, params, locale));
            last_good_path(app, params, &error, found)?
        }
        Err(error) => {
            let found = newest(None, in_snapshot(app, site, params, locale));
            last_good_path(app, params, &error, found)?
        }
    };
    let cacheable = |mut response: Response| {
        response.headers_mut().insert(CACHE_CONTROL, app.http.cache_policy.url.clone());
        response
    };
    let url = path.and_then(|(path, locale)| url(app, site, params, path, locale));
    let mut response = url.map(cacheable).into_response();
    if let Some(age) = age {
        insert_last_good_status(response.headers_mut(), age);
    }
    Ok(response)
}

/// The path of a version and the position of its locale, or the 404 that says why it has none.
type PathOfVersion = Result<(String, usize), ApiError>;

fn url(
    app: &App,
    site: &Site,
    params: &Params<'_>,
    path: String,
    locale: usize,
) -> Result<Response, ApiError> {
    let url = site.hosts.url(locale, &path).ok_or_else(|| no_base(site, locale, &path))?;
    let shared = || shared_path(app, site, params.version(&path, locale));
    let shared_path = if params.details { shared() } else { None };
    Ok(success(FrontendUrl { url, path, shared_path }).map(Body::new))
}

fn path_of(
    app: &App,
    site: &Site,
    params: &Params<'_>,
    locale: &Locale,
    document: Option<&Document<'_>>,
) -> PathOfVersion {
    path(app, site, params, document.ok_or_else(|| no_version(params.status, locale))?)
}

/// What is known while the CMS fails in this way, else this error.
fn last_good_path(
    app: &App,
    params: &Params<'_>,
    error: &ContentError,
    found: Option<(PathOfVersion, Duration)>,
) -> Result<(PathOfVersion, Option<Duration>), ApiError> {
    let Some((path, age)) = found else {
        log_unread_documents(app, &params.uid, error);
        return Err(error.clone().into());
    };
    app.documents.record_last_good();
    Ok((path, Some(age)))
}

pub(super) fn no_version(status: Status, locale: &Locale) -> ApiError {
    let status = status.as_str();
    let text = format!("there is no {status} version of this document in locale \"{locale}\"");
    no_url(text, NO_VERSION)
}

/// A 404 with a reason that has no rule.
fn no_url(message: String, reason: impl Into<Cow<'static, str>>) -> ApiError {
    ApiError::not_found(message).with(Details::NoUrl { reason: reason.into(), rule: None })
}

impl<'a> Params<'a> {
    pub(super) fn parse(app: &'a App, query: Option<&'a str>) -> Result<Self, ApiError> {
        Self::of_version(app, parse(query, &VERSION_PARAMS)?)
    }

    pub(super) fn of_version(
        app: &'a App,
        [uid, document_id, locale, status, site]: [Option<Cow<'a, str>>; 5],
    ) -> Result<Self, ApiError> {
        let params = Self {
            uid: required("uid", uid)?,
            document_id: required("documentId", document_id)?,
            locale: parse_document_locale(locale.as_deref())?,
            status: parse_status(status.as_deref())?,
            site: site.map(|key| known_site(app, &key)).transpose()?,
            details: false,
        };
        Ok(Self { document_id: parse_document_id(params.document_id)?, ..params })
    }

    /// The site of the parameter, or the one that the content type belongs to (D17).
    pub(super) fn site_with_rule(&self, app: &'a App) -> Result<&'a Arc<Site>, ApiError> {
        let locale = self.locale.as_ref().map(Locale::as_str);
        let site = self.site.or_else(|| app.sites.of_type(&self.uid, locale));
        site.filter(|site| site.has_rule(&self.uid)).ok_or_else(|| self.no_rule())
    }

    /// The error of a content type without a rule.
    pub(super) fn no_rule(&self) -> ApiError {
        let (uid, site) = (echo(&self.uid), self.site.map(|site| echo(&site.key)));
        let message = match site {
            Some(site) => format!("site {site} has no frontend URL rule for content type {uid}"),
            None => format!("there is no frontend URL rule for content type {uid}"),
        };
        no_url(message, NO_RULE)
    }

    /// The version with this path in the locale at this position.
    pub(super) fn version<'v>(&'v self, path: &'v str, locale: usize) -> VersionPath<'v> {
        let (uid, document_id) = (&*self.uid, &*self.document_id);
        VersionPath { uid, document_id, path, locale }
    }

    pub(super) fn locale_of(&self, site: &'a Site) -> Result<&'a Locale, ApiError> {
        let locales = site.rules.locales();
        let Some(locale) = &self.locale else {
            return Ok(locales.default_locale().code());
        };
        locales.get(locale.as_str()).map(SiteLocale::code).ok_or_else(|| {
            let message = format!("site \"{}\" has no locale \"{locale}\"", site.key);
            no_url(message, NoUrlReason::LocaleUnknown.to_string())
        })
    }
}

/// `draft`, `modified` or `published`; absent is published (D18).
pub(super) fn parse_status(value: Option<&str>) -> Result<Status, ApiError> {
    match value {
        None | Some("published") => Ok(Status::Published),
        // Strapi's panel says `modified` of a published document with unpublished changes.
        Some("draft" | "modified") => Ok(Status::Draft),
        Some(text) => {
            let message =
                format!("`status` must be draft, modified or published, not {}", echo(text));
            Err(ApiError::validation(message))
        }
    }
}

fn no_base(site: &Site, locale: usize, path: &str) -> ApiError {
    ApiError::no_base_url(site, locale).with(Details::Path { path: path.to_owned() })
}
