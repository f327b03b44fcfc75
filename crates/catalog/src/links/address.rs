//! Addresses as content has them (RFC 3986), read as browsers read them.

use std::borrow::Cow;

/// The longest address that is kept, in bytes: that of a path which a request can have (D3), behind a
/// scheme and a host. A longer one leads to no page of a site.
pub const MAX_ADDRESS: usize = 2_048 + 272;

/// What kind of address a link has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressKind<'a> {
    /// It may lead to a page of a site: the address without its fragment.
    Internal(Cow<'a, str>),
    /// It leads to a host that is not one of the settings.
    External,
    /// It leads to no page: another scheme, a fragment or a query alone.
    Nothing,
    /// It is longer than [`MAX_ADDRESS`].
    TooLong,
}

/// An address in its parts, without query and fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Address<'a> {
    /// With a host: `https://host/path` or `//host/path`. The scheme is in lower case.
    Absolute { scheme: Option<&'static str>, authority: &'a str, path: &'a str },
    /// A path that begins with a slash.
    Rooted(&'a str),
    /// A path that is relative to that of its document.
    Relative(&'a str),
}

/// An address as a browser reads it: without white space around it, tabs and line breaks in it, with `/`
/// for `\` in the path, and without the fragment.
pub(super) fn clean(written: &str) -> Cow<'_, str> {
    let trimmed = written.trim_matches(|c: char| c <= ' ');
    let end = trimmed.find('#').unwrap_or(trimmed.len());
    let kept = &trimmed[..end];
    if !kept.contains(['\t', '\n', '\r', '\\']) {
        return Cow::Borrowed(kept);
    }
    let mut is_in_query = false;
    let mut text = String::with_capacity(kept.len());
    for character in kept.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')) {
        is_in_query |= character == '?';
        text.push(if character == '\\' && !is_in_query { '/' } else { character });
    }
    Cow::Owned(text)
}

impl<'a> Address<'a> {
    /// The parts of a clean address; `None`: it leads to no page.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let end = text.find(['?', '#']).unwrap_or(text.len());
        let text = &text[..end];
        if text.is_empty() {
            return None;
        }
        if let Some(rest) = text.strip_prefix("//") {
            return Some(Self::absolute(None, rest));
        }
        if text.starts_with('/') {
            return Some(Self::Rooted(text));
        }
        let Some((scheme, rest)) = scheme(text) else { return Some(Self::Relative(text)) };
        let known = ["http", "https"].into_iter().find(|one| one.eq_ignore_ascii_case(scheme))?;
        Some(Self::absolute(Some(known), rest.strip_prefix("//")?))
    }

    fn absolute(scheme: Option<&'static str>, rest: &'a str) -> Self {
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let path = if path.is_empty() { "/" } else { path };
        Self::Absolute { scheme, authority, path }
    }
}

/// The scheme of an address, and what is behind its colon (RFC 3986, section 3.1).
fn scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let goes_on = |b: u8| b.is_ascii_alphanumeric() || b"+-.".contains(&b);
    let is_scheme =
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.bytes().all(goes_on);
    is_scheme.then_some((scheme, rest))
}

/// The path of a relative one below the path of its document (RFC 3986, section 5.2.3).
pub(super) fn merged(base: &str, relative: &str) -> String {
    let end = base.rfind('/').map_or(0, |at| at + 1);
    let start = if end == 0 { "/" } else { &base[..end] };
    [start, relative].concat()
}

/// A path without dot segments, encoded or not (RFC 3986, section 5.2.4, and the URL standard). It cannot
/// lead above the root.
pub(super) fn without_dots<'a>(path: impl Into<Cow<'a, str>>) -> Cow<'a, str> {
    let path = path.into();
    if !path.split('/').any(|segment| matches!(dots(segment), Some(1 | 2))) {
        return path;
    }
    let mut kept: Vec<&str> = Vec::new();
    let mut ends_with_dots = false;
    for segment in path.strip_prefix('/').unwrap_or(&path).split('/') {
        let dots = dots(segment);
        ends_with_dots = matches!(dots, Some(1 | 2));
        match dots {
            Some(1) => {}
            Some(2) => drop(kept.pop()),
            _ => kept.push(segment),
        }
    }
    if ends_with_dots {
        kept.push("");
    }
    Cow::Owned("/".to_owned() + &kept.join("/"))
}

/// The number of dots of a segment that has nothing else; each may be written as `%2e`.
fn dots(segment: &str) -> Option<usize> {
    let (mut rest, mut count) = (segment, 0);
    while !rest.is_empty() {
        let encoded = || rest.get(..3).filter(|text| text.eq_ignore_ascii_case("%2e"));
        rest = &rest[if rest.starts_with('.') { 1 } else { encoded()?.len() }..];
        count += 1;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_is_what_a_browser_reads() {
        for (written, expected) in [
            ("  /en/a\n", "/en/a"),
            ("/en/\ta\n", "/en/a"),
            ("\\\\host\\a?x=\\", "//host/a?x=\\"),
            ("/en/a#part", "/en/a"),
            ("/en/a?x=1#part", "/en/a?x=1"),
            ("#part", ""),
        ] {
            assert_eq!(clean(written), expected);
        }
    }

    #[test]
    fn parse_tells_hosts_paths_and_other_schemes() {
        let absolute =
            |scheme, authority, path| Some(Address::Absolute { scheme, authority, path });
        for (text, expected) in [
            ("/en/a?x", Some(Address::Rooted("/en/a"))),
            ("a/b:c", Some(Address::Relative("a/b:c"))),
            ("../a", Some(Address::Relative("../a"))),
            ("//host/a", absolute(None, "host", "/a")),
            ("HTTPS://host", absolute(Some("https"), "host", "/")),
            ("http://u@host:80/a?b/c", absolute(Some("http"), "u@host:80", "/a")),
            ("javascript:alert(1)", None),
            ("mailto:a@b", None),
            ("tel:+1", None),
            ("data:text/html,x", None),
            ("https:a", None),
            ("", None),
            ("?x=1", None),
        ] {
            assert_eq!(Address::parse(text), expected, "{text}");
        }
    }

    /// The examples of RFC 3986, section 5.4, with the path of the base `/b/c/d;p`.
    #[test]
    fn relative_paths_are_resolved_as_the_rfc_says() {
        for (relative, expected) in [
            ("g", "/b/c/g"),
            ("./g", "/b/c/g"),
            ("g/", "/b/c/g/"),
            (".", "/b/c/"),
            ("./", "/b/c/"),
            ("..", "/b/"),
            ("../", "/b/"),
            ("../g", "/b/g"),
            ("../..", "/"),
            ("../../g", "/g"),
            ("../../../g", "/g"),
            ("g.", "/b/c/g."),
            ("..g", "/b/c/..g"),
            ("./g/.", "/b/c/g/"),
            ("g/../h", "/b/c/h"),
            ("%2e%2E/g", "/b/g"),
            (".%2e/g", "/b/g"),
            ("%2e", "/b/c/"),
        ] {
            assert_eq!(without_dots(merged("/b/c/d;p", relative)), expected, "{relative}");
        }
    }
}
