//! JSON written straight into a buffer, for the responses that are requested most and for long tables.
//!
//! `serde_json` checks each byte of a string by itself, including constant member names, which took a
//! tenth of a request's instructions. Here a member name is copied together with the punctuation
//! around it, and values are scanned many bytes at a time.

use serde::Serialize;

/// A JSON text that is being written.
#[derive(Debug)]
pub struct Json(Vec<u8>);

impl Json {
    /// An empty text with room for this many bytes.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    /// Makes room for this many further bytes.
    pub fn reserve(&mut self, bytes: usize) -> &mut Self {
        self.0.reserve(bytes);
        self
    }

    /// Appends text that is JSON already.
    #[inline]
    pub fn raw(&mut self, json: &str) -> &mut Self {
        self.0.extend_from_slice(json.as_bytes());
        self
    }

    /// Appends a string, byte for byte as `serde_json` would.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.0.reserve(text.len() + 2);
        self.0.push(b'"');
        if is_plain(text.as_bytes()) {
            self.0.extend_from_slice(text.as_bytes());
        } else {
            self.escaped(text);
        }
        self.0.push(b'"');
        self
    }

    /// Appends a string, or `null` for `None`.
    pub fn text_or_null(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.text(text),
            None => self.raw("null"),
        }
    }

    /// Appends a whole number.
    pub fn number(&mut self, number: usize) -> &mut Self {
        self.raw(&number.to_string())
    }

    /// Appends a value as `serde_json` writes it.
    ///
    /// # Panics
    /// If it cannot be serialized: the values are our own structs of text and numbers.
    pub fn value(&mut self, value: &impl Serialize) -> &mut Self {
        serde_json::to_writer(&mut self.0, value)
            .expect("text and numbers are JSON, and a Vec takes all bytes");
        self
    }

    /// The length so far, in bytes.
    #[must_use]
    pub fn length(&self) -> usize {
        self.0.len()
    }

    /// Removes what was appended after this length.
    pub fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }

    /// The text.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Appends a string that is known to need no escapes: an identifier, or a checked setting.
    pub fn word(&mut self, word: &str) -> &mut Self {
        debug_assert!(is_plain(word.as_bytes()), "{word:?} needs escapes");
        self.raw("\"").raw(word).raw("\"")
    }

    /// Kept out of line: hardly any value needs it.
    #[cold]
    fn escaped(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.escape(byte));
    }

    fn escape(&mut self, byte: u8) {
        let short = match byte {
            b'"' | b'\\' => byte,
            0x08 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0x0c => b'f',
            b'\r' => b'r',
            0..b' ' => {
                self.raw(&format!("\\u{byte:04x}"));
                return;
            }
            _ => {
                self.0.push(byte);
                return;
            }
        };
        self.0.extend_from_slice(&[b'\\', short]);
    }
}

/// Whether no byte needs an escape.
fn is_plain(bytes: &[u8]) -> bool {
    let (blocks, rest) = bytes.as_chunks::<16>();
    blocks.iter().all(is_plain_block) && is_plain_end(rest, bytes)
}

/// Whether the last few bytes are plain: scans some earlier bytes again rather than these one by
/// one.
fn is_plain_end(rest: &[u8], bytes: &[u8]) -> bool {
    if rest.is_empty() {
        true
    } else if let Some(last) = bytes.last_chunk::<16>() {
        is_plain_block(last)
    } else if let (Some(first), Some(last)) = (rest.first_chunk::<8>(), rest.last_chunk::<8>()) {
        is_plain_block(first) && is_plain_block(last)
    } else {
        rest.iter().all(|byte| is_plain_byte(*byte))
    }
}

/// Without an early exit, so that the compiler vectorizes it.
fn is_plain_block<const N: usize>(block: &[u8; N]) -> bool {
    block.iter().fold(true, |plain, byte| plain & is_plain_byte(*byte))
}

fn is_plain_byte(byte: u8) -> bool {
    byte >= b' ' && byte != b'"' && byte != b'\\'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> String {
        let mut json = Json::with_capacity(0);
        json.text(text);
        String::from_utf8(json.into_bytes()).unwrap()
    }

    #[test]
    fn text_with_any_character_at_any_position_equals_serde_json() {
        for char in (0..=0x100).chain([0x2028, 0xffff, 0x1_0000]).filter_map(char::from_u32) {
            for at in 0..=17 {
                let text = format!("{}{char}\"{char}", "é/a".repeat(6).split_at(at / 4 * 4).0);
                assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
                let text = "x".repeat(at) + &char.to_string() + "yyyyyyyyyyy";
                assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
            }
        }
    }

    #[test]
    fn number_writes_decimal_digits() {
        let mut json = Json::with_capacity(8);
        json.raw("[").number(0).raw(",").number(usize::MAX).raw("]");
        assert_eq!(json.into_bytes(), format!("[0,{}]", usize::MAX).into_bytes());
    }

    proptest! {
        #[test]
        fn text_equals_serde_json(text in "(\\PC|[\\x00-\\x7f]){0,40}") {
            prop_assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
        }
    }
}
