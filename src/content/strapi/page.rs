//! The shape of a list answer: rows, and the paging that it echoes.

mod at_once;
#[cfg(fuzzing)]
mod fuzz;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::object;
use super::proof::Echo;
use super::query::PAGE_SIZE;
use crate::content::projection::Rows;
use crate::content::{BadItem, Document, Projection};

#[cfg(fuzzing)]
pub use fuzz::{FuzzedPage, fuzz_document, fuzz_page, fuzz_reply};

/// One page of a list, read. Its documents borrow from its text.
#[derive(Debug)]
pub struct Page<'a> {
    rows: Rows<'a>,
    pub(super) echo: Option<Echo>,
}

impl<'a> Page<'a> {
    /// Reads a list answer; `None` when it has another shape.
    ///
    /// Missing or odd paging is not a matter of shape: the proof refuses it.
    #[must_use]
    pub fn read(json: &'a str, projection: &'a Projection) -> Option<Self> {
        Self::at_once(json, projection).or_else(|| Self::row_by_row(json, projection))
    }

    /// Reads the page in two passes: where its rows are, then each of them by itself. So a row that
    /// cannot be read costs no other one (D28).
    fn row_by_row(json: &'a str, projection: &'a Projection) -> Option<Self> {
        let answer: Answer<'a> = object(json)?;
        let mut rows = Rows::with_capacity(projection, answer.data.len());
        answer.data.iter().for_each(|row| rows.push(row.get()));
        Some(Self { rows, echo: answer.meta.and_then(|meta| echo(meta.get())) })
    }

    /// The `documentId` of each row, in order; `None` where it cannot be read.
    pub(super) fn keys(&self) -> impl Iterator<Item = Option<&str>> {
        self.rows.keys()
    }

    /// Hands on the first `count` rows, until one is refused.
    pub fn each<E>(
        self,
        count: usize,
        take: impl FnMut(Result<&Document<'_>, &BadItem>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.rows.each(count, take)
    }
}

fn echo(meta: &str) -> Option<Echo> {
    let meta: Meta<'_> = object(meta)?;
    let pagination: Pagination = object(meta.pagination.get())?;
    // Page 1 is the only one ever asked for.
    (pagination.page == 1)
        .then_some(Echo { page_size: pagination.page_size, total: pagination.total })
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    data: Vec<&'a RawValue>,
    #[serde(borrow)]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow)]
    pagination: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pagination {
    page: u64,
    page_size: u64,
    total: u64,
}

#[cfg(test)]
mod tests;
