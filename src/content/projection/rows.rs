//! The documents of a list, read one after the other into slots that they share.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::{DeserializeSeed, Deserializer, Error};

use super::read::{Found, Object};
use super::{BadItem, OWN_KEYS, Projection, id_of};
use crate::rules::{Document, DocumentLocale};

/// The items of a list, read and not yet handed on. None of them has an allocation of its own.
#[derive(Debug)]
pub(in crate::content) struct Rows<'a> {
    projection: &'a Projection,
    /// For each row the values of the wanted fields, then those of [`OWN_KEYS`].
    found: Vec<Found<'a>>,
    /// The rows that are no documents, by position; their slots are empty.
    bad: BTreeMap<usize, BadItem>,
}

impl<'a> Rows<'a> {
    /// Room for so many rows without growing.
    pub(in crate::content) fn with_capacity(projection: &'a Projection, rows: usize) -> Self {
        let found = Vec::with_capacity(rows * projection.width());
        Self { projection, found, bad: BTreeMap::new() }
    }

    pub(in crate::content) fn len(&self) -> usize {
        self.found.len() / self.projection.width()
    }

    /// Reads a row that is text of its own; one that is no document is kept as a bad item.
    pub(in crate::content) fn push(&mut self, json: &'a str) {
        let (at, start) = (self.len(), self.found.len());
        let mut reader = serde_json::Deserializer::from_str(json);
        let read = self.next().deserialize(&mut reader).and_then(|()| reader.end());
        if read.is_err() {
            self.found.truncate(start);
            self.grow();
            self.bad.insert(at, BadItem { id: id_of(json) });
        }
    }

    /// Reads the next row. After an error its slots hold anything.
    pub(in crate::content) fn next(&mut self) -> Next<'_, 'a> {
        Next(self)
    }

    /// The `documentId` of each row, in order; `None` where it cannot be read.
    pub(in crate::content) fn keys(&self) -> impl Iterator<Item = Option<&str>> {
        let rows = self.found.chunks_exact(self.projection.width());
        rows.enumerate().map(|(at, found)| match &found[found.len() - OWN_KEYS.len()] {
            Found::Text(id) => Some(&**id),
            _ => self.bad.get(&at).and_then(|bad| bad.id.as_deref()),
        })
    }

    /// Hands on the first `count` rows, until one is refused.
    pub(in crate::content) fn each<E>(
        mut self,
        count: usize,
        mut take: impl FnMut(Result<&Document<'_>, &BadItem>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut document = self.projection.blank();
        let rows = self.found.chunks_exact_mut(self.projection.width());
        for (at, found) in rows.take(count).enumerate() {
            if let Some(bad) = self.bad.get(&at) {
                take(Err(bad))?;
            } else {
                fill(&mut document, found);
                take(Ok(&document))?;
            }
        }
        Ok(())
    }

    /// The only row.
    pub(super) fn into_one(mut self) -> Result<Document<'a>, BadItem> {
        if let Some((_, bad)) = self.bad.pop_first() {
            return Err(bad);
        }
        let mut document = self.projection.blank();
        fill(&mut document, &mut self.found);
        Ok(document)
    }

    fn grow(&mut self) {
        let length = self.found.len() + self.projection.width();
        self.found.resize(length, Found::Absent);
    }
}

fn fill<'a>(document: &mut Document<'a>, found: &mut [Found<'a>]) {
    let (values, own) = found.split_at_mut(found.len() - OWN_KEYS.len());
    document.values.clear();
    document.values.extend(values.iter_mut().map(|found| std::mem::take(found).into()));
    if let [id, locale, published_at] = own {
        document.id = match std::mem::take(id) {
            Found::Text(id) => id,
            _ => Cow::Borrowed(""),
        };
        document.locale = DocumentLocale::from(std::mem::take(locale));
        document.unpublished = *published_at == Found::Null;
    }
}

/// Reads a row into the next slots.
pub(in crate::content) struct Next<'r, 'a>(&'r mut Rows<'a>);

impl<'de> DeserializeSeed<'de> for Next<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        let Self(rows) = self;
        let start = rows.found.len();
        rows.grow();
        let found = &mut rows.found[start..];
        Object { wanted: &rows.projection.wanted, found: &mut *found }.deserialize(reader)?;
        match found[found.len() - OWN_KEYS.len()] {
            Found::Text(_) => Ok(()),
            _ => Err(D::Error::missing_field("documentId")),
        }
    }
}
