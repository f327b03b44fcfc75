//! `Location` values as reports show them, on terminals, in tables and in browsers: the frontend may
//! send any bytes.

use frontend_map_rules::is_visible;

/// Characters of a `Location` that are reported.
pub const LOCATION_CHARS: usize = 2048;

/// The value as sent, with U+FFFD in place of bytes that are not UTF-8 and of characters that are
/// not visible.
pub(super) fn readable(sent: &[u8]) -> String {
    let visible = |c| if is_visible(c) { c } else { char::REPLACEMENT_CHARACTER };
    String::from_utf8_lossy(sent).chars().take(LOCATION_CHARS).map(visible).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_are_not_visible_are_replaced() {
        for (sent, expected) in [
            (&b"/en/new?a=b#c"[..], "/en/new?a=b#c"),
            ("/café".as_bytes(), "/café"),
            (b"/caf\xe9", "/caf\u{fffd}"),
            (b"/a\tb\r\n\x1b[31mc\0", "/a\u{fffd}b\u{fffd}\u{fffd}\u{fffd}[31mc\u{fffd}"),
            ("/\u{9b}31m\u{85}".as_bytes(), "/\u{fffd}31m\u{fffd}"),
            ("/\u{202e}live\u{2028}".as_bytes(), "/\u{fffd}live\u{fffd}"),
            ("/a\u{200b}b\u{feff}c\u{fffe}".as_bytes(), "/a\u{fffd}b\u{fffd}c\u{fffd}"),
        ] {
            assert_eq!(readable(sent), expected);
        }
        let long = readable("ä".repeat(LOCATION_CHARS + 1).as_bytes());
        assert_eq!(long.chars().count(), LOCATION_CHARS);
    }
}
