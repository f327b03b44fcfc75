//! Entity tags (RFC 9110, section 8.8.3) and `If-None-Match` (section 13.1.2).

use axum::http::header::IF_NONE_MATCH;
use axum::http::{HeaderMap, HeaderValue};
use xxhash_rust::xxh3::xxh3_64;

/// A strong tag for these bytes: their hash in 16 hexadecimal digits, the same on every instance.
pub(in crate::http) fn of_bytes(body: &[u8]) -> HeaderValue {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut hash = xxh3_64(body);
    let mut text = [b'"'; 18];
    for digit in &mut text[1..17] {
        hash = hash.rotate_left(4);
        *digit = DIGITS[(hash & 15) as usize];
    }
    HeaderValue::from_bytes(&text).expect("quotes and hexadecimal digits are visible ASCII")
}

/// A strong tag of hashes and flags that decide the bytes of a body, in visible ASCII.
///
/// # Panics
/// If `opaque` has other characters.
pub(in crate::http) fn of_parts(opaque: &str) -> HeaderValue {
    HeaderValue::try_from(format!("\"{opaque}\"")).expect("hashes and flags are visible ASCII")
}

/// Whether `If-None-Match` lists this tag. Weak comparison, as section 13.1.2 asks for.
pub(in crate::http) fn if_none_match_lists(tag: &HeaderValue, headers: &HeaderMap) -> bool {
    let lists = |value: &HeaderValue| {
        let (value, mut quoted) = (value.as_bytes().trim_ascii(), false);
        // A comma inside a tag separates nothing.
        let separates = |byte: &u8| {
            quoted ^= *byte == b'"';
            !quoted && *byte == b','
        };
        let mut tags = value.split(separates).map(<[u8]>::trim_ascii);
        let equals = |listed: &[u8]| listed.strip_prefix(b"W/").unwrap_or(listed) == tag.as_bytes();
        // `*` counts only where it stands alone.
        value == b"*" || tags.any(equals)
    };
    headers.contains_key(IF_NONE_MATCH) && headers.get_all(IF_NONE_MATCH).iter().any(lists)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_bytes_is_the_hash_in_16_digits() {
        for body in ["", "a", "{\"data\":null}", "x".repeat(1000).as_str()] {
            let expected = format!("\"{:016x}\"", xxh3_64(body.as_bytes()));
            assert_eq!(of_bytes(body.as_bytes()), expected);
        }
    }

    #[test]
    fn if_none_match_is_a_list_of_tags_or_a_star() {
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
            assert_eq!(if_none_match_lists(&tag, &headers), expected, "{sent}");
        }
    }
}
