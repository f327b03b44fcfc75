//! One refresh of a cache entry: a walk over the content type, and the copy built from it.

mod log;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::copy::CachedCopy;
use super::entry::Entry;
use super::flight::{Flight, Outcome, Waiter};
use super::site_cache::SiteCache;
use super::triggers::RefreshTriggers;
use crate::content::{BadItem, ContentError, Document, DocumentSink};
use crate::snapshot::{Part, TooLarge};
use crate::traces;
use log::log;

/// A refresh that was started or joined.
pub(super) struct Started {
    pub(super) waiter: Waiter,
    /// Whether it was in flight already.
    pub(super) collapsed: bool,
}

/// Joins the refresh in flight or starts one, in a task of its own: it continues when the client
/// whose request started it has disconnected.
pub(super) fn start(
    site: &Arc<SiteCache>,
    entry: &Arc<Entry>,
    triggers: &Arc<RefreshTriggers>,
) -> Started {
    let (waiter, new) = entry.join_or_begin();
    let collapsed = new.is_none();
    if let Some(flight) = new {
        let (site, entry, triggers) = (Arc::clone(site), Arc::clone(entry), Arc::clone(triggers));
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = entry.abandoned(&flight) => {}
                walked = walk_traced(&site, &entry) => {
                    complete(&site, &entry, &triggers, walked, &flight).await;
                }
            }
        });
    }
    Started { waiter, collapsed }
}

/// What a walk has found.
struct Walked<'s> {
    begun: Instant,
    parts: Vec<Part<'s>>,
}

/// A part of a snapshot under construction, with a counter of the documents seen.
struct CountingPart<'s> {
    part: Part<'s>,
    seen: &'s AtomicU64,
}

impl DocumentSink for CountingPart<'_> {
    fn push(&mut self, item: Result<&Document<'_>, &BadItem>) {
        self.seen.fetch_add(1, Ordering::Relaxed);
        match item {
            Ok(document) => self.part.add(document),
            Err(_) => self.part.add_bad_item(),
        }
    }
}

async fn walk_traced<'a>(
    site: &'a SiteCache,
    entry: &'a Entry,
) -> Result<Walked<'a>, ContentError> {
    let span = traces::background_span("walk");
    let walked = traces::in_span(span.as_ref(), walk(site, entry)).await;
    if let Some(span) = span {
        span.set("site", entry.site.clone());
        span.set("content_type", entry.query.uid.as_str().to_owned());
        if walked.is_err() {
            span.fail();
        }
    }
    walked
}

async fn walk<'a>(site: &'a SiteCache, entry: &'a Entry) -> Result<Walked<'a>, ContentError> {
    let (listing, begun) = (site.listing(entry), Instant::now());
    let locales = listing.rules.locales().as_slice();
    entry.seen.store(0, Ordering::Relaxed);
    let part = || CountingPart { part: listing.part(), seen: &entry.seen };
    let parts = site.content.walk(&entry.query, locales, part).await?;
    Ok(Walked { begun, parts: parts.into_iter().map(|counting| counting.part).collect() })
}

async fn complete(
    site: &Arc<SiteCache>,
    entry: &Arc<Entry>,
    triggers: &Arc<RefreshTriggers>,
    walked: Result<Walked<'_>, ContentError>,
    flight: &Flight,
) {
    // An incremental update from here on would be lost.
    let update_lock = entry.update_lock.lock().await;
    let outcome = walked.and_then(|walked| build_copy(site, entry, walked));
    let completed = entry.complete(outcome);
    drop(update_lock);
    site.rebuild_index();
    log(entry, &completed);
    if !completed.orphaned {
        entry.counters.count(completed.outcome.is_ok());
    }
    flight.complete(completed.outcome);
    triggers.wake_refresher();
    if completed.again {
        start(site, entry, triggers);
    }
}

/// The copy built from a walk, with the incremental updates since the walk began.
fn build_copy(site: &SiteCache, entry: &Entry, walked: Walked<'_>) -> Outcome {
    let Walked { begun, parts } = walked;
    let (listing, builder) = (site.listing(entry), site.builder());
    let copy = tokio::task::block_in_place(|| {
        let (mut snapshot, patches) = (builder.finish(parts)?, entry.patches_since(begun));
        if !patches.is_empty() {
            snapshot = snapshot.patched(&patches, listing, builder).unwrap_or(snapshot);
        }
        let before = entry.copy();
        let files = site.sitemap_files(&snapshot, before.as_ref());
        Ok(CachedCopy::new(snapshot, files, begun, before.as_ref()))
    });
    let too_large = ContentError::Unusable("more text in its URLs than a snapshot can hold");
    copy.map_err(|TooLarge| too_large)
}
