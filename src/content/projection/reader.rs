//! Reads the needed fields of a document's JSON into slots, borrowing text where it has no escapes.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::path_tree::{PathTree, Through};
use crate::rules::{DocumentLocale, FieldValue};

/// The value at one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RawField<'a> {
    /// An object on the path lacks the key at this position of the path.
    Absent(usize),
    Null,
    Text(Cow<'a, str>),
    Unsigned(u64),
    Signed(i64),
    Boolean(bool),
    /// The values in a list on the path, without those that are null. They are not of this type,
    /// because the drop of a type that contains itself is not inlined, and most values are not
    /// lists.
    List(Box<[FieldValue<'a>]>),
    Other,
}

impl Default for RawField<'_> {
    fn default() -> Self {
        Self::Absent(0)
    }
}

impl<'a> From<RawField<'a>> for FieldValue<'a> {
    fn from(field: RawField<'a>) -> Self {
        match field {
            RawField::Absent(at) => Self::Absent(at),
            RawField::Null => Self::Missing,
            RawField::Text(text) => Self::Text(text),
            RawField::Unsigned(number) => Self::Text(number.to_string().into()),
            RawField::Signed(number) => Self::Text(number.to_string().into()),
            RawField::Boolean(value) => Self::Boolean(value),
            RawField::List(values) => Self::List(values),
            RawField::Other => Self::NotText,
        }
    }
}

impl<'a> From<RawField<'a>> for DocumentLocale<'a> {
    fn from(field: RawField<'a>) -> Self {
        match field {
            RawField::Absent(_) | RawField::Null => Self::None,
            RawField::Text(text) => Self::Named(text),
            RawField::Unsigned(_)
            | RawField::Signed(_)
            | RawField::Boolean(_)
            | RawField::List(_)
            | RawField::Other => Self::NotText,
        }
    }
}

/// Reads one value of the document.
struct ValueReader<'p, 'f, 'a> {
    /// The paths that lead to the value or through it.
    paths: &'p PathTree,
    fields: &'f mut [RawField<'a>],
}

impl<'a> ValueReader<'_, '_, 'a> {
    /// Sets a value without keys: the paths that end here have it, those that lead on end too
    /// early.
    fn set(self, value: RawField<'a>) {
        for Through { slot, .. } in &self.paths.through {
            let is_null = value == RawField::Null;
            self.fields[*slot] = if is_null { RawField::Null } else { RawField::Other };
        }
        if let [slots @ .., last] = self.paths.ends.as_slice() {
            for slot in slots {
                self.fields[*slot] = value.clone();
            }
            self.fields[*last] = value;
        }
    }

    /// Reads a list on a path: a to-many relation or a repeatable component. Each path through it
    /// has the values of all its items.
    #[cold]
    fn read_list<A: SeqAccess<'a>>(self, mut items: A) -> Result<(), A::Error> {
        let Self { paths, fields } = self;
        let mut item = vec![RawField::Null; fields.len()];
        let mut values: Vec<Vec<FieldValue<'a>>> = vec![Vec::new(); paths.through.len()];
        while items.next_element_seed(ValueReader { paths, fields: &mut item })?.is_some() {
            for (values, Through { slot, .. }) in values.iter_mut().zip(&paths.through) {
                match std::mem::replace(&mut item[*slot], RawField::Null) {
                    RawField::Null => {}
                    RawField::List(inner) => values.extend(inner),
                    value => values.push(value.into()),
                }
            }
        }
        for slot in &paths.ends {
            fields[*slot] = RawField::Other;
        }
        for (values, Through { slot, .. }) in values.into_iter().zip(&paths.through) {
            fields[*slot] = RawField::List(values.into());
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for ValueReader<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueReader<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.set(RawField::Null);
        Ok(())
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<(), E> {
        self.set(RawField::Text(Cow::Borrowed(text)));
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.set(RawField::Text(Cow::Owned(text.to_owned())));
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.set(RawField::Unsigned(number));
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.set(RawField::Signed(number));
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.set(RawField::Other);
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.set(RawField::Boolean(value));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        if !self.paths.through.is_empty() {
            return self.read_list(items);
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        self.set(RawField::Other);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Self { paths, fields } = self;
        // Of repeated keys the last one counts.
        for slot in &paths.ends {
            fields[*slot] = RawField::Other;
        }
        for Through { slot, not_requested } in &paths.through {
            fields[*slot] =
                if *not_requested { RawField::Null } else { RawField::Absent(paths.depth) };
        }
        while let Some(paths) = entries.next_key_seed(KeyReader(paths))? {
            match paths {
                Some(paths) => {
                    entries.next_value_seed(ValueReader { paths, fields: &mut *fields })?;
                }
                None => drop(entries.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Reads a key of an object and finds the paths through it.
struct KeyReader<'p>(&'p PathTree);

impl<'de, 'p> DeserializeSeed<'de> for KeyReader<'p> {
    type Value = Option<&'p PathTree>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'p> Visitor<'_> for KeyReader<'p> {
    type Value = Option<&'p PathTree>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.child(key))
    }
}

/// Reads a document, which must be an object, into all slots.
pub(super) struct DocumentReader<'p, 'f, 'a> {
    pub(super) paths: &'p PathTree,
    pub(super) fields: &'f mut [RawField<'a>],
}

impl<'de> DeserializeSeed<'de> for DocumentReader<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for DocumentReader<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<(), A::Error> {
        ValueReader { paths: self.paths, fields: self.fields }.visit_map(entries)
    }
}
