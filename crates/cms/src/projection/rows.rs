//! The items of a list, read into one array of slots.

use std::collections::BTreeSet;
use std::iter;

use serde::de::{DeserializeSeed, Deserializer, Error};

use super::reader::{DocumentReader, ReadField};
use super::{BadItem, Projection, SYSTEM_KEYS};
use frontend_map_rules::{Document, DocumentLocale};

/// The items of a list. None of them has an allocation of its own.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    projection: &'a Projection,
    /// For each row the needed fields, then those of [`SYSTEM_KEYS`].
    fields: Vec<ReadField<'a>>,
    /// The rows that are no documents, by position; their slots are empty.
    bad: BTreeSet<usize>,
}

impl<'a> Rows<'a> {
    /// No rows yet, with memory for `rows` of them.
    pub(crate) fn with_capacity(projection: &'a Projection, rows: usize) -> Self {
        let fields = Vec::with_capacity(rows * projection.width());
        Self { projection, fields, bad: BTreeSet::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.fields.len() / self.projection.width()
    }

    /// Adds a row from its own text: a document, or else a bad item. A value that cannot be read (half of a
    /// surrogate pair, `1e999`) costs its field alone.
    pub(crate) fn push(&mut self, json: &'a str) {
        let (at, start) = (self.len(), self.fields.len());
        if self.read::<false>(json).is_ok() {
            return;
        }
        self.fields.truncate(start);
        if self.read::<true>(json).is_err() {
            self.fields.truncate(start);
            self.grow();
            self.bad.insert(at);
        }
    }

    pub(super) fn read<const BY_VALUE: bool>(&mut self, json: &'a str) -> serde_json::Result<()> {
        let mut reader = serde_json::Deserializer::from_str(json);
        RowReader::<BY_VALUE>(self).deserialize(&mut reader)?;
        reader.end()
    }

    /// The `documentId` of each row, in order; `None` where it cannot be read.
    pub(crate) fn keys(&self) -> impl Iterator<Item = Option<&str>> {
        let rows = self.fields.chunks_exact(self.projection.width());
        rows.map(|row| row[row.len() - SYSTEM_KEYS.len()].as_text())
    }

    /// Calls `take` with the first `count` rows, until it returns an error.
    pub(crate) fn each<E>(
        mut self,
        count: usize,
        mut take: impl FnMut(Result<&Document<'_>, BadItem>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut document = self.projection.empty_document();
        let rows = self.fields.chunks_exact_mut(self.projection.width());
        for (at, row) in rows.take(count).enumerate() {
            if self.bad.contains(&at) {
                take(Err(BadItem))?;
            } else {
                fill(&mut document, row);
                take(Ok(&document))?;
            }
        }
        Ok(())
    }

    /// The only row.
    pub(super) fn into_single(mut self) -> Result<Document<'a>, BadItem> {
        if !self.bad.is_empty() {
            return Err(BadItem);
        }
        let mut document = self.projection.empty_document();
        fill(&mut document, &mut self.fields);
        Ok(document)
    }

    fn grow(&mut self) {
        let empty = iter::repeat_with(ReadField::default).take(self.projection.width());
        // `resize` would clone the value, and is not inlined.
        self.fields.extend(empty);
    }
}

/// Moves the fields of a row into a document.
fn fill<'a>(document: &mut Document<'a>, row: &mut [ReadField<'a>]) {
    let (values, [id, locale, published_at]) =
        row.split_last_chunk_mut().expect("a row ends with the system keys");
    document.values.clear();
    document.values.extend(values.iter_mut().map(|field| std::mem::take(field).into()));
    let id = std::mem::take(id).into_text();
    document.id = id.expect("a row without a `documentId` is a bad item");
    document.locale = DocumentLocale::from(std::mem::take(locale));
    document.unpublished = *published_at == ReadField::Null;
}

/// Adds one row. After an error its slots are undefined.
struct RowReader<'r, 'a, const BY_VALUE: bool>(&'r mut Rows<'a>);

impl<'de, const BY_VALUE: bool> DeserializeSeed<'de> for RowReader<'_, 'de, BY_VALUE> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        let Self(rows) = self;
        let start = rows.fields.len();
        rows.grow();
        let fields = &mut rows.fields[start..];
        let paths = &rows.projection.tree;
        DocumentReader::<BY_VALUE> { paths, fields: &mut *fields }.deserialize(reader)?;
        match fields[fields.len() - SYSTEM_KEYS.len()].as_text() {
            Some(_) => Ok(()),
            None => Err(D::Error::missing_field("documentId")),
        }
    }
}
