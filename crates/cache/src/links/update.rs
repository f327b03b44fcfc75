//! Reads the documents that events have named.

use std::sync::Arc;
use std::time::Instant;

use super::sink::LinkSink;
use super::{Demand, REMEMBERED, SiteLinks, query};
use crate::SnapshotCache;
use frontend_map_catalog::links::LinkTable;
use frontend_map_cms::{ContentError, DocumentSink, Selection};

/// The most documents of one request: their content may be long.
const AT_ONCE: usize = 20;

impl SiteLinks {
    /// Reads the documents that events have named, and puts their links in the place of those before.
    /// Returns whether some are left, because the CMS fails.
    pub async fn run_updates(&self, cache: &SnapshotCache) -> bool {
        if !cache.content.may_change() {
            return false;
        }
        let pending = {
            let mut state = self.state.lock();
            if state.table.is_none() {
                // The first link scan may have read them already.
                return false;
            }
            std::mem::take(&mut state.pending)
        };
        for at in 0..self.site.links.len() {
            let own = pending.iter().filter(|(source, _)| *source == at).map(|(_, id)| id.clone());
            let own: Vec<String> = own.collect();
            let mut parts: Vec<Vec<String>> = own.chunks(AT_ONCE).map(<[_]>::to_vec).collect();
            while let Some(ids) = parts.pop() {
                let begun = Instant::now();
                match self.read(cache, at, &ids).await {
                    Ok(table) => self.replace(at, &ids, &table, begun),
                    // It may be longer than `limits.cms_page_bytes`.
                    Err(ContentError::Unusable(_)) if ids.len() > 1 => {
                        parts.extend(ids.into_iter().map(|id| vec![id]));
                    }
                    Err(error) => self.record_failure(cache, at, ids, &error),
                }
            }
        }
        !self.state.lock().pending.is_empty()
    }

    /// Documents that the CMS could not send are read again. After a response that cannot be used a link scan is
    /// due, which says why if it fails, too.
    fn record_failure(
        &self,
        cache: &SnapshotCache,
        at: usize,
        ids: Vec<String>,
        error: &ContentError,
    ) {
        let (site, detail) = (&self.site.key, cache.content.detail(error));
        tracing::debug!(site, error = detail, "links of documents could not be read");
        let mut state = self.state.lock();
        if matches!(error, ContentError::Unusable(_) | ContentError::Setup(_)) {
            state.ask(Demand::AfterPause);
        } else {
            state.pending.extend(ids.into_iter().map(|id| (at, id)));
        }
    }

    /// The links of these documents.
    async fn read(
        &self,
        cache: &SnapshotCache,
        at: usize,
        ids: &[String],
    ) -> Result<LinkTable, ContentError> {
        let source = &self.site.links[at];
        let query = query(source, Some(Selection::Documents(ids.to_vec())));
        let locales = self.site.rules.locales().codes();
        let found = cache.content.select(&query, locales, u64::MAX).await?;
        let documents = found.unwrap_or_default();
        let max_bytes = self.state.lock().max_bytes;
        let mut sink = LinkSink {
            site: &self.site,
            hosts: &self.hosts,
            source: at,
            table: LinkTable::new(self.site.links_fingerprint, 0, max_bytes),
            found: Vec::new(),
        };
        tokio::task::block_in_place(|| documents.iter().for_each(|one| sink.push(Ok(one))));
        Ok(sink.table)
    }

    pub(super) fn replace(&self, at: usize, ids: &[String], read: &LinkTable, begun: Instant) {
        let mut state = self.state.lock();
        let state = &mut *state;
        let Some(table) = &mut state.table else { return };
        // A copy if a response is being written from it.
        let table = Arc::make_mut(table);
        for id in ids {
            table.copy_document(at, id, read);
            state.read.insert((at, id.clone()), begun);
        }
        let is_scanning = state.is_scanning;
        state.read.retain(|_, read| read.elapsed() < REMEMBERED || is_scanning);
        state.version += 1;
    }
}
