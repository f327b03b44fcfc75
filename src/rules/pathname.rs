//! Pathnames as they are asked for, and their normal form (D7).

use std::borrow::Cow;

use super::encode::{encode, percent_decode};

/// A pathname, cut into segments: without query and fragment, without empty segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pathname<'a> {
    segments: Vec<PathSegment<'a>>,
}

/// One segment of a pathname.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathSegment<'a> {
    /// The text that it stands for, percent-decoded once.
    Text(Cow<'a, str>),
    /// A segment that no rule matches, as written: a dot segment, malformed percent-encoding,
    /// invalid UTF-8, or text with `/`, `\` or a control character.
    Never(&'a str),
}

impl<'a> Pathname<'a> {
    /// Reads a pathname; every text is one.
    #[must_use]
    pub fn parse(pathname: &'a str) -> Self {
        let end = pathname.find(['?', '#']).unwrap_or(pathname.len());
        let written = pathname[..end].split('/').filter(|segment| !segment.is_empty());
        Self { segments: written.map(PathSegment::parse).collect() }
    }

    /// The segments from left to right, none for `/`.
    #[must_use]
    pub fn segments(&self) -> &[PathSegment<'a>] {
        &self.segments
    }

    /// The canonical form: each segment encoded as a URL of ours would have it.
    ///
    /// Idempotent; a segment that never matches stays as written.
    #[must_use]
    pub fn normalized(&self) -> String {
        if self.segments.is_empty() {
            return "/".to_owned();
        }
        self.segments.iter().fold(String::new(), |path, segment| match segment {
            PathSegment::Text(text) => path + "/" + &encode(text),
            PathSegment::Never(written) => path + "/" + written,
        })
    }
}

impl<'a> PathSegment<'a> {
    fn parse(written: &'a str) -> Self {
        decode(written).map_or(Self::Never(written), Self::Text)
    }
}

fn decode(written: &str) -> Option<Cow<'_, str>> {
    let text = match percent_decode(written)? {
        Cow::Borrowed(_) => Cow::Borrowed(written),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).ok()?),
    };
    let unsafe_char = |c: char| c == '/' || c == '\\' || c.is_control();
    let never = text == "." || text == ".." || text.contains(unsafe_char);
    (!never).then_some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn normal_forms() {
        for (pathname, expected) in [
            ("/", "/"),
            ("//", "/"),
            ("/?x", "/"),
            ("/en/articles/hello/", "/en/articles/hello"),
            ("/en//a///b//", "/en/a/b"),
            ("/en/a?b/c", "/en/a"),
            ("/en/a#b", "/en/a"),
            ("/caf%c3%a9/é", "/caf%C3%A9/%C3%A9"),
            ("/a+b/%2B", "/a%2Bb/%2B"),
            ("/%41%2d", "/A-"),
            ("/a%3Fb", "/a%3Fb"),
            ("/%25252e", "/%25252e"),
            ("/a/../b/%2E%2e/.", "/a/../b/%2E%2e/."),
            ("/a%2fb/x%5Cy/%00/%ff/%zz/%", "/a%2fb/x%5Cy/%00/%ff/%zz/%"),
            ("/\\x", "/\\x"),
        ] {
            assert_eq!(Pathname::parse(pathname).normalized(), expected, "{pathname}");
        }
    }

    proptest! {
        #[test]
        fn normalisation_is_idempotent(pathname in "(/([a-z.%?#\\\\é +]|%2[eEfF]|%[0-9a-f]{2}){0,6}){0,6}|\\PC*") {
            let once = Pathname::parse(&pathname).normalized();
            prop_assert_eq!(Pathname::parse(&once).normalized(), once);
        }
    }
}
