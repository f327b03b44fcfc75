//! The errors that clients see. Each error response is built from an [`ApiError`]; errors of other
//! modules (`ContentError`) are converted here and nowhere else.

use std::borrow::Cow;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONNECTION, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::envelope::{HttpResponse, json_response};
use crate::http::responses::{Details, ErrorMembers, Failure};
use frontend_map_cache::walk_failure;
use frontend_map_catalog::json;
use frontend_map_catalog::site::Site;
use frontend_map_cms::ContentError;
use frontend_map_fleet::WalkFailure;
use frontend_map_rules::ContentTypeUid;

/// `Retry-After` in seconds, where the CMS sends none (D27).
const RETRY_AFTER_DEFAULT: u64 = 5;
/// `Retry-After` in seconds at the limit of validation runs: most runs take longer.
const RETRY_AFTER_VALIDATIONS: u64 = 10;
/// `Retry-After` in seconds at the in-flight limit: most requests take less.
const RETRY_AFTER_OVERLOAD: u64 = 1;
/// The longest `Retry-After` of the CMS that is passed on, in seconds (D27).
const RETRY_AFTER_MAX: u64 = 60;

/// An error response: status, name, message and maybe details.
#[derive(Debug)]
pub(in crate::http) struct ApiError {
    status: StatusCode,
    name: &'static str,
    message: Cow<'static, str>,
    details: Option<Box<Details>>,
    /// In seconds.
    retry_after: Option<u64>,
}

