//! Bearer tokens (RFC 6750, section 2.1): who carries the right one.

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

use super::error::ApiError;

/// What a request carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carried {
    /// No bearer token.
    Nothing,
    /// Another one.
    Wrong,
    /// The one that is wanted.
    Right,
}

/// Lets a request through that carries the token, or any where none is wanted.
pub(super) fn admit(token: Option<&SecretString>, headers: &HeaderMap) -> Result<(), ApiError> {
    match token.map(|token| carried(token, headers)) {
        None | Some(Carried::Right) => Ok(()),
        Some(Carried::Nothing) => Err(ApiError::unauthorized()),
        Some(Carried::Wrong) => Err(ApiError::forbidden()),
    }
}

/// Compares with `Authorization: Bearer <token>`. How long that takes tells at most the length of
/// the token.
pub(super) fn carried(token: &SecretString, headers: &HeaderMap) -> Carried {
    let sent = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    let (scheme, sent) = sent.split_at_checked("Bearer ".len()).unwrap_or_default();
    if !scheme.eq_ignore_ascii_case(b"Bearer ") {
        Carried::Nothing
    } else if bool::from(sent.ct_eq(token.expose_secret().as_bytes())) {
        Carried::Right
    } else {
        Carried::Wrong
    }
}
