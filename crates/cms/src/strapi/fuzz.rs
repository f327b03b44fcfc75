//! Access to the readers of responses for the fuzz target; not in ordinary builds.

use std::convert::Infallible;

use super::client::Refusal;
use super::document;
use super::endpoint::Endpoint;
use super::page::{EchoedPaging, Page};
use super::walk::rows_of_first_page;
use crate::{BadItem, Document, Projection};
use frontend_map_rules::ContentTypeUid;

/// All that a walk learns from a page.
#[derive(Debug, PartialEq)]
pub struct FuzzedPage {
    /// The echoed page size and total.
    pub echo: Option<(u64, Option<u64>)>,
    /// The `documentId` of each row.
    pub keys: Vec<Option<String>>,
    /// The rows.
    pub items: Vec<Result<Document<'static>, BadItem>>,
    /// The number of rows that a walk that begins with this page takes of it.
    pub taken: Option<usize>,
}

/// A page of a list; `None` where a text is none.
pub fn fuzz_page(json: &str, projection: &Projection) -> Option<FuzzedPage> {
    let page = Page::read(json, projection).ok()?;
    let echo = page.echo.map(|EchoedPaging { page_size, total }| (page_size, total));
    let taken = rows_of_first_page(&page);
    let keys = page.keys().map(|key| key.map(str::to_owned)).collect();
    let mut items = Vec::new();
    let Ok(()) = page.each(usize::MAX, |item| {
        items.push(item.map(|document| document.clone().into_owned()));
        Ok::<(), Infallible>(())
    });
    Some(FuzzedPage { echo, keys, items, taken })
}

/// The document of a response about one document; `None` where there is none.
pub fn fuzz_document(json: &str, projection: &Projection) -> Option<Document<'static>> {
    document::read(json, projection).ok().flatten().map(Document::into_owned)
}

/// Whether a text is one of the CMS's refusals or its schema.
pub fn fuzz_reply(json: &str, uid: &ContentTypeUid) -> bool {
    let refused = [400, 404].map(|status| Refusal::parse(status, json).is_some());
    refused.contains(&true) || Endpoint::from_schema(json, uid).is_some()
}
