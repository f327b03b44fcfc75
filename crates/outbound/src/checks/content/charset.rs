//! The bytes of a page as text: by its byte order mark, its header, or what its HTML declares.
//!
//! UTF-8, UTF-16 and windows-1252 are decoded. All that a page says about itself is ASCII, so in another
//! encoding it is read as well; only its texts are not compared with those of the CMS.

/// The encoding of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16 {
        is_big_endian: bool,
    },
    Windows1252,
    /// One that is not decoded.
    Other,
}

/// A decoded page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    /// The text, with U+FFFD in place of bytes that are none.
    pub(super) text: String,
    /// Whether the characters that are not ASCII are certain.
    pub(super) is_exact: bool,
}

/// The characters of windows-1252 from 0x80 to 0x9F (Encoding standard).
const WINDOWS_1252: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}',
    '\u{2c6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}',
    '\u{90}', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}',
    '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
];

/// The `charset` of a media type, such as `text/html; charset="utf-8"`.
pub(super) fn of_media_type(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let (_, rest) = lower.split_once("charset")?;
    let value = rest.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| "\"'".contains(*c));
    let value = value.trim_start_matches(['"', '\'']);
    let end = match quote {
        Some(quote) => value.find(quote)?,
        None => value.find([';', ' ', '\t', ',']).unwrap_or(value.len()),
    };
    Some(value[..end].to_owned()).filter(|label| !label.is_empty())
}

/// The text of a page whose header names this encoding. One that its HTML declares is found by
/// `declared` in the text as read so far.
pub(super) fn decode(
    bytes: &[u8],
    header: Option<&str>,
    declared: impl FnOnce(&str) -> Option<String>,
) -> Decoded {
    let (encoding, bytes) = match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => (Some(Encoding::Utf8), rest),
        [0xfe, 0xff, rest @ ..] => (Some(Encoding::Utf16 { is_big_endian: true }), rest),
        [0xff, 0xfe, rest @ ..] => (Some(Encoding::Utf16 { is_big_endian: false }), rest),
        _ => (header.map(Encoding::of_label), bytes),
    };
    match encoding {
        Some(encoding) => encoding.decode(bytes),
        None => undeclared(bytes, declared),
    }
}

/// Without a mark or a header: what the HTML declares, else UTF-8 if it is, else windows-1252.
fn undeclared(bytes: &[u8], declared: impl FnOnce(&str) -> Option<String>) -> Decoded {
    let lossy = Encoding::Utf8.decode(bytes);
    match declared(&lossy.text).as_deref().map(Encoding::of_label) {
        // A page whose ASCII can be read is not in UTF-16: the standard takes it for UTF-8.
        Some(Encoding::Utf8 | Encoding::Utf16 { .. }) => lossy,
        Some(encoding) => encoding.decode(bytes),
        None if is_utf8(bytes) => lossy,
        None => Encoding::Windows1252.decode(bytes),
    }
}

/// Whether the bytes are UTF-8, but for a last character that is cut off.
fn is_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}

impl Encoding {
    fn of_label(label: &str) -> Self {
        let label = label.trim().trim_matches(['"', '\'']).to_ascii_lowercase();
        match label.as_str() {
            "utf-8" | "utf8" | "unicode-1-1-utf-8" => Self::Utf8,
            "utf-16" | "utf-16le" | "unicode" | "ucs-2" => Self::Utf16 { is_big_endian: false },
            "utf-16be" => Self::Utf16 { is_big_endian: true },
            "windows-1252" | "iso-8859-1" | "iso8859-1" | "latin1" | "l1" | "ascii"
            | "us-ascii" | "cp1252" => Self::Windows1252,
            _ => Self::Other,
        }
    }

    fn decode(self, bytes: &[u8]) -> Decoded {
        let text = match self {
            Self::Utf8 | Self::Other => String::from_utf8_lossy(bytes).into_owned(),
            Self::Windows1252 => bytes
                .iter()
                .map(|byte| match byte {
                    0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
                    byte => char::from(*byte),
                })
                .collect(),
            Self::Utf16 { is_big_endian } => {
                let units = bytes.chunks_exact(2).map(|pair| {
                    let pair = [pair[0], pair[1]];
                    if is_big_endian { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
                });
                let decoded = char::decode_utf16(units);
                decoded.map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
            }
        };
        Decoded { text, is_exact: self != Self::Other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared_by(label: &str) -> impl FnOnce(&str) -> Option<String> {
        let label = (!label.is_empty()).then(|| label.to_owned());
        move |_| label
    }

    #[test]
    fn text_is_decoded_by_mark_then_header_then_declaration_then_bytes() {
        let utf16 = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(bytes).collect()
        };
        let little = [&[0xff, 0xfe][..], &utf16("é€", u16::to_le_bytes)].concat();
        let big = [&[0xfe, 0xff][..], &utf16("é€", u16::to_be_bytes)].concat();
        let bare = utf16("é€", u16::to_le_bytes);
        for (bytes, header, declared, text, is_exact) in [
            (&b"\xef\xbb\xbf\xc3\xa9"[..], Some("latin1"), "", "é", true),
            (&little, Some("utf-8"), "", "é€", true),
            (&big, None, "latin1", "é€", true),
            (&bare, Some("UTF-16LE"), "", "é€", true),
            (b"\xc3\xa9", Some("UTF-8"), "latin1", "é", true),
            (b"\xe9\x80", Some("ISO-8859-1"), "utf-8", "é€", true),
            (b"\xe9", None, "windows-1252", "é", true),
            (b"\xc3\xa9", None, "utf-16", "é", true),
            (b"\xc3\xa9\xe2\x82", None, "", "é\u{fffd}", true),
            (b"caf\xe9 x", None, "", "café x", true),
            (b"caf\xe9", None, "utf-8", "caf\u{fffd}", true),
            (b"\x82\xa0", None, "shift_jis", "\u{fffd}\u{fffd}", false),
            (b"a", Some("x"), "", "a", false),
        ] {
            let decoded = decode(bytes, header, declared_by(declared));
            assert_eq!(
                decoded,
                Decoded { text: text.to_owned(), is_exact },
                "{bytes:?} {header:?}"
            );
        }
    }

    #[test]
    fn charset_of_a_media_type_is_read_with_and_without_quotes() {
        for (text, expected) in [
            ("text/html; charset=utf-8", Some("utf-8")),
            ("text/html;charset=\"UTF-16\"; x=y", Some("utf-16")),
            ("text/html; Charset = 'latin1'", Some("latin1")),
            ("text/html; charset=a;b", Some("a")),
            ("text/html; charset=", None),
            ("text/html", None),
            ("charset=\"open", None),
        ] {
            assert_eq!(of_media_type(text).as_deref(), expected, "{text}");
        }
    }
}
