//! The columns of a body: values of one kind stand together, which compresses better than rows.

use super::bytes::{Reader, write_number, write_text};
use super::{Titles, Unreadable};

/// How many columns there are without that of the titles.
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
    /// The title of each entry, then of each version without a URL. Comes last, if at all.
    pub(super) titles: Option<Vec<u8>>,
}

/// The columns, as they are read.
pub(super) struct ColumnReaders<'b> {
    pub(super) facts: Reader<'b>,
    pub(super) dates: Reader<'b>,
    pub(super) paths: Reader<'b>,
    pub(super) ids: Reader<'b>,
    pub(super) references: Reader<'b>,
    pub(super) other: Reader<'b>,
    pub(super) titles: Option<Reader<'b>>,
}

impl Columns {
    pub(super) fn new(titles: Titles) -> Self {
        let titles = (titles == Titles::Kept).then(Vec::new);
        Self { titles, ..Self::default() }
    }

    /// Adds the next title, unless titles are left out.
    pub(super) fn write_title(&mut self, title: &str) {
        if let Some(column) = &mut self.titles {
            write_text(column, title);
        }
    }

    /// One behind the other, each with its length.
    pub(super) fn join(self) -> Vec<u8> {
        let Self { facts, dates, paths, ids, references, other, titles } = self;
        let all: [Vec<u8>; COUNT] = [facts, dates, paths, ids, references, other];
        let length = |column: &Vec<u8>| column.len() + 10;
        let mut bytes = Vec::with_capacity(all.iter().chain(&titles).map(length).sum());
        for column in all.into_iter().chain(titles) {
            write_number(&mut bytes, column.len() as u64);
            bytes.extend(column);
        }
        bytes
    }
}

impl<'b> ColumnReaders<'b> {
    pub(super) fn split(bytes: &'b [u8], titles: Titles) -> Result<Self, Unreadable> {
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
            titles: if titles == Titles::Kept { Some(column()?) } else { None },
        };
        reader.end()?;
        Ok(columns)
    }

    /// The next title; empty if titles are left out.
    pub(super) fn title(&mut self) -> Result<&'b str, Unreadable> {
        let Some(column) = &mut self.titles else { return Ok("") };
        // An entry has two bytes for the length.
        let length: u16 = column.narrow()?;
        column.text(length.into())
    }

    /// All of them must have been read to their ends.
    pub(super) fn end(self) -> Result<(), Unreadable> {
        let Self { facts, dates, paths, ids, references, other, titles } = self;
        let all: [Reader<'b>; COUNT] = [facts, dates, paths, ids, references, other];
        all.into_iter().chain(titles).try_for_each(Reader::end)
    }
}
