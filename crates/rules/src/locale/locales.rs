//! The locales of a site, found by code and by segment.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Locale, SiteLocale};

/// The locales of a site, at least one. Codes and values of `hreflang` are each unique, and segments
/// on each host. The first locale is the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locales {
    all: Box<[SiteLocale]>,
    codes: Box<[Locale]>,
    /// The positions: a site may have hundreds of locales, and a look-up checks several.
    by_code: FxHashMap<Locale, usize>,
    by_segment: FxHashMap<Arc<str>, usize>,
    /// For each locale, the next one with the same segment, which is on another host.
    next_of_segment: Box<[Option<usize>]>,
    /// In bytes.
    longest_segment: usize,
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
    /// Two locales have the same segment.
    #[error(
        "the locales `{}` and `{}` have the same segment, `{segment}`: give one of them another `segment`",
        .codes[0],
        .codes[1]
    )]
    SameSegment {
        /// The two, in their order.
        codes: [Locale; 2],
        /// The segment.
        segment: Arc<str>,
    },
    /// Two locales have the same value of `hreflang`.
    #[error(
        "the locales `{}` and `{}` have the same hreflang, `{hreflang}`: give one of them another `hreflang`",
        .codes[0],
        .codes[1]
    )]
    SameHreflang {
        /// The two, in their order.
        codes: [Locale; 2],
        /// The value of the second one. Letter case does not matter.
        hreflang: Arc<str>,
    },
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

impl LocalePrefix {
    /// Whether the paths of a locale of the site omit `{locale}`.
    pub(crate) fn omits(self, locales: &Locales, locale: &Locale) -> bool {
        self == Self::ExceptDefault && locale == locales.default_locale().code()
    }
}

impl Locales {
    /// The locales, in the order of the settings.
    ///
    /// # Errors
    /// [`LocalesError`] when there is none, or a code, segment or `hreflang` occurs twice.
    pub fn new(locales: Vec<impl Into<SiteLocale>>) -> Result<Self, LocalesError> {
        Self::on_hosts(locales, |_| 0)
    }

    /// The locales of a site with several hosts: `host` has the host of the locale at a position.
    /// Locales on different hosts may have the same segment.
    ///
    /// # Errors
    /// As [`Locales::new`].
    pub fn on_hosts(
        locales: Vec<impl Into<SiteLocale>>,
        host: impl Fn(usize) -> usize,
    ) -> Result<Self, LocalesError> {
        let all: Box<[SiteLocale]> = locales.into_iter().map(Into::into).collect();
        if all.is_empty() {
            return Err(LocalesError::None);
        }
        let (mut by_code, mut by_segment) = (FxHashMap::default(), FxHashMap::default());
        let mut by_hreflang = FxHashMap::default();
        let mut next_of_segment = vec![None; all.len()];
        for (at, locale) in all.iter().enumerate() {
            let codes = |other: usize| [&all[other], locale].map(|locale| locale.code().clone());
            if by_code.insert(locale.code().clone(), at).is_some() {
                return Err(LocalesError::Twice(locale.code().clone()));
            }
            let (segment, hreflang) = (locale.shared_segment(), locale.shared_hreflang());
            let mut last = *by_segment.entry(Arc::clone(&segment)).or_insert(at);
            while last != at {
                if host(last) == host(at) {
                    return Err(LocalesError::SameSegment { codes: codes(last), segment });
                }
                last = *next_of_segment[last].get_or_insert(at);
            }
            if let Some(other) = by_hreflang.insert(hreflang.to_ascii_lowercase(), at) {
                return Err(LocalesError::SameHreflang { codes: codes(other), hreflang });
            }
        }
        let codes = all.iter().map(|locale| locale.code().clone()).collect();
        let longest_segment = all.iter().map(|locale| locale.segment().len()).max().unwrap_or(0);
        let next_of_segment = next_of_segment.into();
        Ok(Self { all, codes, by_code, by_segment, next_of_segment, longest_segment })
    }

