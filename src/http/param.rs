//! Parameters that more than one operation has, as types that cannot be wrong (D2–D4, D9, D20).

use std::borrow::Cow;

use super::error::ApiError;
use super::query::{Param, echo};
use crate::app::App;
use crate::rules::Locale;
use crate::site::Site;

/// A site key (D3).
pub(super) const SITE: Param = Param { name: "site", max_bytes: 64 };
/// A locale code (D3).
pub(super) const LOCALE: Param = Param { name: "locale", max_bytes: 35 };

/// The longest content-type UID, in bytes (D3).
pub(super) const UID_BYTES: usize = 128;

/// A parameter that has to be there.
pub(super) fn required<'q>(
    name: &str,
    value: Option<Cow<'q, str>>,
) -> Result<Cow<'q, str>, ApiError> {
    value.ok_or_else(|| ApiError::validation(format!("`{name}` is required")))
}

/// `true`, `false`, `1` or `0` in any letter case; absent is false.
pub(super) fn boolean(name: &str, value: Option<&str>) -> Result<bool, ApiError> {
    match value {
        None | Some("0") => Ok(false),
        Some("1") => Ok(true),
        Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        Some(text) => {
            let message = format!("`{name}` is true, false, 1 or 0, not {}", echo(text));
            Err(ApiError::validation(message))
        }
    }
}

/// A well-formed locale, or none.
pub(super) fn locale(value: Option<&str>) -> Result<Option<Locale>, ApiError> {
    let parse = |text: &str| {
        Locale::parse(text).map_err(|_| {
            ApiError::validation(format!("`locale` is not a locale code: {}", echo(text)))
        })
    };
    value.map(parse).transpose()
}

/// The site with this key.
pub(super) fn known_site<'a>(app: &'a App, key: &str) -> Result<&'a Site, ApiError> {
    app.sites.get(key).ok_or_else(|| {
        ApiError::validation(format!("`site` is not a site of this service: {}", echo(key)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value, or whether the message has this.
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
    fn a_boolean_is_one_of_four_words_in_any_letter_case() {
        for (value, expected) in [
            (None, Ok(false)),
            (Some("0"), Ok(false)),
            (Some("1"), Ok(true)),
            (Some("true"), Ok(true)),
            (Some("TRUE"), Ok(true)),
            (Some("False"), Ok(false)),
            (Some("yes"), Err("`xml` is true, false, 1 or 0, not \\\"yes\\\"")),
            (Some("01"), Err("`xml` is true, false, 1 or 0, not \\\"01\\\"")),
            (Some(" true"), Err("`xml` is true, false, 1 or 0, not \\\" true\\\"")),
        ] {
            check(boolean("xml", value), expected);
        }
    }

    #[test]
    fn a_locale_may_be_missing_but_not_malformed() {
        check(locale(None), Ok(None));
        check(locale(Some("pt-BR")), Ok(Locale::parse("pt-BR").ok()));
        check(locale(Some("en-")), Err("`locale` is not a locale code: \\\"en-\\\""));
    }

    #[test]
    fn what_is_required_is_named_when_it_is_missing() {
        check(required("uid", Some("a".into())), Ok("a".into()));
        check(required("uid", None), Err("`uid` is required"));
    }
}
