//! Reads the needed fields of a document's JSON into slots, borrowing text where it has no escapes.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;

use super::path_tree::PathTree;
use frontend_map_rules::{DocumentLocale, FieldValue};

/// The value at one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReadField<'a> {
    /// An object on the path lacks the key at this position of the path.
    Absent(usize),
    Null,
    /// The value at this position of the path is null, and the path leads on.
    NullAt(usize),
    Text(&'a str),
    Unsigned(u64),
    Signed(i64),
    Boolean(bool),
    /// The only variant with memory of its own, and a rare one, so that the drop of a value is one
    /// comparison. The drop of a type that contains itself would not be inlined at all.
    Owned(Box<OwnedField<'a>>),
    Other,
}

/// A value with memory of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OwnedField<'a> {
    /// A text with escapes.
    Text(String),
    /// The values in a list on the path, without those that are null.
    List(Box<[FieldValue<'a>]>),
}

impl<'a> ReadField<'a> {
    /// The text, if it is one.
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Owned(owned) => match &**owned {
                OwnedField::Text(text) => Some(text),
                OwnedField::List(_) => None,
            },
            _ => None,
        }
    }

    /// The text, taken out.
    pub(super) fn into_text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Owned(owned) => match *owned {
                OwnedField::Text(text) => Some(Cow::Owned(text)),
                OwnedField::List(_) => None,
            },
            _ => None,
        }
    }

    fn list(values: Vec<FieldValue<'a>>) -> Self {
        Self::Owned(Box::new(OwnedField::List(values.into())))
    }
}

impl Default for ReadField<'_> {
    fn default() -> Self {
        Self::Absent(0)
    }
}

impl<'a> From<ReadField<'a>> for FieldValue<'a> {
    fn from(field: ReadField<'a>) -> Self {
        match field {
            ReadField::Absent(at) => Self::Absent(at),
            ReadField::Null => Self::Missing,
            ReadField::NullAt(at) => Self::NullAt(at),
            ReadField::Text(text) => Self::Text(Cow::Borrowed(text)),
            ReadField::Unsigned(number) => Self::Text(number.to_string().into()),
            ReadField::Signed(number) => Self::Text(number.to_string().into()),
            ReadField::Boolean(value) => Self::Boolean(value),
            ReadField::Owned(owned) => match *owned {
                OwnedField::Text(text) => Self::Text(Cow::Owned(text)),
                OwnedField::List(values) => Self::List(values),
            },
            ReadField::Other => Self::NotText,
        }
    }
}

impl<'a> From<ReadField<'a>> for DocumentLocale<'a> {
    fn from(field: ReadField<'a>) -> Self {
        match field {
            ReadField::Absent(_) | ReadField::Null => Self::None,
            field => field.into_text().map_or(Self::NotText, Self::Named),
        }
    }
}

/// The levels of objects and lists that are read value by value: more than paths have. Lists may be in
/// lists without end; below these levels `serde_json` refuses more than 128 others.
const LEVELS_BY_VALUE: u8 = 32;

/// Reads one value of the document. Rare values and their keys, which are in lists or in documents that are
/// read by value, have reader types of their own: with a second caller, the readers of all others would not
/// be inlined.
struct ValueReader<'p, 'f, 'a, const IS_RARE: bool> {
    /// The paths that lead to the value or through it.
    paths: &'p PathTree,
    fields: &'f mut [ReadField<'a>],
    /// In how many levels of objects and lists each value is found first and then read by itself, so that
    /// one that cannot be read is [`ReadField::Other`]. Only with `IS_RARE`.
    by_value: u8,
}

impl<'a, const IS_RARE: bool> ValueReader<'_, '_, 'a, IS_RARE> {
    /// Sets a value without keys: the paths that end here have it, those that lead on end too
    /// early.
    fn set(self, value: ReadField<'a>) {
        for slot in &self.paths.through {
            let is_null = value == ReadField::Null;
            let null = ReadField::NullAt(self.paths.depth - 1);
            self.fields[*slot] = if is_null { null } else { ReadField::Other };
        }
        if let [slots @ .., last] = self.paths.ends.as_slice() {
            for slot in slots {
                self.fields[*slot] = value.clone();
            }
            self.fields[*last] = value;
        }
    }

