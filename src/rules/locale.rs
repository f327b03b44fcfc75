//! Locale codes and the locales of a site (D9, D19).

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

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
    #[must_use]
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

/// The locales of a site, at least one, each once. The first is the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locales {
    all: Box<[Locale]>,
    /// The position of each: a site may have hundreds, and a look-up checks several.
    positions: FxHashMap<Locale, usize>,
}

/// The list cannot be the locales of a site.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocalesError {
    /// The list is empty.
    #[error("`locales` needs at least one locale")]
    None,
    /// The list has the same locale twice.
    #[error("`locales` lists `{0}` twice")]
    Twice(Locale),
}

/// Whether the paths of the default locale have a `{locale}` segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LocalePrefix {
    /// All locales have it.
    #[default]
    Always,
    /// All locales but the default have it.
    ExceptDefault,
}

impl Locales {
    /// The locales, in the order of the settings.
    ///
    /// # Errors
    /// [`LocalesError`] when there is none, or one of them twice.
    pub fn new(locales: Vec<Locale>) -> Result<Self, LocalesError> {
        if locales.is_empty() {
            return Err(LocalesError::None);
        }
        let mut positions = FxHashMap::default();
        for (at, locale) in locales.iter().enumerate() {
            if positions.insert(locale.clone(), at).is_some() {
                return Err(LocalesError::Twice(locale.clone()));
            }
        }
        Ok(Self { all: locales.into(), positions })
    }

    /// The first locale.
    #[must_use]
    pub fn default_locale(&self) -> &Locale {
        &self.all[0]
    }

    /// The locale with exactly this code, if the site has it.
    #[must_use]
    pub fn get(&self, code: &str) -> Option<&Locale> {
        Some(&self.all[self.position(code)?])
    }

    /// The position of the locale with exactly this code.
    #[must_use]
    pub fn position(&self, code: &str) -> Option<usize> {
        // Any segment of a pathname may be looked up: a long one is not hashed.
        let position = (code.len() <= MAX_BYTES).then(|| self.positions.get(code))?;
        position.copied()
    }

    /// All locales, in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Locale] {
        &self.all
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

    #[test]
    fn empty_or_repeated_locales_are_refused() {
        let [en, de] = ["en", "de"].map(|code| Locale::parse(code).unwrap());
        assert_eq!(Locales::new(vec![]), Err(LocalesError::None));
        let twice = Locales::new(vec![en.clone(), de.clone(), en.clone()]);
        assert_eq!(twice, Err(LocalesError::Twice(en.clone())));
        let both = Locales::new(vec![de.clone(), en.clone()]).unwrap();
        assert_eq!(both.default_locale(), &de);
        assert_eq!((both.get("en"), both.get("EN")), (Some(&en), None));
    }
}
