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

/// A text with one spelling of each character, as paths and the patterns of `robots.txt` are compared:
/// octets that are not ASCII are percent-encoded, encoded characters that need not be are decoded, and the
/// digits of the others are in upper case (RFC 9309, section 2.2.2).
pub(super) fn with_one_encoding(text: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let encoded = (bytes[at] == b'%').then(|| bytes.get(at + 1..at + 3)).flatten();
        let encoded = encoded.and_then(|digits| {
            u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16)
                .ok()
                .filter(|_| digits.iter().all(u8::is_ascii_hexdigit))
        });
        let byte = encoded.unwrap_or(bytes[at]);
        let is_unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if !byte.is_ascii() || (encoded.is_some() && !is_unreserved) {
            let digits = [byte >> 4, byte & 15].map(|digit| char::from(HEX[usize::from(digit)]));
            out.extend(['%', digits[0], digits[1]]);
        } else {
            out.push(char::from(byte));
        }
        at += if encoded.is_some() { 3 } else { 1 };
    }
    out
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
