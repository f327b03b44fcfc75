//! The shape of a list response: rows, and the paging that it echoes.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::json::object;
use crate::projection::Rows;
use crate::{BadItem, Document, Projection};

/// One page of a list. Its documents borrow from its text.
#[derive(Debug)]
pub struct Page<'a> {
    rows: Rows<'a>,
    pub(super) echo: Option<EchoedPaging>,
}

/// The paging that a response echoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EchoedPaging {
    /// Rows a page; it may differ from the requested size.
    pub(super) page_size: u64,
    /// The number of all rows that match the filters, if it was requested.
    pub(super) total: Option<u64>,
}

impl<'a> Page<'a> {
    /// Reads a list response; `None` when it has another shape.
    ///
    /// Its rows are found first, and then each is read by itself, so that an unreadable row does not
    /// affect the others (D28). Missing or odd paging does not matter here: the proof refuses it.
    #[must_use]
    pub fn read(json: &'a str, projection: &'a Projection) -> Option<Self> {
        let response: ListResponse<'a> = object(json)?;
        let mut rows = Rows::with_capacity(projection, response.data.len());
        response.data.iter().for_each(|row| rows.push(row.get()));
        Some(Self { rows, echo: response.meta.and_then(|meta| echo(meta.get())) })
    }

    /// The `documentId` of each row, in order; `None` where it cannot be read.
    pub(super) fn keys(&self) -> impl Iterator<Item = Option<&str>> {
        self.rows.keys()
    }

    /// Calls `take` with the first `count` rows, until it returns an error.
    pub fn each<E>(
        self,
        count: usize,
        take: impl FnMut(Result<&Document<'_>, &BadItem>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.rows.each(count, take)
    }
}

fn echo(meta: &str) -> Option<EchoedPaging> {
    let meta: Meta<'_> = object(meta)?;
    let pagination: Pagination = object(meta.pagination.get())?;
    // Only page 1 is ever requested.
    (pagination.page == 1)
        .then_some(EchoedPaging { page_size: pagination.page_size, total: pagination.total })
}

#[derive(Deserialize)]
struct ListResponse<'a> {
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
    total: Option<u64>,
}

#[cfg(test)]
mod tests;
