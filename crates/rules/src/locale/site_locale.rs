//! A locale of a site: its code, its segment of paths and its value of `hreflang`.

use std::sync::Arc;

use icu_locale_core::Locale as LanguageTag;

use super::Locale;
use crate::url_safety::{Width, check};

/// The value of `hreflang` for readers without a matching language. It is no language tag.
const X_DEFAULT: &str = "x-default";

/// Bytes of a segment before it is encoded: a URL has less than 2,048 characters.
const LONGEST_SEGMENT: usize = 255;

/// A locale of a site.
///
/// The CMS, settings, parameters and responses use its code. Paths have its segment, and links to
/// other versions its value of `hreflang`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SiteLocale {
    code: Locale,
    segment: Arc<str>,
    hreflang: Arc<str>,
}

/// Text that cannot be the segment of a locale.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    /// It is empty or white space.
    #[error(
        "`segment` is empty: leave it out for the code of the locale, or write one segment of a path"
    )]
    Empty,
    /// More than one segment.
    #[error("`{0}` is not one segment of a path: write it without `/`")]
    Slash(String),
    /// `.` or `..`.
    #[error("`{0}` is a relative reference: write a name, such as `deutsch`")]
    Dots(String),
    /// Longer than `LONGEST_SEGMENT`.
    #[error(
        "`segment` has {0} bytes, and at most {LONGEST_SEGMENT} are allowed: write a short name"
    )]
    TooLong(usize),
    /// A character that no static text of a template can have, or that is not visible.
    #[error(
        "`{0}` has a character that a segment cannot have: write it decoded, without `%`, `?`, `#`, `\\`, `{{`, `}}` and invisible characters"
    )]
    Character(String),
}

/// Text that cannot be the `hreflang` of a locale.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HreflangError {
    /// `x-default`.
    #[error(
        "`x-default` is for readers without a matching language, and sitemaps have it anyway: write a language tag, such as `de` or `de-DE`"
    )]
    Default,
    /// Not a language tag.
    #[error("`{0}` is not a language tag (BCP 47): write one such as `de`, `de-DE` or `zh-Hant`")]
    Tag(String),
}

impl SiteLocale {
    /// This locale with this segment, which is written decoded.
    ///
    /// # Errors
    /// [`SegmentError`]: what is wrong with it.
    pub fn with_segment(self, segment: &str) -> Result<Self, SegmentError> {
        let own = || segment.to_owned();
        if segment.trim().is_empty() {
            return Err(SegmentError::Empty);
        }
        if segment.len() > LONGEST_SEGMENT {
            return Err(SegmentError::TooLong(segment.len()));
        }
        if segment.contains('/') {
            return Err(SegmentError::Slash(own()));
        }
        if matches!(segment, "." | "..") {
            return Err(SegmentError::Dots(own()));
        }
        // As in the static text of a template (D11).
        if segment.contains(['%', '?', '#', '{', '}'])
            || check("", segment, "", Width::One).is_err()
        {
            return Err(SegmentError::Character(segment.escape_debug().to_string()));
        }
        Ok(Self { segment: segment.into(), ..self })
    }

    /// This locale with this value of `hreflang`: a well-formed language tag (RFC 5646, section
    /// 2.1). As in Unicode's locale identifiers, it begins with a language: irregular tags, private
    /// ones and extended languages are refused.
    ///
    /// # Errors
    /// [`HreflangError`]: what is wrong with it.
    pub fn with_hreflang(self, hreflang: &str) -> Result<Self, HreflangError> {
        let locale = Self { hreflang: hreflang.into(), ..self };
        locale.check_hreflang().map(|()| locale)
    }

    /// Checks its `hreflang`. One that is made from the code need not be a language tag.
    ///
    /// # Errors
    /// [`HreflangError`]: what is wrong with it.
    pub fn check_hreflang(&self) -> Result<(), HreflangError> {
        let text = self.hreflang();
        if text.eq_ignore_ascii_case(X_DEFAULT) {
            return Err(HreflangError::Default);
        }
        // Unicode's parser accepts underscores as well.
        if text.contains('_') || LanguageTag::try_from_str(text).is_err() {
            return Err(HreflangError::Tag(text.escape_debug().to_string()));
        }
        Ok(())
    }

