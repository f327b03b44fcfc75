//! The JSON of responses: a serializer for texts, numbers and structures.
//!
//! `serde_json` compares each byte of a text by itself, those of member names too, which takes a tenth of
//! the instructions of a request. Here eight bytes are compared at once, and the name of a member is
//! copied together with the punctuation around it. The bytes are those that `serde_json` writes.

use std::fmt;

use serde::Serialize;
use serde::ser::{self, Impossible, SerializeMap, SerializeSeq, SerializeStruct, Serializer};

/// The initial capacity of a text, in bytes: enough for most responses.
const USUAL_BYTES: usize = 512;
/// The longest name of a member that is copied with its punctuation, in bytes.
const MAX_NAME: usize = 20;

/// A JSON text that is being written.
#[derive(Debug)]
pub struct Json(Vec<u8>);

/// A list or an object that is being written.
#[derive(Debug)]
pub struct Members<'j> {
    json: &'j mut Json,
    /// What comes before the next member: the opening bracket, or a comma.
    before: u8,
}

/// No value that responses have fails to be written.
#[derive(Debug)]
pub enum Never {}

/// A value as a JSON text.
pub fn to_vec(value: &impl Serialize) -> Vec<u8> {
    let mut json = Json::with_capacity(USUAL_BYTES);
    json.value(value);
    json.0
}

/// A value as a JSON text.
pub fn to_text(value: &impl Serialize) -> String {
    let mut json = Json::with_capacity(USUAL_BYTES);
    json.value(value);
    json.into_text()
}

impl Json {
    /// An empty text with room for this many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    /// Appends text that is JSON already.
    #[inline]
    pub fn raw(&mut self, json: &str) -> &mut Self {
        self.0.extend_from_slice(json.as_bytes());
        self
    }

    /// Appends a value.
    #[inline]
    pub fn value(&mut self, value: &impl Serialize) -> &mut Self {
        match value.serialize(&mut *self) {
            Ok(()) => self,
            Err(never) => match never {},
        }
    }

    /// The length so far, in bytes.
    pub fn length(&self) -> usize {
        self.0.len()
    }

    /// Removes what was appended after this length.
    pub fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }

    /// The text, in UTF-8.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The text.
    ///
    /// # Panics
    /// Never: what is appended is UTF-8.
    pub fn into_text(self) -> String {
        String::from_utf8(self.0).expect("JSON is text")
    }

    fn text(&mut self, text: &str) {
        if is_plain(text.as_bytes()) {
            self.0.push(b'"');
            self.0.extend_from_slice(text.as_bytes());
            self.0.push(b'"');
        } else {
            self.raw(&escaped(text));
        }
    }

    /// Appends the name of a member with what is before and after it.
    #[inline]
    fn name(&mut self, before: u8, name: Name) {
        let length = name.len();
        if length > MAX_NAME {
            self.0.push(before);
            self.text(name);
            self.0.push(b':');
            return;
        }
        let mut text = [0; MAX_NAME + 4];
        [text[0], text[1]] = [before, b'"'];
        text[2..length + 2].copy_from_slice(name.as_bytes());
        [text[length + 2], text[length + 3]] = [b'"', b':'];
        self.0.extend_from_slice(&text[..length + 4]);
    }
}

/// Appends parts of a text.
impl fmt::Write for Json {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if is_plain(text.as_bytes()) {
            self.raw(text);
        } else {
            let escaped = escaped(text);
            self.raw(&escaped[1..escaped.len() - 1]);
        }
        Ok(())
    }
}

