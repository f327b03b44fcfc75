//! URLs as pages write them, compared with those of the sitemap.

use url::Url;

/// A URL in the one form in which equal URLs are equal texts: as browsers write it (URL standard), without
/// a fragment, with percent-encoded characters that need not be decoded, and the others in upper case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct PageUrl(String);

impl PageUrl {
    /// The URL of this text on a page whose base URL this is.
    pub(super) fn resolve(base: &Url, text: &str) -> Option<Self> {
        base.join(text.trim()).ok().map(|url| Self::of(&url))
    }

    pub(super) fn of(url: &Url) -> Self {
        let mut url = url.clone();
        url.set_fragment(None);
        Self(with_one_encoding(url.as_str()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a text is a URL with a scheme and a host, and not one that the page's own URL completes.
pub(super) fn is_absolute(text: &str) -> bool {
    let text = text.trim();
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    scheme
        .is_some_and(|scheme| ["http", "https"].iter().any(|own| own.eq_ignore_ascii_case(scheme)))
}

fn with_one_encoding(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    let mut rest = url;
    while let Some((before, behind)) = rest.split_once('%') {
        out.push_str(before);
        let digits = behind.get(..2).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (byte, digits) {
            (Some(byte), Some(_)) if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => {
                out.push(char::from(byte));
                rest = &behind[2..];
            }
            (Some(_), Some(digits)) => {
                out.push('%');
                out.push_str(&digits.to_ascii_uppercase());
                rest = &behind[2..];
            }
            _ => {
                out.push('%');
                rest = behind;
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_url_are_equal_and_others_are_not() {
        let base = Url::parse("https://www.example.com/de/x").unwrap();
        let url = |text: &str| PageUrl::resolve(&base, text);
        let own = url("https://www.example.com/de/caf%C3%A9").unwrap();
        for same in [
            "https://www.example.com/de/café",
            "HTTPS://WWW.EXAMPLE.COM:443/de/caf%c3%a9",
            " /de/%63af%C3%A9#top\n",
            "café",
            "../de/./café",
            "//www.example.com/de/café",
        ] {
            assert_eq!(url(same).unwrap(), own, "{same}");
        }
        for other in [
            "http://www.example.com/de/café",
            "https://example.com/de/café",
            "https://www.example.com/de/café/",
            "https://www.example.com/de/Café",
            "https://www.example.com/de/caf%25C3%25A9",
            "https://www.example.com/de/café?a",
            "https://www.example.com/de%2Fcafé",
        ] {
            assert_ne!(url(other).unwrap(), own, "{other}");
        }
        assert_eq!(url("http://"), None);
        assert_eq!(url("/%zz%e").unwrap().as_str(), "https://www.example.com/%zz%e");
    }

    #[test]
    fn absolute_is_what_has_a_scheme_and_a_host() {
        for (text, expected) in [
            ("https://a.example/", true),
            (" HTTP://a.example", true),
            ("//a.example/", false),
            ("/a", false),
            ("a", false),
            ("", false),
            ("https:/a", false),
        ] {
            assert_eq!(is_absolute(text), expected, "{text}");
        }
    }
}