    /// The code, as the CMS has it.
    pub fn code(&self) -> &Locale {
        &self.code
    }

    /// The code as text.
    pub fn as_str(&self) -> &str {
        self.code.as_str()
    }

    /// The segment of paths that `{locale}` stands for, decoded.
    pub fn segment(&self) -> &str {
        &self.segment
    }

    /// The value of `hreflang`.
    pub fn hreflang(&self) -> &str {
        &self.hreflang
    }

    pub(super) fn shared_segment(&self) -> Arc<str> {
        Arc::clone(&self.segment)
    }

    pub(super) fn shared_hreflang(&self) -> Arc<str> {
        Arc::clone(&self.hreflang)
    }
}

/// A locale whose segment is its code. Some of Strapi's codes have an underscore, where a language tag
/// has a hyphen.
impl From<Locale> for SiteLocale {
    fn from(code: Locale) -> Self {
        let segment = Arc::clone(&code.0);
        let hreflang = match code.as_str() {
            text if text.contains('_') => text.replace('_', "-").into(),
            _ => Arc::clone(&code.0),
        };
        Self { code, segment, hreflang }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn german() -> SiteLocale {
        Locale::parse("de").unwrap().into()
    }

    #[test]
    fn locale_without_more_has_its_code_as_segment_and_as_hreflang() {
        let locale = SiteLocale::from(Locale::parse("pt_BR").unwrap());
        assert_eq!(
            (locale.as_str(), locale.segment(), locale.hreflang()),
            ("pt_BR", "pt_BR", "pt-BR")
        );
    }

    #[test]
    fn segment_is_one_visible_segment_of_a_path_written_decoded() {
        use SegmentError::{Character, Dots, Empty, Slash, TooLong};
        let longest = "é".repeat(127) + "e";
        for good in
            [&longest, "deutsch", "en", "français", "de-DE", "a b", "v1.2", "...", "~", "x-default"]
        {
            assert_eq!(
                german().with_segment(good).map(|l| l.segment().to_owned()),
                Ok(good.into())
            );
        }
        let own = str::to_owned;
        for (bad, expected) in [
            ("", Empty),
            (" \u{a0}", Empty),
            (&(longest.clone() + "e"), TooLong(256)),
            ("/", Slash(own("/"))),
            ("/de", Slash(own("/de"))),
            ("de/at", Slash(own("de/at"))),
            (".", Dots(own("."))),
            ("..", Dots(own(".."))),
            ("%64e", Character(own("%64e"))),
            ("de?", Character(own("de?"))),
            ("#de", Character(own("#de"))),
            ("{locale}", Character(own("{locale}"))),
            ("d\\e", Character(own("d\\\\e"))),
            ("d\ne", Character(own("d\\ne"))),
            ("d\u{202e}e", Character(own("d\\u{202e}e"))),
        ] {
            assert_eq!(german().with_segment(bad), Err(expected), "{bad:?}");
        }
    }

    #[test]
    fn hreflang_is_a_language_tag() {
        for good in
            ["de", "de-DE", "DE-de", "zh-Hant", "zh-Hant-TW", "es-419", "sl-rozaj-biske", "gsw"]
        {
            assert_eq!(
                german().with_hreflang(good).map(|l| l.hreflang().to_owned()),
                Ok(good.into())
            );
        }
        for bad in
            ["", "d", "de_DE", "de-", "deutsch-", "12", "de DE", "dé", "de-DE-DE", "x-klingon"]
        {
            assert_eq!(german().with_hreflang(bad), Err(HreflangError::Tag(bad.into())), "{bad:?}");
        }
        for bad in ["x-default", "X-Default"] {
            assert_eq!(german().with_hreflang(bad), Err(HreflangError::Default));
        }
    }
}
