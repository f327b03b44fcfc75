//! The errors that callers see. Everything that is not a 200 is an [`ApiError`]; what our own
//! parts return (`ContentError`, `NoUrl`) becomes one here, and nowhere else.

mod details;

use std::borrow::Cow;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONNECTION, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::envelope::{self, Answer};
use super::json::Json;
use crate::content::ContentError;
use crate::site::Site;

pub(super) use details::{CandidateDetails, Details};

/// After how many seconds to ask again when the CMS doesn't say (D27).
const RETRY_AFTER_DEFAULT: u64 = 5;
/// After how many seconds to ask again when too many validations are under way: most take longer.
const RETRY_AFTER_BUSY: u64 = 10;
/// The same when too many requests are: most take less.
const RETRY_AFTER_CROWDED: u64 = 1;
/// The most seconds that are passed on from the CMS (D27).
const RETRY_AFTER_MOST: u64 = 60;

/// An error answer: status, name, message and maybe details.
#[derive(Debug)]
pub(super) struct ApiError {
    status: StatusCode,
    name: &'static str,
    message: Cow<'static, str>,
    details: Option<Box<Details>>,
    retry_after: Option<u64>,
}

impl ApiError {
    fn new(status: StatusCode, name: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, name, message: message.into(), details: None, retry_after: None }
    }

    /// 400: a parameter is missing or cannot be used. The message names it.
    pub(super) fn validation(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "ValidationError", message)
    }

    /// 404: no such rule or document.
    pub(super) fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NotFoundError", message)
    }

    /// 404: no such route.
    pub(super) fn unknown_route() -> Self {
        Self::not_found("there is nothing at this path")
    }

    /// 501: the setting that the request needs is not there.
    pub(super) fn not_configured(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::NOT_IMPLEMENTED, "NotImplementedError", message)
    }

    /// 405: everything here is read with GET.
    pub(super) fn method_not_allowed() -> Self {
        let message = "only GET, HEAD and OPTIONS are allowed here";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowedError", message)
    }

    /// 405: here even browsers ask for nothing.
    pub(super) fn only_read() -> Self {
        let message = "only GET and HEAD are allowed here";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowedError", message)
    }

    /// 405: a hint is sent with POST.
    pub(super) fn only_post() -> Self {
        let message = "only POST and OPTIONS are allowed here";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowedError", message)
    }

    /// 401: the bearer token is missing or wrong.
    pub(super) fn unauthorized() -> Self {
        let message = "the bearer token is missing or wrong";
        Self::new(StatusCode::UNAUTHORIZED, "UnauthorizedError", message)
    }

    /// 403: there is a bearer token, and it is another one.
    pub(super) fn forbidden() -> Self {
        Self::new(StatusCode::FORBIDDEN, "ForbiddenError", "the bearer token is wrong")
    }

    /// 503: as many runs of URL checks as are let in.
    pub(super) fn busy() -> Self {
        let message = "too many validations are under way or wait for their turn";
        let error = Self::new(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailableError", message);
        Self { retry_after: Some(RETRY_AFTER_BUSY), ..error }
    }

    /// 503: as many requests are under way as are let in.
    pub(super) fn crowded() -> Self {
        let message = "too many requests are under way";
        let error = Self::new(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailableError", message);
        Self { retry_after: Some(RETRY_AFTER_CROWDED), ..error }
    }

    /// 414: the request target is longer than this many bytes.
    pub(super) fn target_too_long(most: usize) -> Self {
        let message = format!("the request target is longer than {most} bytes");
        Self::new(StatusCode::URI_TOO_LONG, "URITooLongError", message)
    }

    /// 400: not exactly one valid `Host`.
    pub(super) fn bad_host() -> Self {
        Self::validation("an HTTP/1.1 request has exactly one valid Host header")
    }

    /// 400: two framings of one body, the way requests are smuggled.
    fn two_framings() -> Self {
        Self::validation("a request has Content-Length or Transfer-Encoding, not both")
    }

    /// 500: our own fault; what happened is in the log.
    pub(super) fn internal() -> Self {
        let message = "Internal Server Error";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError", message)
    }

    /// 501: the site has no base URL.
    pub(super) fn no_base_url(site: &str) -> Self {
        Self::not_configured(format!("{} is not configured", Site::base_url_variable(site)))
    }

    /// The same error with details.
    pub(super) fn with(self, details: Details) -> Self {
        Self { details: Some(Box::new(details)), ..self }
    }
}

impl From<ContentError> for ApiError {
    fn from(error: ContentError) -> Self {
        let (status, name) = match error {
            ContentError::Unavailable { .. } | ContentError::CircuitOpen { .. } => {
                (StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailableError")
            }
            ContentError::TimedOut => (StatusCode::GATEWAY_TIMEOUT, "GatewayTimeoutError"),
            ContentError::Unusable(_) => (StatusCode::BAD_GATEWAY, "BadGatewayError"),
        };
        let retry_after = match error {
            ContentError::Unavailable { retry_after }
            | ContentError::CircuitOpen { retry_after } => Some(retry_after_seconds(retry_after)),
            _ => None,
        };
        Self { retry_after, ..Self::new(status, name, error.to_string()) }
    }
}

/// The answer to a request whose body has two framings.
pub(super) fn two_framings() -> Answer {
    let mut response = ApiError::two_framings().whole();
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

fn retry_after_seconds(asked: Option<u64>) -> u64 {
    asked.unwrap_or(RETRY_AFTER_DEFAULT).clamp(1, RETRY_AFTER_MOST)
}

impl ApiError {
    /// The answer.
    pub(super) fn whole(self) -> Answer {
        self.whole_in(HeaderMap::new())
    }

    /// The answer, which may be kept for a while, in the room of the request's headers.
    pub(super) fn cached(self, policy: &HeaderValue, request: HeaderMap) -> Answer {
        let mut answer = self.whole_in(request);
        answer.headers_mut().insert(CACHE_CONTROL, policy.clone());
        answer
    }

    fn whole_in(self, spent: HeaderMap) -> Answer {
        let mut response = envelope::failure(self.status, |json| self.write(json), spent);
        if self.status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }

    fn write(&self, json: &mut Json) {
        json.raw(r#"{"status":"#).raw(self.status.as_str());
        json.raw(r#","name":"#).text(self.name);
        json.raw(r#","message":"#).text(&self.message);
        if let Some(details) = &self.details {
            json.raw(r#","details":"#);
            details.write(json);
        }
        json.raw("}");
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        self.whole().map(Body::new)
    }
}
