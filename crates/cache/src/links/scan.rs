//! A link scan: reads the content of all documents of a site.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::time::sleep;

use super::sink::LinkSink;
use super::{Demand, REFUSED, RETRY, SiteLinks, next_scan, query};
use crate::SnapshotCache;
use crate::triggers::{BackgroundWalk, RefreshTriggers};
use frontend_map_catalog::links::{LinkTable, Missing, TableSummary};
use frontend_map_catalog::site::LinkSource;
use frontend_map_cms::{ContentError, Pace, WalkRequest};
use frontend_map_platform::clock::unix_ms;
use frontend_map_rules::Locale;

/// The rows of a page, and those of the attempts after a response that cannot be used: it may be longer
/// than `limits.cms_page_bytes`, because content is.
const PAGE_SIZES: [usize; 3] = [25, 5, 1];
/// The longest pause between two looks at the share.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// The shortest one: a walk in flight may end at any time.
const SHORTEST_PAUSE: Duration = Duration::from_millis(20);

impl SiteLinks {
    /// Reads all documents if that is due and this instance does it. A link scan that fails leaves the table as
    /// it was.
    pub async fn run_scan(&self, cache: &SnapshotCache) {
        let is_ready = self.is_due()
            && cache.refreshes_here(&self.site)
            && cache.content.circuit_open().is_none()
            && cache.path_index(&self.site).is_some_and(|state| state.index.knows_all_types());
        if !is_ready {
            return;
        }
        {
            let mut state = self.state.lock();
            (state.demand, state.is_scanning) = (Demand::None, true);
        }
        let (begun, read_at) = (Instant::now(), unix_ms());
        let read = tokio::select! {
            read = self.read_all(cache, read_at) => read,
            () = self.retired.notified() => return,
        };
        let (site, milliseconds) = (&self.site.key, begun.elapsed().as_millis());
        let next = match read {
            Ok(table) => {
                let TableSummary { links, documents, bytes, missing } = table.summary();
                let Missing { left_out, unreadable } = missing;
                tracing::info!(
                    site,
                    documents,
                    links,
                    bytes,
                    left_out,
                    unreadable,
                    milliseconds,
                    "links in content were read"
                );
                self.install(table, begun);
                self.save(&cache.store);
                next_scan(read_at)
            }
            Err((uid, error)) => {
                let is_refused = matches!(error, ContentError::Setup(_));
                let error = cache.content.detail(&error);
                tracing::warn!(site, uid, error, "links in content could not be read");
                Instant::now() + if is_refused { REFUSED } else { RETRY }
            }
        };
        let mut state = self.state.lock();
        (state.next, state.ended, state.is_scanning) = (Some(next), Some(Instant::now()), false);
    }

    async fn read_all(
        &self,
        cache: &SnapshotCache,
        read_at: i64,
    ) -> Result<LinkTable, (String, ContentError)> {
        let max_bytes = self.state.lock().max_bytes;
        let new_table = || LinkTable::new(self.site.links_fingerprint, read_at, max_bytes);
        let mut table = new_table();
        for (at, source) in self.site.links.iter().enumerate() {
            let failed = |error| (source.content_type.to_string(), error);
            let parts = self.read_type(cache, at, source, &new_table).await.map_err(failed)?;
            tokio::task::block_in_place(|| parts.iter().for_each(|part| table.append(part)));
        }
        table.shrink();
        Ok(table)
    }

    /// The links of a content type, in parts.
    async fn read_type(
        &self,
        cache: &SnapshotCache,
        at: usize,
        source: &LinkSource,
        new_table: &(impl Fn() -> LinkTable + Sync),
    ) -> Result<Vec<LinkTable>, ContentError> {
        let (query, pace) = (query(source, None), CmsPace::new(cache));
        let locales = self.site.rules.locales().codes();
        let new_sink = |_: Option<&Locale>| LinkSink {
            site: &self.site,
            hosts: &self.hosts,
            source: at,
            table: new_table(),
            found: Vec::new(),
        };
        let mut sizes = PAGE_SIZES.into_iter();
        let mut page_size = sizes.next();
        loop {
            let request = WalkRequest::new(&query, locales);
            let request = WalkRequest { pace: Some(&pace), page_size, ..request };
            match (cache.content.walk(request, new_sink).await, sizes.next()) {
                (Ok(sinks), _) => return Ok(sinks.into_iter().map(|sink| sink.table).collect()),
                (Err(ContentError::Unusable(_)), Some(smaller)) => page_size = Some(smaller),
                (Err(error), _) => return Err(error),
            }
        }
    }
}

/// Lets the requests of a link scan wait for the share of the CMS.
struct CmsPace<'c> {
    cache: &'c SnapshotCache,
    /// How long the last request took.
    took: Arc<Mutex<Duration>>,
}

/// A request in flight.
struct Permit {
    _walk: BackgroundWalk,
    begun: Instant,
    took: Arc<Mutex<Duration>>,
    triggers: Arc<RefreshTriggers>,
}

impl<'c> CmsPace<'c> {
    fn new(cache: &'c SnapshotCache) -> Self {
        Self { cache, took: Arc::default() }
    }
}

impl Pace for CmsPace<'_> {
    fn begin(&self) -> BoxFuture<'_, Box<dyn Send>> {
        async move {
            let walks = &self.cache.triggers.background_walks;
            loop {
                let length = *self.took.lock();
                let wait = walks.wait(length, self.cache.cms_share()).unwrap_or(LONGEST_PAUSE);
                if wait.is_zero() {
                    break;
                }
                sleep(wait.clamp(SHORTEST_PAUSE, LONGEST_PAUSE)).await;
            }
            let permit = Permit {
                _walk: walks.begin(),
                begun: Instant::now(),
                took: Arc::clone(&self.took),
                triggers: Arc::clone(&self.cache.triggers),
            };
            Box::new(permit) as Box<dyn Send>
        }
        .boxed()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *self.took.lock() = self.begun.elapsed();
        // A walk may have waited for it.
        self.triggers.wake_refresher();
    }
}