    /// Reads the members of an object whose slots are [`ReadField::Absent`].
    fn read_members<A: MapAccess<'a>>(self, mut entries: A) -> Result<(), A::Error> {
        let Self { paths, fields, by_value } = self;
        for slot in &paths.sent_by_default {
            fields[*slot] = ReadField::Null;
        }
        while let Some(paths) = entries.next_key_seed(KeyReader::<IS_RARE>(paths))? {
            match paths {
                Some(paths) => {
                    let fields = &mut *fields;
                    entries.next_value_seed(ValueReader::<IS_RARE> { paths, fields, by_value })?;
                }
                None => drop(entries.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }

    /// Reads a list on a path: a to-many relation or a repeatable component. Each path through it
    /// has the values of all its items.
    #[cold]
    fn read_list<A: SeqAccess<'a>>(self, mut items: A) -> Result<(), A::Error> {
        let Self { paths, fields, by_value } = self;
        let mut item = vec![ReadField::Null; fields.len()];
        let mut values: Vec<Vec<FieldValue<'a>>> = vec![Vec::new(); paths.through.len()];
        while items
            .next_element_seed(ValueReader::<true> { paths, fields: &mut item, by_value })?
            .is_some()
        {
            for (values, slot) in values.iter_mut().zip(&paths.through) {
                match std::mem::replace(&mut item[*slot], ReadField::Null) {
                    ReadField::Null | ReadField::NullAt(_) => {}
                    value => match value.into() {
                        FieldValue::List(inner) => values.extend(inner),
                        value => values.push(value),
                    },
                }
            }
        }
        for slot in &paths.ends {
            fields[*slot] = ReadField::Other;
        }
        for (values, slot) in values.into_iter().zip(&paths.through) {
            fields[*slot] = ReadField::list(values);
        }
        Ok(())
    }
}

impl<'de, const IS_RARE: bool> DeserializeSeed<'de> for ValueReader<'_, '_, 'de, IS_RARE> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        if self.paths.is_json {
            let json = <&RawValue>::deserialize(reader)?;
            self.set(ReadField::Text(json.get()));
            return Ok(());
        }
        if IS_RARE && self.by_value > 0 {
            let json = <&RawValue>::deserialize(reader)?.get();
            let Self { paths, fields, by_value } = self;
            let within = by_value - 1;
            let value = ValueReader::<true> { paths, fields: &mut *fields, by_value: within };
            if serde_json::Deserializer::from_str(json).deserialize_any(value).is_err() {
                Self { paths, fields, by_value }.set(ReadField::Other);
            }
            return Ok(());
        }
        reader.deserialize_any(self)
    }
}

impl<'de, const IS_RARE: bool> Visitor<'de> for ValueReader<'_, '_, 'de, IS_RARE> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.set(ReadField::Null);
        Ok(())
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<(), E> {
        self.set(ReadField::Text(text));
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.set(ReadField::Owned(Box::new(OwnedField::Text(text.to_owned()))));
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.set(ReadField::Unsigned(number));
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.set(ReadField::Signed(number));
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.set(ReadField::Other);
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.set(ReadField::Boolean(value));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        if !self.paths.through.is_empty() {
            return self.read_list(items);
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        self.set(ReadField::Other);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<(), A::Error> {
        let Self { paths, fields, by_value } = self;
        // Of repeated keys the last one counts.
        for slot in &paths.ends {
            fields[*slot] = ReadField::Other;
        }
        for slot in &paths.through {
            fields[*slot] = ReadField::Absent(paths.depth);
        }
        Self { paths, fields, by_value }.read_members(entries)
    }
}

/// Reads a key of an object and finds the paths through it.
struct KeyReader<'p, const IS_RARE: bool>(&'p PathTree);

impl<'de, 'p, const IS_RARE: bool> DeserializeSeed<'de> for KeyReader<'p, IS_RARE> {
    type Value = Option<&'p PathTree>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'p, const IS_RARE: bool> Visitor<'_> for KeyReader<'p, IS_RARE> {
    type Value = Option<&'p PathTree>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.child(key))
    }
}

/// Reads a document, which must be an object, into all slots, which have their default. `BY_VALUE`: a value
/// that cannot be read is [`ReadField::Other`]; without it, it is an error, which costs less.
pub(super) struct DocumentReader<'p, 'f, 'a, const BY_VALUE: bool> {
    pub(super) paths: &'p PathTree,
    pub(super) fields: &'f mut [ReadField<'a>],
}

impl<'de, const BY_VALUE: bool> DeserializeSeed<'de> for DocumentReader<'_, '_, 'de, BY_VALUE> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de, const BY_VALUE: bool> Visitor<'de> for DocumentReader<'_, '_, 'de, BY_VALUE> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<(), A::Error> {
        let Self { paths, fields } = self;
        let by_value = if BY_VALUE { LEVELS_BY_VALUE } else { 0 };
        ValueReader::<BY_VALUE> { paths, fields, by_value }.read_members(entries)
    }
}
