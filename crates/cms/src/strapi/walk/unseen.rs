//! Documents that were published before a walk and that it has not seen (D23).
//!
//! Each of them was unpublished, or the CMS left it out of its list. While editors change
//! documents, totals do not distinguish the two, so these documents are requested by their ids.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use tokio::task::block_in_place;
use xxhash_rust::xxh3::xxh3_64;

use super::WalkError;
use super::WalkScope;
use super::proof::{NO_ECHO, Unproven};
use crate::strapi::page::Page;
use crate::strapi::query_string;
use crate::{KnownDocuments, Selection};
use frontend_map_rules::Locale;

/// A longer id is not requested: a hundred of them would be too long for the head of a request.
/// Strapi's own have 24 characters.
const MAX_ID_BYTES: usize = 64;

const NO_FILTER: Unproven = Unproven::Unusable("a list that ignores a filter by documentId");

/// The documents that a walk has seen, as hashes of their ids: the ids of a million documents would
/// take more memory than their URLs.
#[derive(Default)]
pub(super) struct SeenIds(FxHashSet<u64>);

impl SeenIds {
    pub(super) fn add(&mut self, ids: &[Option<&str>]) {
        self.0.extend(ids.iter().flatten().map(|id| hash(id)));
    }

    /// The known documents that are not among them, in order.
    fn unseen(&self, known: KnownDocuments<'_>, locale: Option<&Locale>) -> Vec<String> {
        let mut unseen = BTreeSet::new();
        known(locale, &mut |id| {
            if id.len() <= MAX_ID_BYTES && !self.0.contains(&hash(id)) {
                unseen.insert(id.to_owned());
            }
        });
        unseen.into_iter().collect()
    }
}

fn hash(id: &str) -> u64 {
    xxh3_64(id.as_bytes())
}

/// Requests the known documents that a walk has not seen up to its end.
///
/// # Errors
/// When one of them is published, or when the CMS ignores the filter and the totals differ, so that
/// neither is a proof.
pub(super) async fn check(
    scope: WalkScope<'_>,
    locale: Option<&Locale>,
    seen: &SeenIds,
    totals_differ: bool,
) -> Result<(), WalkError> {
    let WalkScope { strapi, query, resolved, .. } = scope;
    let Some(known) = scope.known else { return Ok(()) };
    for ids in block_in_place(|| seen.unseen(known, locale)).chunks(Selection::MAX_IDS) {
        let query_string = |locale: Option<&Locale>| query_string::any_of(query, locale, ids);
        let reply = strapi.list(resolved, locale, query_string).await?;
        let page = Page::read(&reply.body, &query.projection)?;
        page.echo.ok_or(NO_ECHO)?;
        match page.keys().next() {
            None => {}
            Some(Some(key)) if ids.iter().any(|id| id == key) => {
                return Err(Unproven::NotInList.into());
            }
            Some(_) if totals_differ => return Err(NO_FILTER.into()),
            Some(_) => return Ok(()),
        }
    }
    Ok(())
}
