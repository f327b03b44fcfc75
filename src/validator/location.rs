//! `Location` values as reports show them: a peer may write anything there, and people see them on
//! terminals, in tables and in browsers.

/// Characters of a `Location` that are reported; the rest is the peer's to waste.
pub const LOCATION_CHARS: usize = 2048;

/// The value as sent, as far as it is text that only stands for itself.
pub(super) fn harmless(sent: &[u8]) -> String {
    let text = String::from_utf8_lossy(sent);
    let visible = |c: char| if is_harmful(c) { char::REPLACEMENT_CHARACTER } else { c };
    text.chars().take(LOCATION_CHARS).map(visible).collect()
}

/// Characters that move the cursor, break lines or turn the reading direction.
fn is_harmful(c: char) -> bool {
    let turns = ['\u{61c}', '\u{200e}', '\u{200f}'].contains(&c)
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c);
    c.is_control() || turns || ['\u{2028}', '\u{2029}'].contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_plain_text_is_replaced() {
        for (sent, expected) in [
            (&b"/en/new?a=b#c"[..], "/en/new?a=b#c"),
            ("/café".as_bytes(), "/café"),
            (b"/caf\xe9", "/caf\u{fffd}"),
            (b"/a\tb\r\n\x1b[31mc\0", "/a\u{fffd}b\u{fffd}\u{fffd}\u{fffd}[31mc\u{fffd}"),
            ("/\u{9b}31m\u{85}".as_bytes(), "/\u{fffd}31m\u{fffd}"),
            ("/\u{202e}live\u{2028}".as_bytes(), "/\u{fffd}live\u{fffd}"),
        ] {
            assert_eq!(harmless(sent), expected);
        }
        let long = harmless("ä".repeat(LOCATION_CHARS + 1).as_bytes());
        assert_eq!(long.chars().count(), LOCATION_CHARS);
    }
}
