//! The raw query, read once and strictly (D1, D3).

use std::borrow::Cow;

use crate::http::response::error::ApiError;
use frontend_map_rules::percent_decode;

/// The most parameters of a query, not counting empty pairs (D3).
const MAX_PARAMETERS: usize = 128;
/// The part of a value that a message repeats, in characters (D4).
const MAX_ECHO: usize = 128;

/// A parameter that an operation knows.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct Param {
    /// Its name, compared exactly.
    pub(in crate::http) name: &'static str,
    /// The longest value, in bytes.
    pub(in crate::http) max_bytes: usize,
}

impl Param {
    /// A parameter that is only limited by the request target: all its valid values are short.
    pub(in crate::http) const fn unlimited(name: &'static str) -> Self {
        Self { name, max_bytes: usize::MAX }
    }
}

/// The values of the known parameters, in the order in which the operation lists them.
/// An empty value counts as absent.
pub(in crate::http) type Values<'q, const N: usize> = [Option<Cow<'q, str>>; N];

/// Parses the parameters that an operation knows; others are ignored undecoded.
pub(in crate::http) fn parse<'q, const N: usize>(
    query: Option<&'q str>,
    known: &[Param; N],
) -> Result<Values<'q, N>, ApiError> {
    let mut values: Values<'q, N> = [const { None }; N];
    let mut seen = [false; N];
    for (position, pair) in pairs(query.unwrap_or_default()).enumerate() {
        if position == MAX_PARAMETERS {
            let message = format!("the query has more than {MAX_PARAMETERS} parameters");
            return Err(ApiError::validation(message));
        }
        // A vectorized search would take longer, because names are short.
        let equals = pair.bytes().position(|b| b == b'=').unwrap_or(pair.len());
        let (name, value) = (&pair[..equals], pair.get(equals + 1..).unwrap_or_default());
        let Some(index) = index_of(name, known) else {
            continue;
        };
        let Param { name, max_bytes } = known[index];
        if std::mem::replace(&mut seen[index], true) {
            return Err(ApiError::validation(format!("`{name}` is given more than once")));
        }
        values[index] = Some(decode(name, value, max_bytes)?).filter(|value| !value.is_empty());
    }
    Ok(values)
}

/// The texts between the `&`s that are not empty.
fn pairs(query: &str) -> impl Iterator<Item = &str> {
    let mut begin = 0;
    let ends = memchr::memchr_iter(b'&', query.as_bytes()).chain([query.len()]);
    let pairs = ends.map(move |end| &query[std::mem::replace(&mut begin, end + 1)..end]);
    pairs.filter(|pair| !pair.is_empty())
}

fn index_of(name: &str, known: &[Param]) -> Option<usize> {
    let index = known.iter().position(|param| param.name == name);
    // Hardly any client encodes a name.
    if index.is_some() || !name.bytes().any(|b| b == b'%' || b == b'+') {
        return index;
    }
    let name = percent_decoded(name)?;
    known.iter().position(|param| param.name == name)
}

fn decode<'q>(name: &str, value: &'q str, max_bytes: usize) -> Result<Cow<'q, str>, ApiError> {
    // Without an early exit, so that the compiler vectorizes it.
    let plain = value.bytes().fold(true, |plain, b| plain & is_plain(b));
    if value.len() <= max_bytes && plain {
        return Ok(Cow::Borrowed(value));
    }
    let refuse = |what: &str| ApiError::validation(format!("`{name}` {what}: {}", echo(value)));
    let text = percent_decoded(value).ok_or_else(|| refuse("is not percent-encoded UTF-8"))?;
    if text.contains(char::is_control) {
        return Err(refuse("holds a control character"));
    }
    if text.len() > max_bytes {
        return Err(refuse(&format!("is longer than {max_bytes} bytes")));
    }
    Ok(text)
}

/// Whether a byte needs no decoding: most values have no other bytes and need only one pass.
fn is_plain(b: u8) -> bool {
    b.is_ascii_graphic() && b != b'%' && b != b'+'
}

/// Percent-decoded once, `+` as a space; `None` where that is not possible.
fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    let spaced: Cow<'_, str> =
        if text.contains('+') { text.replace('+', " ").into() } else { text.into() };
    if !spaced.contains('%') {
        return Some(spaced);
    }
    let bytes = percent_decode(&spaced)?.into_owned();
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// A value as it is quoted in messages.
pub(in crate::http) fn echo(value: &str) -> String {
    let shown: String = value.chars().take(MAX_ECHO).collect();
    format!("\"{shown}\"")
}

/// The parser for its fuzz target, in no ordinary build: `site` of at most 64 bytes and
/// `pathname` of at most 2,048, or `None` where it refuses the query.
#[cfg(fuzzing)]
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

    fn parsed(query: &str) -> Result<[Option<String>; 2], String> {
        parse(Some(query), &KNOWN)
            .map(|values| values.map(|value| value.map(Cow::into_owned)))
            .map_err(|error| format!("{error:?}"))
    }

    #[test]
    fn parse_decodes_known_parameters_once() {
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
            assert_eq!(parsed(query), Ok(expected), "{query}");
        }
    }

    #[test]
    fn parse_refuses_invalid_parameters_by_name() {
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
            let refused = parsed(query).unwrap_err();
            assert!(refused.contains(expected), "{query}: {refused}");
        }
    }

    #[test]
    fn parse_does_not_count_empty_pairs() {
        assert!(parsed(&"&a=1&".repeat(128)).is_ok());
        assert!(parsed(&"&a=1&".repeat(129)).is_err());
    }
}