impl ApiError {
    fn new(status: StatusCode, name: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, name, message: message.into(), details: None, retry_after: None }
    }

    /// 400: a parameter is missing or invalid. The message names it.
    pub(in crate::http) fn validation(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "ValidationError", message)
    }

    /// 404: no such rule or document.
    pub(in crate::http) fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NotFoundError", message)
    }

    /// 404 with a code for what there is none of: `no_route`, `no_site` for a site, or host of a site, in
    /// the path of a sitemap file, `no_file` for a sitemap file that the site does not have.
    pub(in crate::http) fn missing(reason: &'static str) -> Self {
        Self::not_found("there is nothing at this path").with(Details::Missing { reason })
    }

    /// 501: a setting that the request needs is not configured.
    pub(in crate::http) fn not_configured(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::NOT_IMPLEMENTED, "NotImplementedError", message)
    }

    /// 405: the route has only these methods ("GET, HEAD and OPTIONS").
    pub(in crate::http) fn method_not_allowed(allowed: &str) -> Self {
        let message = format!("only {allowed} are allowed here");
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowedError", message)
    }

    /// 401: the bearer token is missing or wrong.
    pub(in crate::http) fn unauthorized() -> Self {
        let message = "the bearer token is missing or wrong";
        Self::new(StatusCode::UNAUTHORIZED, "UnauthorizedError", message)
    }

    /// 403: the request has a bearer token, and it is wrong.
    pub(in crate::http) fn forbidden() -> Self {
        Self::new(StatusCode::FORBIDDEN, "ForbiddenError", "the bearer token is wrong")
    }

    fn unavailable(message: impl Into<Cow<'static, str>>, retry_after: u64) -> Self {
        let error = Self::new(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailableError", message);
        Self { retry_after: Some(retry_after), ..error }
    }

    /// 503: the limit of validation runs is reached.
    pub(in crate::http) fn too_many_validations() -> Self {
        Self::unavailable("too many validations are in progress or queued", RETRY_AFTER_VALIDATIONS)
    }

    /// 503: the in-flight limit is reached.
    pub(in crate::http) fn overloaded() -> Self {
        Self::unavailable("too many requests are in flight", RETRY_AFTER_OVERLOAD)
    }

    /// 503: the documents of this content type are not known, or not any more.
    pub(in crate::http) fn documents_not_known(uid: &ContentTypeUid) -> Self {
        let message = format!("the documents of {uid} are not known at present");
        Self::unavailable(message, RETRY_AFTER_DEFAULT)
    }

    /// 503: this instance has not read the change log of its fleet yet.
    pub(in crate::http) fn changes_not_known() -> Self {
        let message = "the changes of the site are not known at present";
        Self::unavailable(message, RETRY_AFTER_OVERLOAD)
    }

    /// 503: this instance has not adopted the changes up to the cursor yet.
    pub(in crate::http) fn pages_lack_changes() -> Self {
        let message = "the list does not have the changes up to `cursor` yet";
        Self::unavailable(message, RETRY_AFTER_OVERLOAD)
    }

    /// 503: the other instances cannot be told what is cleared, because Redis does not answer.
    pub(in crate::http) fn misses_not_shared() -> Self {
        let message = "the list that the instances share cannot be changed at present";
        Self::unavailable(message, RETRY_AFTER_DEFAULT)
    }

    /// 503: the content of the site has not been read for its links yet.
    pub(in crate::http) fn links_not_read() -> Self {
        let message = "the links in the content of the site have not been read yet; they are read after a start; the log says why this fails";
        Self::unavailable(message, RETRY_AFTER_DEFAULT)
    }

    /// 414: the request target is longer than this many bytes.
    pub(in crate::http) fn target_too_long(max_bytes: usize) -> Self {
        let message = format!("the request target is longer than {max_bytes} bytes");
        Self::new(StatusCode::URI_TOO_LONG, "URITooLongError", message)
    }

    /// 413: the body is longer than this many bytes.
    pub(in crate::http) fn payload_too_large(max_bytes: usize) -> Self {
        let message = format!("the body is longer than {max_bytes} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "PayloadTooLargeError", message)
    }

    /// 408: the body was not complete in this time.
    pub(in crate::http) fn request_timeout(limit: Duration) -> Self {
        let message = format!("the body was not complete within {} seconds", limit.as_secs());
        Self::new(StatusCode::REQUEST_TIMEOUT, "RequestTimeoutError", message)
    }

    /// 500: a fault of the service; the log has the details.
    pub(in crate::http) fn internal() -> Self {
        let message = "Internal Server Error";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError", message)
    }

    /// 501: the locale at this position of the site's locales has no base URL.
    pub(in crate::http) fn no_base_url(site: &Site, locale: usize) -> Self {
        Self::not_configured(format!("{} is not configured", site.missing_variable(locale)))
    }

    /// 501 if a locale has no base URL, of which `locale` is the first: a list of URLs is complete or an
    /// error.
    pub(in crate::http) fn if_no_base_url(site: &Site, locale: Option<usize>) -> Result<(), Self> {
        locale.map_or(Ok(()), |locale| Err(Self::no_base_url(site, locale)))
    }

    /// This error with details.
    pub(in crate::http) fn with(self, details: Details) -> Self {
        Self { details: Some(Box::new(details)), ..self }
    }
}

impl From<ContentError> for ApiError {
    fn from(error: ContentError) -> Self {
        let message = error.to_string();
        match walk_failure(&error) {
            WalkFailure::Unavailable { retry_after } => {
                Self::unavailable(message, retry_after_seconds(retry_after))
            }
            WalkFailure::TimedOut => {
                Self::new(StatusCode::GATEWAY_TIMEOUT, "GatewayTimeoutError", message)
            }
            WalkFailure::Unusable => Self::new(StatusCode::BAD_GATEWAY, "BadGatewayError", message),
        }
    }
}

fn retry_after_seconds(from_cms: Option<u64>) -> u64 {
    from_cms.unwrap_or(RETRY_AFTER_DEFAULT).clamp(1, RETRY_AFTER_MAX)
}

/// The response to a request whose body has two framings. It closes the connection: where the next
/// request begins is not known.
pub(in crate::http) fn two_framings() -> HttpResponse {
    let message = "a request must not have both Content-Length and Transfer-Encoding";
    let mut response = ApiError::validation(message).into_http_response();
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

impl ApiError {
    /// The response.
    pub(in crate::http) fn into_http_response(self) -> HttpResponse {
        self.into_response_reusing(HeaderMap::new())
    }

    /// The response with a `Cache-Control`. It reuses the memory of the request's headers.
    pub(in crate::http) fn into_cacheable_response(
        self,
        cache_control: &HeaderValue,
        request_headers: HeaderMap,
    ) -> HttpResponse {
        let mut response = self.into_response_reusing(request_headers);
        response.headers_mut().insert(CACHE_CONTROL, cache_control.clone());
        response
    }

    /// The text of the response.
    pub(in crate::http) fn text(&self) -> Vec<u8> {
        let Self { name, message, details, .. } = self;
        let (status, details) = (self.status.as_u16(), details.as_deref());
        json::to_vec(&Failure { data: (), error: ErrorMembers { status, name, message, details } })
    }

    fn into_response_reusing(self, recycled: HeaderMap) -> HttpResponse {
        let Self { status, retry_after, .. } = self;
        let mut response = json_response(status, self.text(), recycled);
        if status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        self.into_http_response().map(Body::new)
    }
}
