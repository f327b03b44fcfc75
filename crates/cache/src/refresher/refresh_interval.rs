//! How often snapshots are refreshed: as the settings say, or less often where the share of the CMS
//! does not permit that.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::entry::Entry;
use crate::refresh::{Member, TypeGroup};
use crate::settings::Freshness;

/// After a webhook event, walks only make up for lost events for this long. A content type that is
/// not requested for this long is not refreshed.
const HOUR: Duration = Duration::from_hours(1);
/// After how many intervals a path index is stale: enough for a CMS that restarts.
const STALE_INTERVALS: u32 = 10;

/// The present interval; read by requests, which must not wait for a lock.
#[derive(Debug, Default)]
pub(crate) struct RefreshInterval {
    interval_ms: AtomicU64,
    stale_ms: AtomicU64,
}

impl RefreshInterval {
    /// Determines the interval anew.
    pub(crate) fn update<'a>(
        &self,
        freshness: Freshness,
        groups: impl Iterator<Item = &'a Arc<TypeGroup>>,
        since_event: Option<Duration>,
    ) {
        let walks = groups.filter(|group| is_in_use(group)).map(|group| group.walk_time()).sum();
        let set = |cell: &AtomicU64, time: Duration| {
            let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            cell.store(millis, Ordering::Relaxed);
        };
        set(&self.interval_ms, interval(freshness, walks, since_event));
        set(&self.stale_ms, STALE_INTERVALS * longest_interval(freshness, walks, since_event));
    }

    /// The age from which a snapshot is refreshed.
    pub(crate) fn current(&self) -> Duration {
        Duration::from_millis(self.interval_ms.load(Ordering::Relaxed))
    }

    /// The age from which a path index is stale.
    pub(crate) fn stale_limit(&self) -> Duration {
        Duration::from_millis(self.stale_ms.load(Ordering::Relaxed))
    }
}

fn is_in_use(group: &TypeGroup) -> bool {
    let is_requested =
        |entry: &Entry| entry.requested().is_some_and(|requested| requested.elapsed() < HOUR);
    let mut members = group.members.iter();
    members.any(|Member { site, entry }| site.index.is_some() || is_requested(entry))
}

fn interval(freshness: Freshness, walks: Duration, since_event: Option<Duration>) -> Duration {
    let Freshness { soft, check, hard, cms_share, .. } = freshness;
    let configured = if since_event.is_some_and(|since| since < HOUR) { check } else { soft };
    configured.max(walks.div_f64(cms_share)).min(hard)
}

/// The longest interval that the age of a present snapshot can have come from: just after the hour,
/// snapshots are still as old as `check` permits.
fn longest_interval(
    freshness: Freshness,
    walks: Duration,
    since_event: Option<Duration>,
) -> Duration {
    let recent = since_event.map(|since| since.saturating_sub(2 * freshness.check));
    interval(freshness, walks, recent).max(interval(freshness, walks, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRESHNESS: Freshness = Freshness {
        soft: Duration::from_mins(1),
        check: Duration::from_mins(10),
        hard: Duration::from_hours(24),
        at_start: true,
        ready: Duration::from_secs(30),
        cms_share: 0.1,
    };

    #[test]
    fn interval_is_longer_after_an_event_and_where_walks_are_long() {
        let seconds = Duration::from_secs;
        for (walks, since_event, expected) in [
            (0, None, 60),
            (5, None, 60),
            (33, None, 330),
            (0, Some(0), 600),
            (33, Some(3599), 600),
            (100, Some(3599), 1000),
            (0, Some(3600), 60),
            (100_000, None, 86_400),
        ] {
            let interval = interval(FRESHNESS, seconds(walks), since_event.map(seconds));
            assert_eq!(interval, seconds(expected), "{walks} {since_event:?}");
        }
    }

    #[test]
    fn index_is_stale_by_the_longest_interval_that_its_snapshots_can_have_had() {
        let seconds = Duration::from_secs;
        let long = Freshness { soft: seconds(7200), ..FRESHNESS };
        for (freshness, since_event, expected) in [
            (FRESHNESS, None, 60),
            (FRESHNESS, Some(0), 600),
            (FRESHNESS, Some(3600 + 1199), 600),
            (FRESHNESS, Some(3600 + 1200), 60),
            (long, Some(0), 7200),
            (long, None, 7200),
        ] {
            let longest = longest_interval(freshness, Duration::ZERO, since_event.map(seconds));
            assert_eq!(longest, seconds(expected), "{since_event:?}");
        }
    }
}
