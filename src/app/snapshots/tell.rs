//! What the log says of a walk that has ended.

use super::slot::{Landed, Slot};
use crate::content::ContentError;
use crate::snapshot::Snapshot;

/// Documents without a URL are somebody's mistake, and nobody sees them in the sitemap.
pub(super) fn tell(slot: &Slot, landed: &Landed) {
    let (site, uid) = (&slot.site, slot.ask.uid.as_str());
    if landed.alone {
        return tracing::debug!(site, uid, "a walk has ended for those who waited for it");
    }
    let kept = match &landed.outcome {
        Ok(kept) => kept,
        // A CMS that is down for an hour is one line, not thousands.
        Err(error) if landed.failed_before || matches!(error, ContentError::CircuitOpen { .. }) => {
            return tracing::debug!(site, uid, %error, "a walk failed again");
        }
        Err(error) => return tracing::warn!(site, uid, %error, "a walk failed"),
    };
    let Snapshot { skipped, duplicates, .. } = &*kept.snapshot;
    for (reason, documents) in skipped.by_reason() {
        tracing::warn!(site, uid, reason, documents, "documents have no URL");
    }
    if *duplicates > 0 {
        tracing::warn!(site, uid, duplicates, "documents share a URL");
    }
    let urls = kept.snapshot.len();
    if urls == 0 && skipped.total() > 0 {
        tracing::error!(site, uid, "no document of this type has a URL");
    }
    let (bytes, seconds) = (kept.snapshot.bytes(), kept.begun.elapsed().as_secs_f64());
    tracing::info!(site, uid, urls, bytes, seconds, "a snapshot is built");
}
