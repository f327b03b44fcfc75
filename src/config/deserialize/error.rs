//! Why a value cannot be deserialized, in plain words.

use std::fmt;

use serde::de::{Expected, Unexpected};

use crate::config::value::{Kind, Origin, shown_address};
use frontend_map_platform::suggestion::did_you_mean;

/// The longest text that is shown of a value, in characters.
const MAX_SHOWN: usize = 60;

/// A value that is not what its key needs.
#[derive(Debug)]
pub(in crate::config) struct Error {
    /// The key, with the keys that lead to it.
    pub(in crate::config) key: String,
    pub(in crate::config) origin: Option<Origin>,
    pub(in crate::config) what: String,
}

impl Error {
    /// About a value with this origin.
    pub(super) fn at(origin: &Origin, what: String) -> Self {
        Self { key: String::new(), origin: Some(origin.clone()), what }
    }

    /// With this origin, unless it has one.
    pub(super) fn or_at(mut self, origin: &Origin) -> Self {
        self.origin.get_or_insert_with(|| origin.clone());
        self
    }

    /// This error, of a value below this key.
    pub(super) fn below(mut self, key: &str) -> Self {
        let dot = if self.key.is_empty() || self.key.starts_with('[') { "" } else { "." };
        self.key = format!("{key}{dot}{}", self.key);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Error {}

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { key: String::new(), origin: None, what: message.to_string() }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Str(text) => quoted(text),
            Unexpected::Signed(number) => number.to_string(),
            Unexpected::Float(number) => format!("{number:?}"),
            Unexpected::Bool(value) => value.to_string(),
            Unexpected::Seq => "a list".to_owned(),
            Unexpected::Map => "a table".to_owned(),
            found => found.to_string(),
        };
        Self::custom(format_args!("must be {expected}, not {found}"))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_variant(word: &str, words: &'static [&'static str]) -> Self {
        Self::custom(expected_word(word, words))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::custom(format_args!("`{field}` is required"))
    }
}

/// The problem of text that is none of these words.
fn expected_word(text: &str, words: &[&str]) -> String {
    let suggestion = did_you_mean(text, words.iter().copied());
    format!("must be {}, not {}{suggestion}", one_of(words), quoted(text))
}

/// These words in quotes.
pub(super) fn one_of(words: &[&str]) -> String {
    let all: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    all.join(" or ")
}

/// A text in quotes, shortened. One that may be an address with a password is not shown.
pub(super) fn quoted(text: &str) -> String {
    if text.contains('@') {
        return shown_address(text);
    }
    let shown: String = text.chars().take(MAX_SHOWN).collect();
    let rest = if shown.len() < text.len() { "…" } else { "" };
    format!("\"{}{rest}\"", shown.escape_debug())
}

/// A value as it is shown in an error.
pub(super) fn shown(value: &Kind) -> String {
    match value {
        Kind::Text(text) => quoted(text),
        Kind::List(_) => "a list".to_owned(),
        Kind::Table(_) => "a table".to_owned(),
        Kind::Boolean(_) | Kind::Integer(_) | Kind::Float(_) => value.to_string(),
    }
}