/// A text with escapes, in quotes. Kept out of line: hardly any value needs it.
#[cold]
fn escaped(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

/// Whether no byte needs an escape. The last bytes are compared again together with some before them.
fn is_plain(bytes: &[u8]) -> bool {
    if let Some(last) = bytes.last_chunk() {
        let (words, _) = bytes.as_chunks();
        words.iter().all(|word| is_plain_word(*word)) && is_plain_word(*last)
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let mut word = [0; 8];
        word[..4].copy_from_slice(first);
        word[4..].copy_from_slice(last);
        is_plain_word(word)
    } else {
        bytes.iter().all(|byte| *byte >= b' ' && *byte != b'"' && *byte != b'\\')
    }
}

/// Compares all bytes at once: the highest bit of a difference is set where a byte is less than what is
/// subtracted from it. Control characters and, with their second bit flipped, quotes are less than 0x21.
#[inline]
fn is_plain_word(word: [u8; 8]) -> bool {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let word = u64::from_le_bytes(word);
    let quote = (word ^ (0x02 * EACH)).wrapping_sub(0x21 * EACH);
    let backslash = (word ^ (0x5c * EACH)).wrapping_sub(EACH);
    (quote | backslash) & !word & (0x80 * EACH) == 0
}

type Written = Result<(), Never>;
type Unsupported = Result<Impossible<(), Never>, Never>;
type Name = &'static str;

/// Scalars but texts, by `serde_json`.
macro_rules! by_serde_json {
    ($($method:ident: $type:ty),*) => {$(
        fn $method(self, value: $type) -> Written {
            serde_json::to_writer(&mut self.0, &value).expect("it is JSON, and a Vec takes all bytes");
            Ok(())
        }
    )*};
}

impl<'j> Serializer for &'j mut Json {
    type Ok = ();
    type Error = Never;
    type SerializeSeq = Members<'j>;
    type SerializeMap = Members<'j>;
    type SerializeStruct = Members<'j>;
    type SerializeTuple = Impossible<(), Never>;
    type SerializeTupleStruct = Impossible<(), Never>;
    type SerializeTupleVariant = Impossible<(), Never>;
    type SerializeStructVariant = Impossible<(), Never>;

    by_serde_json!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32,
        serialize_u64: u64, serialize_f32: f32, serialize_f64: f64, serialize_char: char,
        serialize_bytes: &[u8]
    );

    #[inline]
    fn serialize_str(self, text: &str) -> Written {
        self.text(text);
        Ok(())
    }

    #[inline]
    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Written {
        use std::fmt::Write;

        self.0.push(b'"');
        write!(self, "{value}").expect("a Vec takes all bytes");
        self.0.push(b'"');
        Ok(())
    }

    #[inline]
    fn serialize_none(self) -> Written {
        self.raw("null");
        Ok(())
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Written {
        self.serialize_none()
    }

    fn serialize_unit_struct(self, _: Name) -> Written {
        self.serialize_none()
    }

    #[inline]
    fn serialize_unit_variant(self, _: Name, _: u32, name: Name) -> Written {
        self.serialize_str(name)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: Name, value: &T) -> Written {
        value.serialize(self)
    }

    #[inline]
    fn serialize_seq(self, _: Option<usize>) -> Result<Members<'j>, Never> {
        Ok(Members { json: self, before: b'[' })
    }

    #[inline]
    fn serialize_map(self, _: Option<usize>) -> Result<Members<'j>, Never> {
        Ok(Members { json: self, before: b'{' })
    }

    #[inline]
    fn serialize_struct(self, _: Name, _: usize) -> Result<Members<'j>, Never> {
        self.serialize_map(None)
    }

    fn serialize_newtype_variant<T>(self, name: Name, _: u32, _: Name, _: &T) -> Written
    where
        T: Serialize + ?Sized,
    {
        unsupported(name)
    }

    fn serialize_tuple(self, length: usize) -> Unsupported {
        unsupported(length)
    }

    fn serialize_tuple_struct(self, name: Name, _: usize) -> Unsupported {
        unsupported(name)
    }

    fn serialize_tuple_variant(self, name: Name, _: u32, _: Name, _: usize) -> Unsupported {
        unsupported(name)
    }

    fn serialize_struct_variant(self, name: Name, _: u32, _: Name, _: usize) -> Unsupported {
        unsupported(name)
    }
}

impl Members<'_> {
    /// Appends what comes before the next member.
    #[inline]
    fn begin(&mut self) -> &mut Json {
        let before = std::mem::replace(&mut self.before, b',');
        self.json.0.push(before);
        self.json
    }

    #[inline]
    fn finish(self, open: u8, close: u8) {
        if self.before == open {
            self.json.0.push(open);
        }
        self.json.0.push(close);
    }
}

impl SerializeSeq for Members<'_> {
    type Ok = ();
    type Error = Never;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        value.serialize(self.begin())
    }

    #[inline]
    fn end(self) -> Written {
        self.finish(b'[', b']');
        Ok(())
    }
}

