//! Query parameters that several operations have, parsed into types that cannot be invalid
//! (D2–D4, D9, D20).

use std::borrow::Cow;
use std::sync::Arc;

use super::query::{Param, echo};
use crate::app::App;
use crate::http::response::error::ApiError;
use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::read_rfc3339;
use frontend_map_rules::frontend_url::HostName;
use frontend_map_rules::{Locale, PATHNAME_NEEDS_SLASH, is_document_id};

/// A site key (D3).
pub(in crate::http) const SITE: Param = Param { name: "site", max_bytes: 64 };
/// A locale code (D3).
pub(in crate::http) const LOCALE: Param = Param { name: "locale", max_bytes: MAX_LOCALE_BYTES };

/// A host of a site, `host[:port]`.
pub(in crate::http) const HOST: Param = Param { name: "host", max_bytes: MAX_HOST_BYTES };

/// A pathname (D3).
pub(in crate::http) const PATHNAME: Param = Param { name: "pathname", max_bytes: 2048 };

/// The longest locale code, in bytes (D3).
pub(in crate::http) const MAX_LOCALE_BYTES: usize = 35;
/// The longest host, in bytes: a name of DNS (RFC 1035, section 2.3.4) with up to four bytes for each
/// of its 253 characters, and a port.
const MAX_HOST_BYTES: usize = 1_024;
/// The longest content-type UID, in bytes (D3).
pub(in crate::http) const MAX_UID_BYTES: usize = 128;

/// The value of a required parameter.
pub(in crate::http) fn required<'q>(
    name: &str,
    value: Option<Cow<'q, str>>,
) -> Result<Cow<'q, str>, ApiError> {
    value.ok_or_else(|| ApiError::validation(format!("`{name}` is required")))
}

/// `true`, `false`, `1` or `0` in any letter case; absent is false.
pub(in crate::http) fn parse_boolean(name: &str, value: Option<&str>) -> Result<bool, ApiError> {
    match value {
        None | Some("0") => Ok(false),
        Some("1") => Ok(true),
        Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        Some(text) => {
            let message = format!("`{name}` must be true, false, 1 or 0, not {}", echo(text));
            Err(ApiError::validation(message))
        }
    }
}

/// The position of a host among the hosts of the site. `None`: the parameter is absent, the site does
/// not have the host, or it has only one.
pub(in crate::http) fn parse_host(
    site: &Site,
    value: Option<&str>,
) -> Result<Option<usize>, ApiError> {
    let Some(text) = value else { return Ok(None) };
    let name = HostName::parse(text).map_err(|_| {
        ApiError::validation(format!("`host` is not a host with or without a port: {}", echo(text)))
    })?;
    Ok(site.hosts.position_if_several(&name))
}

/// A well-formed locale; absent is `None`.
pub(in crate::http) fn parse_locale(value: Option<&str>) -> Result<Option<Locale>, ApiError> {
    let parse = |text: &str| {
        Locale::parse(text).map_err(|_| {
            ApiError::validation(format!("`locale` is not a locale code: {}", echo(text)))
        })
    };
    value.map(parse).transpose()
}

/// The locale of a document. `null`, as Strapi has it for a document that is not localized, counts
/// as absent (D19).
pub(in crate::http) fn parse_document_locale(
    value: Option<&str>,
) -> Result<Option<Locale>, ApiError> {
    parse_locale(value.filter(|text| *text != "null"))
}

/// The last millisecond since 1970 that is not after a time (RFC 3339, section 5.6); absent is `None`.
pub(in crate::http) fn parse_since(value: Option<&str>) -> Result<Option<i64>, ApiError> {
    let parse = |text: &str| {
        read_rfc3339(text).ok_or_else(|| {
            let text = echo(text);
            ApiError::validation(format!(
                "`since` must be a time like 2026-01-31T12:00:00Z, not {text}: a `+` in it is sent as `%2B`"
            ))
        })
    };
    value.map(parse).transpose()
}

/// A pathname that starts with a slash (D4).
pub(in crate::http) fn parse_pathname(
    value: Option<Cow<'_, str>>,
) -> Result<Cow<'_, str>, ApiError> {
    let pathname = required("pathname", value)?;
    if pathname.starts_with('/') {
        return Ok(pathname);
    }
    let message = format!("{PATHNAME_NEEDS_SLASH}, not {}", echo(&pathname));
    Err(ApiError::validation(message))
}

/// The site with this key.
pub(in crate::http) fn known_site<'a>(app: &'a App, key: &str) -> Result<&'a Arc<Site>, ApiError> {
    app.sites.get(key).ok_or_else(|| {
        ApiError::validation(format!("`site` is not a configured site: {}", echo(key)))
    })
}

/// A `documentId` (D20).
pub(in crate::http) fn parse_document_id(value: Cow<'_, str>) -> Result<Cow<'_, str>, ApiError> {
    if is_document_id(&value) {
        return Ok(value);
    }
    let message = format!("`documentId` is not a document ID: {}", echo(&value));
    Err(ApiError::validation(message))
}

/// Refuses a content type without a rule in the site.
pub(in crate::http) fn known_type(site: &Site, uid: &str) -> Result<(), ApiError> {
    if site.has_group(uid) {
        return Ok(());
    }
    let message =
        format!("site \"{}\" has no rule for this `contentType`: {}", site.key, echo(uid));
    Err(ApiError::validation(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the value, or a part of the error's message.
    fn check<T: PartialEq + std::fmt::Debug>(
        found: Result<T, ApiError>,
        expected: Result<T, &str>,
    ) {
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(error), Err(expected)) => {
                let error = format!("{error:?}");
                assert!(error.contains(expected), "{expected}: {error}");
            }
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn parse_boolean_accepts_four_words_in_any_letter_case() {
        for (value, expected) in [
            (None, Ok(false)),
            (Some("0"), Ok(false)),
            (Some("1"), Ok(true)),
            (Some("true"), Ok(true)),
            (Some("TRUE"), Ok(true)),
            (Some("False"), Ok(false)),
            (Some("yes"), Err("`xml` must be true, false, 1 or 0, not \\\"yes\\\"")),
            (Some("01"), Err("`xml` must be true, false, 1 or 0, not \\\"01\\\"")),
            (Some(" true"), Err("`xml` must be true, false, 1 or 0, not \\\" true\\\"")),
        ] {
            check(parse_boolean("xml", value), expected);
        }
    }

    #[test]
    fn parse_locale_absent_is_fine_malformed_is_refused() {
        check(parse_locale(None), Ok(None));
        check(parse_locale(Some("pt-BR")), Ok(Locale::parse("pt-BR").ok()));
        check(parse_locale(Some("en-")), Err("`locale` is not a locale code: \\\"en-\\\""));
    }

    #[test]
    fn parse_document_locale_null_is_absent() {
        for (value, expected) in [(None, None), (Some("null"), None), (Some("NULL"), Some("NULL"))]
        {
            let expected = expected.map(|code| Locale::parse(code).unwrap());
            check(parse_document_locale(value), Ok(expected));
        }
        check(parse_document_locale(Some("nu/ll")), Err("`locale` is not a locale code"));
    }

    #[test]
    fn required_absent_is_refused_by_name() {
        check(required("uid", Some("a".into())), Ok("a".into()));
        check(required("uid", None), Err("`uid` is required"));
    }
}
