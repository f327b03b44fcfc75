//! Percent-encoding, both ways (D14; RFC 3986, sections 2.1 and 2.3).

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What is percent-encoded: everything but the unreserved characters of RFC 3986, section 2.3. This
/// is more than its reserved characters.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes raw text for one path segment: UTF-8, upper-case hexadecimal, one pass.
///
/// Only `A-Z a-z 0-9 - . _ ~` stay as they are, so the result is ASCII and holds no `/`.
pub fn encode(text: &str) -> Cow<'_, str> {
    utf8_percent_encode(text, ENCODED).into()
}

/// Appends raw text, percent-encoded for one path segment.
pub(super) fn push_encoded(path: &mut String, text: &str) {
    if is_unreserved(text) {
        path.push_str(text);
    } else {
        path.extend(utf8_percent_encode(text, ENCODED));
    }
}

/// Whether text is its own encoding, as nearly all is.
///
/// Checks chunks of 16 bytes, which the compiler vectorizes. The last 16 bytes may be checked twice.
pub(super) fn is_unreserved(text: &str) -> bool {
    let bytes = text.as_bytes();
    match bytes.last_chunk::<16>() {
        Some(last) => bytes.as_chunks().0.iter().chain([last]).all(are_unreserved),
        None => bytes.iter().all(|byte| unreserved(*byte) == 1),
    }
}

fn are_unreserved(bytes: &[u8; 16]) -> bool {
    bytes.iter().fold(1, |all, byte| all & unreserved(*byte)) == 1
}

/// 1 or 0 instead of a boolean: lazy operators would branch for each byte.
fn unreserved(byte: u8) -> u8 {
    let letter = u8::from((byte | 0x20).wrapping_sub(b'a') < 26);
    let digit = u8::from(byte.wrapping_sub(b'0') < 10);
    let [hyphen, dot, underscore, tilde] =
        [b'-', b'.', b'_', b'~'].map(|own| u8::from(byte == own));
    letter | digit | hyphen | dot | underscore | tilde
}

/// Decodes percent-encoded text to bytes. `None` if an escape is malformed.
///
/// A `+` stays a plus.
pub fn percent_decode(text: &str) -> Option<Cow<'_, [u8]>> {
    let is_escape = |after: &str| {
        let digits = after.as_bytes().first_chunk::<2>();
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    text.split('%').skip(1).all(is_escape).then(|| percent_decode_str(text).into())
}

/// Decodes as a lenient reader would: valid escapes are decoded once. Malformed ones, and those of
/// bytes that are not UTF-8, stay as written.
pub(super) fn decode_leniently(text: &str) -> String {
    let bytes = Cow::from(percent_decode_str(text));
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|byte| format!("%{byte:02X}")));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encode_keeps_unreserved_characters_only() {
        for (text, expected) in [
            ("hello-World_1.0~", "hello-World_1.0~"),
            ("a-word-and-another-one", "a-word-and-another-one"),
            ("a-word-and-another one", "a-word-and-another%20one"),
            ("a word-and-another-one", "a%20word-and-another-one"),
            ("a b", "a%20b"),
            ("100%", "100%25"),
            ("é/\u{1F4A9}", "%C3%A9%2F%F0%9F%92%A9"),
            ("!'()*+,;=:@&$", "%21%27%28%29%2A%2B%2C%3B%3D%3A%40%26%24"),
        ] {
            assert_eq!(encode(text), expected);
            assert_eq!(is_unreserved(text), text == expected);
            let mut path = "/".to_owned();
            push_encoded(&mut path, text);
            assert_eq!(path, format!("/{expected}"));
        }
    }

    #[test]
    fn percent_decode_decodes_once_or_refuses() {
        let decoded = |text| percent_decode(text).map(Cow::into_owned);
        assert_eq!(decoded("a%2fb+"), Some(b"a/b+".to_vec()));
        assert_eq!(decoded("%252F"), Some(b"%2F".to_vec()));
        assert_eq!(decoded("%ff"), Some(vec![0xff]));
        for malformed in ["%", "%4", "%zz", "a%+1", "%u0041", "%é"] {
            assert_eq!(decoded(malformed), None, "{malformed}");
        }
    }

    #[test]
    fn decode_leniently_keeps_malformed_escapes() {
        for (text, expected) in [
            ("100%", "100%"),
            ("%2f%ff", "/%FF"),
            ("%c0%ae", "%C0%AE"),
            ("%C3%A9", "é"),
            ("%%32%65", "%2e"),
        ] {
            assert_eq!(decode_leniently(text), expected);
        }
    }

    #[test]
    fn is_unreserved_agrees_with_encode_for_each_byte() {
        for byte in 0..0x80 {
            let text = char::from(byte).to_string();
            assert_eq!(is_unreserved(&text), encode(&text) == text, "{text:?}");
            assert_eq!(is_unreserved(&text.repeat(17)), is_unreserved(&text));
        }
        assert!(!is_unreserved("é") && !is_unreserved(&"é".repeat(8)));
    }
}
