//! Why a log begins, and how that is logged.

use super::SharedChanges;

/// Why a log begins that no instance has had.
const NONE: &str = "there is none";

impl SharedChanges {
    /// Why Redis has no log of a site.
    pub(super) fn why_missing(&self, site: &str) -> &'static str {
        let state = self.inner.state.lock();
        let was_there = state.sites.get(site).is_some_and(|known| known.read.is_some());
        if was_there { "Redis has lost it" } else { NONE }
    }
}

/// Logs that the log of a site begins because there is none, or again because it cannot be used.
pub(super) fn log_begin(site: &str, reason: &str) {
    if reason == NONE {
        tracing::info!(site, "the shared change log begins");
    } else {
        tracing::warn!(site, reason, "the shared change log begins again");
    }
}

/// Logs that a publication begins the log of a site: also because of other settings.
pub(super) fn log_publication(site: &str, uid: &str, reason: &str) {
    if reason == NONE {
        tracing::info!(site, uid, "the shared change log begins");
    } else {
        tracing::info!(site, uid, reason, "the shared change log begins again");
    }
}