    /// The first locale.
    pub fn default_locale(&self) -> &SiteLocale {
        &self.all[0]
    }

    /// The locale with exactly this code, if the site has it.
    pub fn get(&self, code: &str) -> Option<&SiteLocale> {
        Some(&self.all[self.position(code)?])
    }

    /// The position of the locale with exactly this code.
    pub fn position(&self, code: &str) -> Option<usize> {
        self.by_code.get(code).copied()
    }

    /// The locales with the segment of this one, by their positions; they are on different hosts.
    pub fn with_segment_of(&self, locale: &SiteLocale) -> impl Iterator<Item = usize> {
        let first = self.by_segment.get(locale.segment()).copied();
        std::iter::successors(first, |at| self.next_of_segment[*at])
    }

    /// The first locale with exactly this segment, decoded, if the site has one.
    pub fn of_segment(&self, segment: &str) -> Option<&SiteLocale> {
        // Any segment of a pathname may be looked up: a long one is not hashed.
        let position =
            (segment.len() <= self.longest_segment).then(|| self.by_segment.get(segment))?;
        Some(&self.all[*position?])
    }

    /// All locales, in order.
    pub fn as_slice(&self) -> &[SiteLocale] {
        &self.all
    }

    /// The codes of all locales, in order.
    pub fn codes(&self) -> &[Locale] {
        &self.codes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locale(code: &str, segment: &str, hreflang: &str) -> SiteLocale {
        let locale = SiteLocale::from(Locale::parse(code).unwrap());
        locale.with_segment(segment).unwrap().with_hreflang(hreflang).unwrap()
    }

    #[test]
    fn empty_or_repeated_locales_are_refused() {
        let [en, de] = ["en", "de"].map(|code| Locale::parse(code).unwrap());
        assert_eq!(Locales::new(Vec::<Locale>::new()), Err(LocalesError::None));
        let twice = Locales::new(vec![en.clone(), de.clone(), en.clone()]);
        assert_eq!(twice, Err(LocalesError::Twice(en.clone())));
        let both = Locales::new(vec![de.clone(), en.clone()]).unwrap();
        assert_eq!(both.default_locale().code(), &de);
        assert_eq!(both.get("EN"), None);
        assert_eq!(both.get("en").map(SiteLocale::code), Some(&en));
    }

    #[test]
    fn locale_is_found_by_code_and_by_segment() {
        let english = locale("en", "english", "en");
        let german = locale("de", "en", "de-DE");
        let locales = Locales::new(vec![english.clone(), german.clone()]).unwrap();
        assert_eq!((locales.get("en"), locales.get("de")), (Some(&english), Some(&german)));
        assert_eq!((locales.get("english"), locales.position("de")), (None, Some(1)));
        let by_segment =
            ["english", "en", "de", "English", ""].map(|text| locales.of_segment(text));
        assert_eq!(by_segment, [Some(&english), Some(&german), None, None, None]);
        assert_eq!(locales.codes(), [english.code().clone(), german.code().clone()]);
    }

    #[test]
    fn equal_segments_and_equal_values_of_hreflang_are_refused() {
        let problem = |one, other| Locales::new(vec![one, other]).unwrap_err().to_string();
        assert_eq!(
            problem(locale("de", "a", "de"), locale("at", "a", "de-AT")),
            "the locales `de` and `at` have the same segment, `a`: give one of them another `segment`"
        );
        assert_eq!(
            problem(locale("de", "a", "de-de"), locale("at", "b", "de-DE")),
            "the locales `de` and `at` have the same hreflang, `de-DE`: give one of them another `hreflang`"
        );
        let differ = vec![locale("de", "a", "de"), locale("at", "A", "de-AT")];
        assert!(Locales::new(differ).is_ok(), "segments are compared exactly");
        // Without a value of its own, that of a code has a hyphen.
        let codes = ["pt_BR", "pt-BR"].map(|code| Locale::parse(code).unwrap());
        assert!(matches!(Locales::new(codes.to_vec()), Err(LocalesError::SameHreflang { .. })));
    }
}
