//! Bearer tokens (RFC 6750, section 2.1).

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

use crate::http::response::error::ApiError;

/// The bearer token of a request, compared with the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum BearerToken {
    /// The request has none.
    Missing,
    /// It has a wrong one.
    Wrong,
    /// It has the expected one.
    Valid,
}

/// Refuses a request without the expected token; `None`: no token is needed.
pub(in crate::http) fn require_bearer(
    expected: Option<&SecretString>,
    headers: &HeaderMap,
) -> Result<(), ApiError> {
    match expected.map(|token| BearerToken::check(token, headers)) {
        None | Some(BearerToken::Valid) => Ok(()),
        Some(BearerToken::Missing) => Err(ApiError::unauthorized()),
        Some(BearerToken::Wrong) => Err(ApiError::forbidden()),
    }
}

/// Refuses a request without the token of `validate=true`, or any if there is no such token.
pub(in crate::http) fn require_validate_token(
    expected: Option<&SecretString>,
    headers: &HeaderMap,
) -> Result<(), ApiError> {
    let missing = || ApiError::not_configured("the token of validate=true is not configured");
    require_bearer(Some(expected.ok_or_else(missing)?), headers)
}

impl BearerToken {
    /// Compares with `Authorization: Bearer <token>`. The time that it takes reveals at most the
    /// length of the token.
    pub(in crate::http) fn check(expected: &SecretString, headers: &HeaderMap) -> Self {
        let sent = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
        let (scheme, sent) = sent.split_at_checked("Bearer ".len()).unwrap_or_default();
        if !scheme.eq_ignore_ascii_case(b"Bearer ") {
            Self::Missing
        } else if bool::from(sent.ct_eq(expected.expose_secret().as_bytes())) {
            Self::Valid
        } else {
            Self::Wrong
        }
    }
}
