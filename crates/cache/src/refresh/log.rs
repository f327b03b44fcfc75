//! What the log says about a refresh that has ended.

use crate::entry::{Completed, Entry};
use crate::site_cache::SiteCache;
use frontend_map_cms::{Content, ContentError};

/// The target of the log line about a walk that failed. A command leaves it out, because it reports
/// the same error itself.
pub const FAILED_WALK: &str = "frontend_map::snapshot_cache::failed_walk";

/// Logs and counts the outcome of a refresh.
pub(crate) fn record(site: &SiteCache, entry: &Entry, completed: &Completed) {
    log(&site.content, entry, completed);
    if !completed.orphaned {
        entry.counters.count(completed.outcome.is_ok());
    }
}

/// Logs the outcome, and the documents without a URL: a mistake in the content that is not visible
/// in the sitemap.
fn log(content: &Content, entry: &Entry, completed: &Completed) {
    let (site, uid) = (&entry.site, entry.query.uid.as_str());
    if completed.orphaned {
        return tracing::debug!(site, uid, "a refresh has ended for a site that has changed");
    }
    let cached = match &completed.outcome {
        Ok(cached) => cached,
        // A CMS that is down for an hour is one line, not thousands.
        Err(error)
            if completed.failed_before || matches!(error, ContentError::CircuitOpen { .. }) =>
        {
            return tracing::debug!(
                site,
                uid,
                error = content.detail(error),
                "a walk failed again"
            );
        }
        Err(error) => {
            let error = content.detail(error);
            return tracing::warn!(target: FAILED_WALK, site, uid, error, "a walk failed");
        }
    };
    let skipped = &cached.snapshot.skipped;
    for (reason, documents) in skipped.by_reason() {
        tracing::warn!(site, uid, reason, documents, "documents have no URL");
    }
    let duplicates = cached.snapshot.duplicates().len();
    if duplicates > 0 {
        tracing::warn!(site, uid, duplicates, "documents share a URL");
    }
    let urls = cached.snapshot.len();
    if urls == 0 && skipped.total() > 0 {
        tracing::error!(site, uid, "no document of this type has a URL");
    }
    let (bytes, seconds) = (cached.snapshot.bytes(), cached.begun.elapsed().as_secs_f64());
    let seconds = (seconds * 1e3).round() / 1e3;
    tracing::info!(site, uid, urls, bytes, seconds, "a snapshot is built");
}
