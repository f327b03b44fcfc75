//! Whether this instance can answer readers of the change log of a site now.

use std::time::Duration;

use tokio::time::timeout;

use super::{SharedChanges, SiteState};
use crate::redis::{self, ANSWER_WAIT};
use crate::snapshot_position::Position;
use frontend_map_catalog::changes::log::{Cursor, Since};

/// For how long after a read of a log readers of changes wait until this instance has adopted the versions
/// whose changes it has: if it cannot adopt them, it walks by itself.
const ADOPTION_WAIT: Duration = Duration::from_secs(10);

/// What a reader of a site requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The changes since a place in the log; without one, its end.
    Changes(Option<Since>),
    /// All pages, with the changes up to a cursor.
    Pages(Cursor),
}

/// How a reader of a site can be answered now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// With the changes in the log, or all pages.
    Ready,
    /// Without changes and with the same cursor: it comes from an instance that has read more.
    Ahead,
    /// Not at all: the log is not known yet, or the pages lack changes in it.
    NotYet,
}

impl SharedChanges {
    /// How a reader of a site can be answered; waits for Redis for at most 50 ms.
    pub async fn readiness(&self, site: &str, wanted: Wanted) -> Readiness {
        let is_for_pages = matches!(wanted, Wanted::Pages(_));
        let cursor = match wanted {
            Wanted::Changes(Some(Since::Cursor(cursor))) | Wanted::Pages(cursor) => Some(cursor),
            Wanted::Changes(_) => None,
        };
        // This instance may not have read the log of the cursor yet.
        let is_unknown = cursor.is_some_and(|cursor| self.log.waiting(site, cursor).is_none());
        let session = match self.redis.availability() {
            redis::Availability::Available { session } => session,
            redis::Availability::Connecting => return Readiness::NotYet,
            redis::Availability::Unavailable { .. } if is_for_pages && is_unknown => {
                return Readiness::NotYet;
            }
            redis::Availability::Unavailable { .. } => return Readiness::Ready,
        };
        if self.lacks_changes(site) {
            return Readiness::NotYet;
        }
        let is_ahead = cursor.is_some_and(|cursor| self.log.is_ahead(site, cursor));
        if is_unknown || !self.is_read(site, session) {
            match timeout(ANSWER_WAIT, self.catch_up(site)).await {
                Ok(Ok(())) => {}
                _ if is_ahead && !is_for_pages => return Readiness::Ahead,
                _ => return Readiness::NotYet,
            }
        }
        match wanted {
            Wanted::Changes(since) => {
                let reads_pages = match since {
                    None => true,
                    Some(Since::Oldest) => false,
                    Some(Since::Cursor(cursor)) => self.log.waiting(site, cursor).is_none(),
                };
                answer(reads_pages, self.is_behind_log(site, Some(ADOPTION_WAIT)))
            }
            // The pages of other settings are compared with no version of the log. Those of a walk of this
            // instance alone may lack changes before the cursor.
            Wanted::Pages(_) => {
                answer(true, self.has_other_log(site) || self.is_behind_log(site, None))
            }
        }
    }

    /// Whether instances with other settings append to the log of a site.
    fn has_other_log(&self, site: &str) -> bool {
        let state = self.inner.state.lock();
        state.sites.get(site).is_some_and(|known| known.lease != state.lease)
    }

    /// Whether the log of a site in memory is a replica of Redis's, and was read in this
    /// session.
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

    /// Whether the log has changes of a version that this instance has not adopted yet, and no later ones
    /// either. With `within`: only if the last other log or base was read less than this time ago, or if
    /// this instance did not adopt a version that has some, because its own snapshot was later.
    fn is_behind_log(&self, site: &str, within: Option<Duration>) -> bool {
        let state = self.inner.state.lock();
        // Instances with other settings never adopt the versions of a log.
        let known = state.sites.get(site).filter(|known| known.lease == state.lease);
        let Some(known) = known else { return false };
        let is_recent =
            within.is_none_or(|within| known.since.is_some_and(|since| since.elapsed() < within));
        known.is_behind_log(is_recent)
    }
}

impl SiteState {
    /// Whether the log has changes that the snapshots of this instance lack. Without `waits`: only if it
    /// did not adopt a version that has some, because its own snapshot was later.
    fn is_behind_log(&self, waits: bool) -> bool {
        let position = |text: &String| text.parse().ok();
        self.types.iter().any(|uid| {
            let settled = self.settled.get(uid).map(|settled| &settled.position);
            let contained = self.passed_over.get(uid).filter(|version| version.has_all);
            let served = settled.and_then(position).max(contained.map(|version| version.position));
            let base = self.bases.get(uid).and_then(|base| position(&base.position));
            is_behind(served, base) && (waits || self.lacks_passed_over(uid))
        })
    }
}

/// Whether a log may have changes of a later version of a content type than an instance serves. A log
/// that has just begun does not say yet with which version it begins.
pub(crate) fn is_behind(served: Option<Position>, log: Option<Position>) -> bool {
    log.is_none_or(|log| Some(log) > served) && (log, served) != (None, None)
}

/// How a request is answered once the log is known. A reader without a cursor, or with one that gets a
/// reset, reads all pages, which must not be older than the log.
pub(crate) fn answer(reads_pages: bool, is_behind: bool) -> Readiness {
    if reads_pages && is_behind { Readiness::NotYet } else { Readiness::Ready }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::changes::PassedOver;
    use crate::changes::fields::BaseValue;

    #[test]
    fn version_that_was_passed_over_is_waited_for_unless_the_own_snapshot_has_all_of_it() {
        let mut known = SiteState { types: vec!["a".to_owned()], ..SiteState::default() };
        let at = |version| Position { epoch: 1, version };
        known.bases.insert("a".to_owned(), BaseValue { log: 1, position: at(2).to_string() });
        let published = Instant::now();
        let version =
            |number, has_all| Some(PassedOver { position: at(number), published, has_all });
        for (passed_over, is_behind, is_behind_later) in [
            (None, true, false),
            (version(1, true), true, false),
            (version(2, true), false, false),
            // The log has changes that are not in the later snapshot.
            (version(1, false), true, true),
            (version(2, false), true, true),
        ] {
            known.passed_over = passed_over.map(|one| ("a".to_owned(), one)).into_iter().collect();
            let found = (known.is_behind_log(true), known.is_behind_log(false));
            assert_eq!(found, (is_behind, is_behind_later), "{passed_over:?}");
        }
    }

    #[test]
    fn reader_of_all_pages_waits_until_the_instance_serves_what_the_log_has() {
        let at = |version| Some(Position { epoch: 1, version });
        for (served, log, behind) in [
            (None, None, false),
            (at(1), at(1), false),
            (at(2), at(1), false),
            (at(1), at(2), true),
            (None, at(1), true),
            // It has just begun.
            (at(1), None, true),
        ] {
            assert_eq!(is_behind(served, log), behind, "{served:?} {log:?}");
        }
        assert_eq!(answer(true, true), Readiness::NotYet);
        for (reads_pages, is_behind) in [(true, false), (false, true), (false, false)] {
            assert_eq!(answer(reads_pages, is_behind), Readiness::Ready);
        }
    }
}