impl SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Never;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Written {
        let json = self.begin();
        let start = json.length();
        name.serialize(&mut *json)?;
        // A number.
        if json.0[start] != b'"' {
            json.0.insert(start, b'"');
            json.0.push(b'"');
        }
        json.0.push(b':');
        Ok(())
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        value.serialize(&mut *self.json)
    }

    #[inline]
    fn end(self) -> Written {
        self.finish(b'{', b'}');
        Ok(())
    }
}

impl SerializeStruct for Members<'_> {
    type Ok = ();
    type Error = Never;

    #[expect(clippy::inline_always, reason = "the length of each name is known then")]
    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: Name, value: &T) -> Written {
        let before = std::mem::replace(&mut self.before, b',');
        self.json.name(before, name);
        value.serialize(&mut *self.json)
    }

    #[inline]
    fn end(self) -> Written {
        self.finish(b'{', b'}');
        Ok(())
    }
}

/// Tuples, and enums that are tagged by a member of their own: a test of each response would find them.
fn unsupported(what: impl fmt::Display) -> ! {
    panic!("responses have no such value: {what}")
}

impl ser::Error for Never {
    fn custom<T: fmt::Display>(message: T) -> Self {
        unsupported(message)
    }
}

impl fmt::Display for Never {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl std::error::Error for Never {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Each kind of value that responses have.
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Each<'a> {
        text: &'a str,
        none: Option<bool>,
        some: Option<u16>,
        flags: Vec<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        absent: Option<bool>,
        numbers: Vec<i64>,
        real: f64,
        unit: (),
        word: Word,
        a_name_that_is_too_long_to_be_copied: bool,
        #[serde(flatten)]
        tagged: Tagged<'a>,
        untagged: Untagged,
        by_status: BTreeMap<u16, u64>,
        by_name: BTreeMap<&'a str, &'a str>,
        empty: Empty,
        lists: Vec<Vec<Empty>>,
    }

    #[derive(Serialize)]
    struct Empty {}

    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Word {
        TwoWords,
    }

    #[derive(Serialize)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    enum Tagged<'a> {
        One { path: &'a str },
    }

    #[derive(Serialize)]
    #[serde(untagged)]
    enum Untagged {
        One { count: usize },
    }

    #[test]
    fn each_kind_of_value_equals_serde_json() {
        let each = Each {
            text: "a\"b",
            none: None,
            some: Some(404),
            flags: Vec::new(),
            absent: None,
            numbers: vec![0, -1, i64::MAX],
            real: 0.25,
            unit: (),
            word: Word::TwoWords,
            a_name_that_is_too_long_to_be_copied: true,
            tagged: Tagged::One { path: "/" },
            untagged: Untagged::One { count: 1 },
            by_status: BTreeMap::from([(200, 1), (404, 2)]),
            by_name: BTreeMap::from([("a\n", "é")]),
            empty: Empty {},
            lists: vec![Vec::new(), vec![Empty {}, Empty {}]],
        };
        assert_eq!(to_text(&each), serde_json::to_string(&each).unwrap());
        assert_eq!(to_vec(&each), to_text(&each).into_bytes());
    }

    #[test]
    fn displayed_value_equals_its_text() {
        let mut json = Json::with_capacity(0);
        let Ok(()) = json.collect_str(&format_args!("{}\"{}", "https://example.com", "/\u{1}"));
        assert_eq!(json.into_text(), r#""https://example.com\"/\u0001""#);
    }

    #[test]
    fn text_with_any_character_at_any_position_equals_serde_json() {
        for char in (0..=0x100).chain([0x2028, 0xffff, 0x1_0000]).filter_map(char::from_u32) {
            for at in 0..=17 {
                let text = format!("{}{char}\"{char}", "é/a".repeat(6).split_at(at / 4 * 4).0);
                assert_eq!(to_text(&text), serde_json::to_string(&text).unwrap());
                for after in 0..=11 {
                    let text = "x".repeat(at) + &char.to_string() + &"y".repeat(after);
                    assert_eq!(to_text(&text), serde_json::to_string(&text).unwrap());
                }
            }
        }
    }

    proptest! {
        #[test]
        fn text_equals_serde_json(text in "(\\PC|[\\x00-\\x7f]){0,40}") {
            prop_assert_eq!(to_text(&text), serde_json::to_string(&text).unwrap());
        }
    }
}
