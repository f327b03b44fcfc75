//! The shape of a list response: rows, and the paging that it echoes.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::json::object;
use crate::projection::Rows;
use crate::{BadItem, ContentError, Document, Projection};

pub(super) const NO_LIST: ContentError = ContentError::Unusable("a response that is not a list");
pub(super) const BAD_ITEM: ContentError = ContentError::Unusable("an item that is not a document");

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
    /// Reads a list response.
    ///
    /// Its rows are found first, and then each is read by itself, so that an unreadable row does not
    /// affect the others (D28). Missing or odd paging does not matter here: the proof refuses it.
    ///
    /// # Errors
    /// [`ContentError::Unusable`] when it has another shape.
    pub fn read(json: &'a str, projection: &'a Projection) -> Result<Self, ContentError> {
        let response: ListResponse<'a> = object(json).ok_or(NO_LIST)?;
        let mut rows = Rows::with_capacity(projection, response.data.len());
        response.data.iter().for_each(|row| rows.push(row.get()));
        Ok(Self { rows, echo: response.meta.and_then(|meta| echo(meta.get())) })
    }

    /// The number of all rows that match the filters, if it was requested.
    pub(super) fn total(&self) -> Option<u64> {
        self.echo?.total
    }

    /// The documents of all rows, unless one is unreadable, because it is not known which document
    /// that is.
    pub(super) fn documents(self) -> Result<Vec<Document<'static>>, ContentError> {
        let mut documents = Vec::with_capacity(self.keys().count());
        self.each(usize::MAX, |row| {
            documents.push(row.map_err(|_| BAD_ITEM)?.clone().into_owned());
            Ok::<(), ContentError>(())
        })?;
        Ok(documents)
    }

    /// The `documentId` of each row, in order; `None` where it cannot be read.
    pub(super) fn keys(&self) -> impl Iterator<Item = Option<&str>> {
        self.rows.keys()
    }

    /// Calls `take` with the first `count` rows, until it returns an error.
    pub fn each<E>(
        self,
        count: usize,
        take: impl FnMut(Result<&Document<'_>, BadItem>) -> Result<(), E>,
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
