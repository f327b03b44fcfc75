//! What the fuzz target sees of the readers, in no ordinary build.

use std::convert::Infallible;

use super::Page;
use crate::content::strapi::Endpoint;
use crate::content::strapi::one::document;
use crate::content::strapi::proof::{Echo, PageFacts, Proof};
use crate::content::strapi::refusal::Refusal;
use crate::content::{BadItem, Document, Projection};
use crate::rules::ContentTypeUid;

/// All that a walk learns from a page.
#[derive(Debug, PartialEq)]
pub struct FuzzedPage {
    /// The page size and the total that it echoes.
    pub echo: Option<(u64, u64)>,
    /// The `documentId` of each row.
    pub keys: Vec<Option<String>>,
    /// The rows.
    pub items: Vec<Result<Document<'static>, BadItem>>,
    /// How many of the rows a walk that begins with this page would take.
    pub taken: Option<usize>,
}

/// A page as it is read in one pass, and row by row.
#[must_use]
pub fn fuzz_page(json: &str, projection: &Projection) -> [Option<FuzzedPage>; 2] {
    [Page::at_once(json, projection), Page::row_by_row(json, projection)].map(|page| page.map(seen))
}

fn seen(page: Page<'_>) -> FuzzedPage {
    let echo = page.echo.map(|Echo { page_size, total }| (page_size, total));
    let facts = PageFacts { echo: page.echo, keys: page.keys().collect() };
    let taken = Proof::default().page(&facts).ok().map(|step| step.rows);
    let keys = page.keys().map(|key| key.map(str::to_owned)).collect();
    let mut items = Vec::new();
    let Ok(()) = page.each(usize::MAX, |item| {
        items.push(item.map(|document| document.clone().into_owned()).map_err(BadItem::clone));
        Ok::<(), Infallible>(())
    });
    FuzzedPage { echo, keys, items, taken }
}

/// The document of an answer about one; `None` where there is none.
#[must_use]
pub fn fuzz_document(json: &str, projection: &Projection) -> Option<Document<'static>> {
    document(json, projection).ok().flatten().map(Document::into_owned)
}

/// Reads a text as the CMS's refusals and as its schema; whether it is one of them.
#[must_use]
pub fn fuzz_reply(json: &str, uid: &ContentTypeUid) -> bool {
    let refused = [400, 404].map(|status| Refusal::parse(status, json).is_some());
    refused.contains(&true) || Endpoint::from_schema(json, uid).is_some()
}
