//! Walks the JSON of a document and takes what is wanted, without a copy where none is needed.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::wanted::Wanted;
use crate::rules::{DocumentLocale, FieldValue};

/// What stands at one wanted path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Found<'a> {
    #[default]
    Absent,
    Null,
    Text(Cow<'a, str>),
    Unsigned(u64),
    Signed(i64),
    Boolean(bool),
    Other,
}

impl<'a> From<Found<'a>> for FieldValue<'a> {
    fn from(found: Found<'a>) -> Self {
        match found {
            Found::Absent | Found::Null => Self::Missing,
            Found::Text(text) => Self::Text(text),
            Found::Unsigned(number) => Self::Text(number.to_string().into()),
            Found::Signed(number) => Self::Text(number.to_string().into()),
            Found::Boolean(value) => Self::Boolean(value),
            Found::Other => Self::NotText,
        }
    }
}

impl<'a> From<Found<'a>> for DocumentLocale<'a> {
    fn from(found: Found<'a>) -> Self {
        match found {
            Found::Absent | Found::Null => Self::None,
            Found::Text(text) => Self::Named(text),
            Found::Unsigned(_) | Found::Signed(_) | Found::Boolean(_) | Found::Other => {
                Self::NotText
            }
        }
    }
}

/// A value in the document, and which wanted paths lead to it or through it.
struct Node<'p, 'f, 'a> {
    wanted: &'p Wanted,
    found: &'f mut [Found<'a>],
}

impl<'a> Node<'_, '_, 'a> {
    /// A value without keys: what ends here has it, what leads on finds nothing to follow.
    fn set(self, value: Found<'a>) {
        for slot in &self.wanted.beyond {
            let beyond = if value == Found::Null { Found::Null } else { Found::Other };
            self.found[*slot] = beyond;
        }
        if let [slots @ .., last] = self.wanted.ends.as_slice() {
            for slot in slots {
                self.found[*slot] = value.clone();
            }
            self.found[*last] = value;
        }
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.set(Found::Null);
        Ok(())
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<(), E> {
        self.set(Found::Text(Cow::Borrowed(text)));
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.set(Found::Text(Cow::Owned(text.to_owned())));
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.set(Found::Unsigned(number));
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.set(Found::Signed(number));
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.set(Found::Other);
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.set(Found::Boolean(value));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        self.set(Found::Other);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Self { wanted, found } = self;
        // A key that comes again starts anew.
        for slot in &wanted.ends {
            found[*slot] = Found::Other;
        }
        for slot in &wanted.beyond {
            found[*slot] = Found::Absent;
        }
        while let Some(wanted) = entries.next_key_seed(Key(wanted))? {
            match wanted {
                Some(wanted) => entries.next_value_seed(Node { wanted, found: &mut *found })?,
                None => drop(entries.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// A key of an object: what is wanted of its value.
struct Key<'p>(&'p Wanted);

impl<'de, 'p> DeserializeSeed<'de> for Key<'p> {
    type Value = Option<&'p Wanted>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'p> Visitor<'_> for Key<'p> {
    type Value = Option<&'p Wanted>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.below(key))
    }
}

/// A document: it has to be an object. Fills all slots anew.
pub(super) struct Object<'p, 'f, 'a> {
    pub(super) wanted: &'p Wanted,
    pub(super) found: &'f mut [Found<'a>],
}

impl<'de> DeserializeSeed<'de> for Object<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<(), A::Error> {
        Node { wanted: self.wanted, found: self.found }.visit_map(entries)
    }
}
