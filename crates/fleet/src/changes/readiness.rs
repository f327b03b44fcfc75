//! Whether this instance can answer readers of the change log of a site now.

use std::time::Duration;

use tokio::time::timeout;

use super::SharedChanges;
use crate::redis::{self, ANSWER_WAIT};
use frontend_map_catalog::changes::log::Since;

/// For how long after a log has begun readers wait until this instance has adopted the versions
/// that the log begins with. The time is limited, because instances with other settings never adopt
/// them.
const ADOPTION_WAIT: Duration = Duration::from_secs(10);

/// How a request for the changes of a site can be answered now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// From the log.
    Ready,
    /// Without changes and with the same cursor: it comes from an instance that has read more.
    Ahead,
    /// Not at all: the log is not known yet.
    NotYet,
}

impl SharedChanges {
    /// How a request for the changes of a site since this cursor can be answered; waits for Redis
    /// for at most 50 ms.
    pub async fn readiness(&self, site: &str, since: Option<Since>) -> Readiness {
        let session = match self.redis.availability() {
            redis::Availability::Available { session } => session,
            redis::Availability::Connecting => return Readiness::NotYet,
            redis::Availability::Unavailable { .. } => return Readiness::Ready,
        };
        let cursor = match since {
            Some(Since::Cursor(cursor)) => Some(cursor),
            _ => None,
        };
        if self.lacks_changes(site) {
            return Readiness::NotYet;
        }
        let is_ahead = cursor.is_some_and(|cursor| self.log.is_ahead(site, cursor));
        // This instance may not have read the log of the cursor yet.
        let is_unknown = cursor.is_some_and(|cursor| self.log.waiting(site, cursor).is_none());
        if is_unknown || !self.is_read(site, session) {
            match timeout(ANSWER_WAIT, self.catch_up(site)).await {
                Ok(Ok(())) => {}
                _ if is_ahead => return Readiness::Ahead,
                _ => return Readiness::NotYet,
            }
        }
        // A reader that gets a reset reads all pages, which must not be older than the log.
        let gets_reset = cursor.is_some_and(|cursor| self.log.waiting(site, cursor).is_none());
        if gets_reset && self.is_behind_new_log(site) {
            Readiness::NotYet
        } else {
            Readiness::Ready
        }
    }

    /// Whether the log of a site in memory is a replica of Redis's, and was read in this
    /// session.
    #[must_use]
    pub fn is_current(&self, site: &str) -> bool {
        match self.redis.availability() {
            redis::Availability::Available { session } => self.is_read(site, session),
            _ => false,
        }
    }

    fn is_read(&self, site: &str, session: u64) -> bool {
        let state = self.inner.state.lock();
        let read = state.sites.get(site).filter(|known| !known.is_unread);
        read.and_then(|known| known.read.as_ref()).is_some_and(|(_, at)| *at == session)
    }

    /// Whether this instance knows changes that the log lacks, because it cannot publish them.
    fn lacks_changes(&self, site: &str) -> bool {
        let state = self.inner.state.lock();
        state.sites.get(site).is_some_and(|known| known.unpublished().is_some())
    }

    /// Whether the log began less than ten seconds ago, and this instance has not adopted all
    /// versions that it begins with.
    fn is_behind_new_log(&self, site: &str) -> bool {
        let state = self.inner.state.lock();
        let Some(known) = state.sites.get(site) else { return false };
        known.since.is_some_and(|since| since.elapsed() < ADOPTION_WAIT) && !known.is_at_its_log()
    }
}
