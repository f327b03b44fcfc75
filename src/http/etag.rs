//! Entity tags and conditional requests (RFC 9110, sections 8.8.3 and 13.1).

use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::header::{IF_MODIFIED_SINCE, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue};
use xxhash_rust::xxh3::xxh3_64;

/// A strong tag for these bytes: the same bytes have the same tag on every instance.
pub(super) fn tag(body: &[u8]) -> HeaderValue {
    let hash = xxh3_64(body).to_be_bytes();
    let mut text = [b'"'; 18];
    for (pair, byte) in text[1..17].chunks_exact_mut(2).zip(hash) {
        pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
    }
    HeaderValue::from_bytes(&text).unwrap_or(HeaderValue::from_static("\"\""))
}

fn digit(nibble: u8) -> u8 {
    b"0123456789abcdef"[usize::from(nibble)]
}

/// Whether the client has the bytes with this tag already. Weak comparison, as a GET asks for.
pub(super) fn is_known(tag: &HeaderValue, headers: &HeaderMap) -> bool {
    // A comma within a tag divides nothing, and `*` is none of a list.
    let listed = |value: &HeaderValue| {
        let (value, mut quoted) = (value.as_bytes().trim_ascii(), false);
        let ends = |byte: &u8| {
            quoted ^= *byte == b'"';
            !quoted && *byte == b','
        };
        let mut tags = value.split(ends).map(<[u8]>::trim_ascii);
        let own = |known: &[u8]| known.strip_prefix(b"W/").unwrap_or(known) == tag.as_bytes();
        value == b"*" || tags.any(own)
    };
    headers.contains_key(IF_NONE_MATCH) && headers.get_all(IF_NONE_MATCH).iter().any(listed)
}

/// Whether the client has what it asks for: by the tag, or where it sends none by the date, in
/// whole seconds (RFC 9110, sections 13.1.3 and 13.2.2). Without a date of ours only the tag tells.
pub(super) fn is_current(
    tag: &HeaderValue,
    changed: Option<SystemTime>,
    headers: &HeaderMap,
) -> bool {
    if headers.contains_key(IF_NONE_MATCH) {
        return is_known(tag, headers);
    }
    let since = headers.get(IF_MODIFIED_SINCE).and_then(|value| value.to_str().ok());
    let since = since.and_then(|text| httpdate::parse_http_date(text).ok());
    changed.zip(since).is_some_and(|(changed, since)| seconds(changed) <= seconds(since))
}

fn seconds(moment: SystemTime) -> u64 {
    moment.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_the_hash_in_16_digits() {
        for body in ["", "a", "{\"data\":null}", "x".repeat(1000).as_str()] {
            let expected = format!("\"{:016x}\"", xxh3_64(body.as_bytes()));
            assert_eq!(tag(body.as_bytes()), expected);
        }
    }

    #[test]
    fn known_tags() {
        let tag = HeaderValue::from_static("\"a\"");
        for (sent, expected) in [
            ("\"a\"", true),
            ("\"b\", W/\"a\"", true),
            ("*", true),
            (" * ", true),
            ("\"x,*,y\"", false),
            ("\"x,\", \"a\"", true),
            ("\"b\", *", false),
            ("a", false),
            ("\"b\"", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(IF_NONE_MATCH, HeaderValue::from_static(sent))]);
            assert_eq!(is_known(&tag, &headers), expected, "{sent}");
        }
    }
}
