//! The columns of a body: values of one kind stand together, which compresses better than rows.

use super::Unreadable;
use super::bytes::{Reader, write_number};

/// How many columns there are.
const COUNT: usize = 6;

/// The columns, as they are written.
#[derive(Default)]
pub(super) struct Columns {
    /// Rule, locale, flags and lengths of each entry.
    pub(super) facts: Vec<u8>,
    /// The dates of the entries, each as the difference from the one before.
    pub(super) dates: Vec<u8>,
    pub(super) paths: Vec<u8>,
    /// The `documentId` of each document, and of each version without a URL.
    pub(super) ids: Vec<u8>,
    pub(super) references: Vec<u8>,
    /// Everything else.
    pub(super) other: Vec<u8>,
}

/// The same, as they are read.
pub(super) struct ColumnReaders<'b> {
    pub(super) facts: Reader<'b>,
    pub(super) dates: Reader<'b>,
    pub(super) paths: Reader<'b>,
    pub(super) ids: Reader<'b>,
    pub(super) references: Reader<'b>,
    pub(super) other: Reader<'b>,
}

impl Columns {
    /// One behind the other, each with its length.
    pub(super) fn join(self) -> Vec<u8> {
        let Self { facts, dates, paths, ids, references, other } = self;
        let all: [Vec<u8>; COUNT] = [facts, dates, paths, ids, references, other];
        let mut bytes = Vec::with_capacity(all.iter().map(|column| column.len() + 10).sum());
        for column in all {
            write_number(&mut bytes, column.len() as u64);
            bytes.extend(column);
        }
        bytes
    }
}

impl<'b> ColumnReaders<'b> {
    pub(super) fn split(bytes: &'b [u8]) -> Result<Self, Unreadable> {
        let mut reader = Reader::new(bytes);
        let mut column = || {
            let length = reader.count()?;
            Ok(Reader::new(reader.bytes(length)?))
        };
        let columns = Self {
            facts: column()?,
            dates: column()?,
            paths: column()?,
            ids: column()?,
            references: column()?,
            other: column()?,
        };
        reader.end()?;
        Ok(columns)
    }

    /// All of them must have been read to their ends.
    pub(super) fn end(self) -> Result<(), Unreadable> {
        let Self { facts, dates, paths, ids, references, other } = self;
        let all: [Reader<'b>; COUNT] = [facts, dates, paths, ids, references, other];
        all.into_iter().try_for_each(Reader::end)
    }
}
