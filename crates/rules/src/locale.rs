//! Locale codes and the locales of a site (D9, D19).

mod locales;
mod site_locale;

pub use locales::{LocalePrefix, Locales, LocalesError};
pub use site_locale::{HreflangError, SegmentError, SiteLocale};

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// The longest locale code that is accepted, in bytes (D3).
const MAX_BYTES: usize = 35;

/// A well-formed locale code: `[A-Za-z0-9]{1,8}([-_][A-Za-z0-9]{1,8})*`, at most 35 bytes.
///
/// Compared exactly: `en` is not `EN`. The shape is BCP 47's (RFC 5646, section 2.1), with `_`
/// as a separator too, because Strapi accepts such codes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Locale(Arc<str>);

/// Text that is not a locale code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a locale is up to {MAX_BYTES} characters of groups of 1 to 8 letters or digits, joined by `-` or `_`"
)]
pub struct LocaleError;

impl Locale {
    /// Parses a locale code.
    ///
    /// # Errors
    /// [`LocaleError`] when the text does not have the shape above.
    pub fn parse(text: &str) -> Result<Self, LocaleError> {
        let group = |group: &str| {
            (1..=8).contains(&group.len()) && group.bytes().all(|b| b.is_ascii_alphanumeric())
        };
        if text.len() <= MAX_BYTES && text.split(['-', '_']).all(group) {
            Ok(Self(text.into()))
        } else {
            Err(LocaleError)
        }
    }

    /// The code as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Locale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A code hashes and compares like its text.
impl Borrow<str> for Locale {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_locale_is_refused() {
        for good in ["en", "pt-BR", "zh_Hant_TW", "a1", "12345678"] {
            assert_eq!(Locale::parse(good).map(|l| l.to_string()), Ok(good.into()));
        }
        let long = ["abcdefgh"; 5].join("-");
        for bad in ["", "-", "en-", "en--US", "en/US", "é", "123456789", "*", " en", &long] {
            assert_eq!(Locale::parse(bad), Err(LocaleError), "{bad}");
        }
    }
}
