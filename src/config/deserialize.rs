//! Deserializes values without conversions: text is not a number, and 2.7 is not a whole number.
//! Only the text of a variable is converted. An error has the key, the origin and what is expected.

mod error;
mod nested;

pub(super) use error::Error;

use std::cell::RefCell;
use std::fmt;

use serde::de::{Deserializer, Expected, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use self::nested::{Elements, Entries};

use super::known_keys::{Keys, UnknownKey};
use super::value::{Kind, Origin, Table, Value};

/// A value to be deserialized.
pub(super) struct Setting<'k> {
    value: Value,
    path: String,
    keys: &'k RefCell<Keys>,
}

impl<'k> Setting<'k> {
    pub(super) fn new(value: Value, keys: &'k RefCell<Keys>) -> Self {
        Self { value, path: String::new(), keys }
    }

    fn is_variable(&self) -> bool {
        matches!(self.value.origin, Origin::Variable(_))
    }

    /// The text that a variable has.
    fn variable(&self) -> Option<&str> {
        self.value.text().filter(|_| self.is_variable())
    }

    fn expected(&self, what: impl fmt::Display) -> Error {
        let found = error::shown(&self.value.kind);
        Error::at(&self.value.origin, format!("must be {what}, not {found}"))
    }

    fn number(&self) -> Result<i128, Error> {
        if let Kind::Integer(number) = self.value.kind {
            return Ok(number);
        }
        let number = self.variable().and_then(|text| text.trim().parse().ok());
        number.ok_or_else(|| self.expected("a whole number"))
    }

    fn child(&self, key: &str, value: Value) -> Self {
        let path =
            if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        Self { value, path, keys: self.keys }
    }

    /// The entries of a table, and the setting without them. The error of another value names what
    /// is `expected`.
    fn into_table(mut self, expected: &str) -> Result<(Table, Self), Error> {
        match std::mem::replace(&mut self.value.kind, Kind::Boolean(false)) {
            Kind::Table(table) => Ok((table, self)),
            kind => {
                self.value.kind = kind;
                Err(self.expected(expected))
            }
        }
    }

    /// The elements of a list; those in a variable are separated by commas.
    fn into_list(self) -> Result<Vec<Value>, Error> {
        let text = self.value.text();
        if let Some(text) = text.filter(|_| self.is_variable()) {
            let origin = &self.value.origin;
            let element =
                |text: &str| Value { kind: Kind::Text(text.into()), origin: origin.clone() };
            return Ok(text.split(',').map(element).collect());
        }
        if let Some(text) = text {
            let example = error::quoted(text);
            return Err(self.expected(format_args!("a list, like [{example}]")));
        }
        match self.value.kind {
            Kind::List(list) => Ok(list),
            _ => Err(self.expected("a list in brackets")),
        }
    }
}

impl<'de> Deserializer<'de> for Setting<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let origin = self.value.origin.clone();
        let value = match self.value.kind {
            Kind::Boolean(value) => visitor.visit_bool(value),
            Kind::Integer(number) => match i64::try_from(number) {
                Ok(number) => visitor.visit_i64(number),
                Err(_) => visitor.visit_i128(number),
            },
            Kind::Float(number) => visitor.visit_f64(number),
            Kind::Text(text) => visitor.visit_string(text),
            Kind::List(_) => return self.deserialize_seq(visitor),
            Kind::Table(_) => return self.deserialize_map(visitor),
        };
        value.map_err(|error: Error| error.or_at(&origin))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let text = self.variable().map(|text| text.trim().to_ascii_lowercase());
        let value = match (&self.value.kind, text.as_deref()) {
            (Kind::Boolean(value), _) => Some(*value),
            (_, Some("true" | "1" | "yes" | "on")) => Some(true),
            (_, Some("false" | "0" | "no" | "off")) => Some(false),
            _ => None,
        };
        visitor.visit_bool(value.ok_or_else(|| self.expected("true or false"))?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let number = u64::try_from(self.number()?);
        visitor.visit_u64(number.map_err(|_| self.expected("a whole number of at least 0"))?)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let number = i64::try_from(self.number()?);
        visitor.visit_i64(number.map_err(|_| self.expected("a smaller whole number"))?)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_u64(visitor)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_u64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let number = match (&self.value.kind, self.variable()) {
            (Kind::Float(number), _) => Some(*number),
            // Exact up to 2^53, which no setting needs.
            (Kind::Integer(number), _) => i32::try_from(*number).ok().map(f64::from),
            (_, Some(text)) => text.trim().parse().ok(),
            _ => None,
        };
        visitor.visit_f64(number.ok_or_else(|| self.expected("a number"))?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_string(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let origin = self.value.origin.clone();
        match self.value.kind {
            Kind::Text(text) => {
                visitor.visit_string(text).map_err(|error: Error| error.or_at(&origin))
            }
            _ => Err(self.expected("text in quotes")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let (path, keys) = (self.path.clone(), self.keys);
        let values = self.into_list()?.into_iter().enumerate();
        visitor.visit_seq(Elements { values, path, keys })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let origin = self.value.origin.clone();
        let (table, parent) = self.into_table("a table")?;
        visitor.visit_map(Entries::new(table, parent)).map_err(|error: Error| error.or_at(&origin))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let origin = self.value.origin.clone();
        if self.path.is_empty() {
            self.keys.borrow_mut().known = Some(fields);
        }
        // The default of serde names a type of this crate.
        let expected = (&visitor as &dyn Expected).to_string();
        let expected =
            if expected.starts_with("struct ") { "a table of settings" } else { &expected };
        let (table, parent) = self.into_table(expected)?;
        let is_known = |key: &str| fields.contains(&key);
        let (known, unknown): (Table, Table) =
            table.into_iter().partition(|(key, _)| is_known(key));
        for (key, value) in unknown {
            let Setting { path, value, .. } = parent.child(&key, value);
            let key = UnknownKey { path, origin: value.origin, known: fields };
            parent.keys.borrow_mut().unknown.push(key);
        }
        visitor.visit_map(Entries::new(known, parent)).map_err(|error: Error| error.or_at(&origin))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let origin = self.value.origin.clone();
        match self.value.kind {
            Kind::Text(text) => {
                let word = IntoDeserializer::<Error>::into_deserializer(text);
                visitor.visit_enum(word).map_err(|error: Error| error.or_at(&origin))
            }
            _ => Err(self.expected(error::one_of(words))),
        }
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u128 f32 char bytes byte_buf unit unit_struct tuple tuple_struct
        identifier ignored_any
    }
}
