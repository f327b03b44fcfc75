//! The elements of lists and the entries of tables.

use std::cell::RefCell;
use std::collections::btree_map;
use std::iter::Enumerate;
use std::vec;

use serde::de::value::StringDeserializer;
use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess};

use super::{Error, Setting};
use crate::config::known_keys::Keys;
use crate::config::value::{Table, Value};

/// The elements of a list.
pub(super) struct Elements<'k> {
    pub(super) values: Enumerate<vec::IntoIter<Value>>,
    /// The key of the list.
    pub(super) path: String,
    pub(super) keys: &'k RefCell<Keys>,
}

/// The entries of a table.
pub(super) struct Entries<'k> {
    rest: btree_map::IntoIter<String, Value>,
    parent: Setting<'k>,
    /// The value of the key that was read last.
    next: Option<(String, Value)>,
}

impl<'k> Entries<'k> {
    pub(super) fn new(table: Table, parent: Setting<'k>) -> Self {
        Self { rest: table.into_iter(), parent, next: None }
    }
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let Some((at, value)) = self.values.next() else {
            return Ok(None);
        };
        let origin = value.origin.clone();
        let path = format!("{}[{at}]", self.path);
        let element = Setting { value, path, keys: self.keys };
        let read = seed.deserialize(element).map_err(|error| error.or_at(&origin));
        read.map(Some).map_err(|error| error.below(&format!("[{at}]")))
    }
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        self.next = self.rest.next();
        let Some((key, _)) = &self.next else {
            return Ok(None);
        };
        let key: StringDeserializer<Error> = key.clone().into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (key, value) = self.next.take().expect("serde reads the key first");
        let origin = value.origin.clone();
        let value = self.parent.child(&key, value);
        let read = seed.deserialize(value).map_err(|error| error.or_at(&origin));
        read.map_err(|error| error.below(&key))
    }
}
