//! The raw query, read once and strictly (D1, D3).

use std::borrow::Cow;

use super::error::ApiError;
use crate::rules::percent_decode;

/// The most parameters of a request, empty pairs not counted (D3).
const MAX_PARAMETERS: usize = 128;
/// How much of a value a message repeats, in characters (D4).
const MAX_ECHO: usize = 128;

/// A parameter that an operation knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Param {
    /// Its name, compared exactly.
    pub(super) name: &'static str,
    /// The longest value, in bytes.
    pub(super) max_bytes: usize,
}

impl Param {
    /// A parameter whose values are as long as the request target allows.
    pub(super) const fn short(name: &'static str) -> Self {
        Self { name, max_bytes: usize::MAX }
    }
}

/// The values of the known parameters, in the order in which the operation lists them.
/// An empty value counts as absent.
pub(super) type Values<'q, const N: usize> = [Option<Cow<'q, str>>; N];

/// Reads the parameters that an operation knows; others are ignored unread.
pub(super) fn parse<'q, const N: usize>(
    query: Option<&'q str>,
    known: &[Param; N],
) -> Result<Values<'q, N>, ApiError> {
    let mut values: Values<'q, N> = [const { None }; N];
    let mut seen = [false; N];
    for (at, pair) in pairs(query.unwrap_or_default()).enumerate() {
        if at == MAX_PARAMETERS {
            let message = format!("the query has more than {MAX_PARAMETERS} parameters");
            return Err(ApiError::validation(message));
        }
        let (name, value) = cut(pair, b'=').unwrap_or((pair, ""));
        let Some(slot) = slot(name, known) else {
            continue;
        };
        let Param { name, max_bytes } = known[slot];
        if std::mem::replace(&mut seen[slot], true) {
            return Err(ApiError::validation(format!("`{name}` is given more than once")));
        }
        values[slot] = Some(decode(name, value, max_bytes)?).filter(|value| !value.is_empty());
    }
    Ok(values)
}

/// What stands between the `&`s, where that is not nothing.
fn pairs(query: &str) -> impl Iterator<Item = &str> {
    let mut begin = 0;
    let ends = memchr::memchr_iter(b'&', query.as_bytes()).chain([query.len()]);
    let pairs = ends.map(move |end| &query[std::mem::replace(&mut begin, end + 1)..end]);
    pairs.filter(|pair| !pair.is_empty())
}

/// The text before and after the first of these bytes, which is ASCII.
fn cut(text: &str, at: u8) -> Option<(&str, &str)> {
    let at = memchr::memchr(at, text.as_bytes())?;
    Some((&text[..at], &text[at + 1..]))
}

fn slot(name: &str, known: &[Param]) -> Option<usize> {
    let slot = known.iter().position(|param| param.name == name);
    // Hardly anybody encodes a name.
    if slot.is_some() || !name.bytes().any(|b| b == b'%' || b == b'+') {
        return slot;
    }
    let name = decoded(name)?;
    known.iter().position(|param| param.name == name)
}

fn decode<'q>(name: &str, value: &'q str, max_bytes: usize) -> Result<Cow<'q, str>, ApiError> {
    // Without a way out early, so that many bytes are looked at at once.
    let plain = value.bytes().fold(true, |plain, b| plain & is_plain(b));
    if value.len() <= max_bytes && plain {
        return Ok(Cow::Borrowed(value));
    }
    let refuse = |what: &str| ApiError::validation(format!("`{name}` {what}: {}", echo(value)));
    let text = decoded(value).ok_or_else(|| refuse("is not percent-encoded UTF-8"))?;
    if text.contains(char::is_control) {
        return Err(refuse("holds a control character"));
    }
    if text.len() > max_bytes {
        return Err(refuse(&format!("is longer than {max_bytes} bytes")));
    }
    Ok(text)
}

/// Bytes that stand for themselves: most values are nothing else, and one pass tells.
fn is_plain(b: u8) -> bool {
    b.is_ascii_graphic() && b != b'%' && b != b'+'
}

/// Percent-decoded once, `+` as a space; `None` when that is not possible.
fn decoded(text: &str) -> Option<Cow<'_, str>> {
    let spaced: Cow<'_, str> =
        if text.contains('+') { text.replace('+', " ").into() } else { text.into() };
    if !spaced.contains('%') {
        return Some(spaced);
    }
    let bytes = percent_decode(&spaced)?.into_owned();
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// A value as a message repeats it.
pub(super) fn echo(value: &str) -> String {
    let shown: String = value.chars().take(MAX_ECHO).collect();
    format!("\"{shown}\"")
}

/// The parser as its fuzz target sees it, in no ordinary build: `site` of at most 64 bytes and
/// `pathname` of at most 2,048, or `None` where it refuses.
#[cfg(fuzzing)]
#[must_use]
pub fn fuzz_query(query: &str) -> Option<[Option<String>; 2]> {
    const KNOWN: [Param; 2] =
        [Param { name: "site", max_bytes: 64 }, Param { name: "pathname", max_bytes: 2048 }];
    parse(Some(query), &KNOWN).ok().map(|values| values.map(|value| value.map(Cow::into_owned)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [Param; 2] =
        [Param { name: "site", max_bytes: 4 }, Param { name: "pathname", max_bytes: 100 }];

    fn read(query: &str) -> Result<[Option<String>; 2], String> {
        parse(Some(query), &KNOWN)
            .map(|values| values.map(|value| value.map(Cow::into_owned)))
            .map_err(|error| format!("{error:?}"))
    }

    #[test]
    fn known_parameters_are_decoded_once() {
        let text = |text: &str| Some(text.to_owned());
        for (query, expected) in [
            ("", [None, None]),
            ("&&&", [None, None]),
            ("site=main&pathname=/a+b%2Bc", [text("main"), text("/a b+c")]),
            ("s%69te=%6dain", [text("main"), None]),
            ("site=a;b", [text("a;b"), None]),
            ("site&pathname=", [None, None]),
            ("Site=x&site[]=y&%FF=1&%zz=1&x=%ff&=&==", [None, None]),
            ("site=a=b&pathname=%25", [text("a=b"), text("%")]),
            ("+site=x", [None, None]),
            ("site=+&pathname=%2B", [text(" "), text("+")]),
            ("pathname=é%C3%A9", [None, text("éé")]),
        ] {
            assert_eq!(read(query), Ok(expected), "{query}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused_by_name() {
        for (query, expected) in [
            ("site=a&site=a", "`site` is given more than once"),
            ("site=&s%69te=a", "`site` is given more than once"),
            ("site=%", "`site` is not percent-encoded UTF-8: \\\"%\\\""),
            ("site=%FF", "`site` is not percent-encoded UTF-8: \\\"%FF\\\""),
            ("site=a%00", "`site` holds a control character: \\\"a%00\\\""),
            ("pathname=a\u{85}", "`pathname` holds a control character: \\\"a\\u{85}\\\""),
            ("pathname=%C2%85", "`pathname` holds a control character: \\\"%C2%85\\\""),
            ("site=abcde", "`site` is longer than 4 bytes: \\\"abcde\\\""),
        ] {
            let refused = read(query).unwrap_err();
            assert!(refused.contains(expected), "{query}: {refused}");
        }
    }

    #[test]
    fn parameters_are_counted_without_empty_pairs() {
        assert!(read(&"&a=1&".repeat(128)).is_ok());
        assert!(read(&"&a=1&".repeat(129)).is_err());
    }
}
