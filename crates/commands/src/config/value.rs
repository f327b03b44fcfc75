//! Reads values as they are written, without the conversions of `config`: text is not a number, and
//! 2.7 is not a whole number. Only the text of a variable is converted.

use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::time::Duration;

use config::{Map, Value, ValueKind};

use frontend_map_platform::spelling::did_you_mean;

/// Values by key.
pub(super) type Table = Map<String, Value>;

/// The longest text that is shown of a value, in characters.
const MAX_SHOWN: usize = 60;

/// What a value is read by: a function that says what is wrong with a value.
pub(super) trait Read<T>: Fn(&Value) -> Result<T, String> {}

impl<T, F: Fn(&Value) -> Result<T, String>> Read<T> for F {}

/// The origin of a value in the settings file, by its line, counted from 1.
pub(super) fn at_line(line: usize) -> String {
    format!("line {line}")
}

/// The line of an origin, if it is one of the settings file.
pub(super) fn line(origin: &str) -> Option<usize> {
    origin.strip_prefix("line ")?.parse().ok()
}

/// The origin that problems of a value name; defaults have none.
pub(super) fn origin(value: &Value) -> Option<String> {
    value.origin().map(str::to_owned)
}

/// The text of a value that an environment variable has.
fn variable(value: &Value) -> Option<&str> {
    match &value.kind {
        ValueKind::String(text) if value.origin().is_some_and(|origin| line(origin).is_none()) => {
            Some(text.trim())
        }
        _ => None,
    }
}

/// The problem of a value that is not what its key needs.
pub(super) fn expected(what: impl fmt::Display, value: &Value) -> String {
    let found = match &value.kind {
        ValueKind::String(text) => quoted(text),
        ValueKind::Array(_) => "a list".to_owned(),
        ValueKind::Table(_) => "a table".to_owned(),
        ValueKind::Float(number) => format!("{number:?}"),
        kind => kind.to_string(),
    };
    format!("must be {what}, not {found}")
}

/// A text in quotes, shortened. One that may be an address with a password is not shown.
fn quoted(text: &str) -> String {
    if text.contains('@') {
        return shown_address(text);
    }
    let shown: String = text.chars().take(MAX_SHOWN).collect();
    let rest = if shown.len() < text.len() { "…" } else { "" };
    format!("\"{}{rest}\"", shown.escape_debug())
}

/// An address for a problem's text; one with an `@` is not shown, since it may have a password.
pub(super) fn shown_address(text: &str) -> String {
    if text.contains('@') { "its value".to_owned() } else { format!("`{}`", text.escape_debug()) }
}

pub(super) fn text(value: &Value) -> Result<String, String> {
    match &value.kind {
        ValueKind::String(text) => Ok(text.clone()),
        _ => Err(expected("text in quotes", value)),
    }
}

/// Text with a meaning of its own.
pub(super) fn parsed<T, E: fmt::Display>(parse: impl Fn(&str) -> Result<T, E>) -> impl Read<T> {
    move |value: &Value| parse(&text(value)?).map_err(|error| error.to_string())
}

/// One of these words.
pub(super) fn word<T: Copy, const N: usize>(words: [(&'static str, T); N]) -> impl Read<T> {
    move |value: &Value| {
        let text = text(value).unwrap_or_default();
        if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == text) {
            return Ok(*meaning);
        }
        let all = words.map(|(word, _)| format!("\"{word}\"")).join(" or ");
        Err(expected(all, value) + &did_you_mean(&text, words.map(|(word, _)| word)))
    }
}

pub(super) fn boolean(value: &Value) -> Result<bool, String> {
    let text = variable(value).map(str::to_ascii_lowercase);
    match (&value.kind, text.as_deref()) {
        (ValueKind::Boolean(value), _) => Ok(*value),
        (_, Some("true" | "1" | "yes" | "on")) => Ok(true),
        (_, Some("false" | "0" | "no" | "off")) => Ok(false),
        _ => Err(expected("true or false", value)),
    }
}

/// A whole number within these bounds.
pub(super) fn whole<T: TryFrom<u64>>(bounds: impl RangeBounds<u64>) -> impl Read<T> {
    move |value: &Value| {
        let number = match value.kind {
            ValueKind::I128(number) => Some(number),
            _ => variable(value).and_then(|text| text.parse().ok()),
        };
        let number = number.ok_or_else(|| expected("a whole number", value))?;
        let number =
            u64::try_from(number).map_err(|_| expected("a whole number of at least 0", value))?;
        if !bounds.contains(&number) {
            return Err(match (bounds.start_bound(), bounds.end_bound()) {
                (Bound::Included(least), Bound::Included(most)) => {
                    format!("must be between {least} and {most}")
                }
                (Bound::Included(least), _) => format!("must be at least {least}"),
                (_, Bound::Included(most) | Bound::Excluded(most)) => {
                    format!("must be at most {most}")
                }
                _ => expected("another number", value),
            });
        }
        T::try_from(number).map_err(|_| expected("a smaller whole number", value))
    }
}

/// A time in whole milliseconds.
pub(super) fn millis(bounds: impl RangeBounds<u64>) -> impl Read<Duration> {
    let read = whole(bounds);
    move |value: &Value| read(value).map(Duration::from_millis)
}

/// A time in whole seconds.
pub(super) fn seconds(bounds: impl RangeBounds<u64>) -> impl Read<Duration> {
    let read = whole(bounds);
    move |value: &Value| read(value).map(Duration::from_secs)
}

/// A part of a whole, from `least` to 1.
pub(super) fn ratio(least: f64) -> impl Read<f64> {
    move |value: &Value| {
        let number = match value.kind {
            ValueKind::Float(number) => Some(number),
            // Exact up to 2^53; a larger one is out of bounds anyway.
            ValueKind::I128(number) => i32::try_from(number).ok().map(f64::from),
            _ => variable(value).and_then(|text| text.parse().ok()),
        };
        match number {
            Some(number) if (least..=1.0).contains(&number) => Ok(number),
            Some(_) => Err(format!("must be a number from {least} to 1")),
            None => Err(expected("a number", value)),
        }
    }
}

/// The elements of a list; those in a variable are separated by commas.
pub(super) fn elements(value: &Value) -> Result<Vec<Value>, String> {
    if let Some(text) = variable(value) {
        let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
        return Ok(texts.map(|text| Value::new(origin(value).as_ref(), text)).collect());
    }
    match &value.kind {
        ValueKind::Array(list) => Ok(list.clone()),
        ValueKind::String(text) => {
            Err(expected(format_args!("a list, like [{}]", quoted(text)), value))
        }
        _ => Err(expected("a list in brackets", value)),
    }
}

/// The entries of a table in the order of their keys.
pub(super) fn entries(table: Table) -> Vec<(String, Value)> {
    let mut entries: Vec<_> = table.into_iter().collect();
    entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    entries
}
