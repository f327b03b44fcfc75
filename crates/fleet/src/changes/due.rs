//! Which logs are to be read, and when.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The pause after a read that has failed; it doubles with each further failure.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_secs(8);

/// The sites whose logs are to be read. A log that cannot be read does not delay those of other
/// sites.
#[derive(Debug, Default)]
pub(super) struct Due {
    /// The time of the read, by site.
    sites: BTreeMap<String, Instant>,
    /// The pauses of sites whose last read has failed, with their ends.
    failed: BTreeMap<String, (Duration, Instant)>,
}

impl Due {
    /// Schedules a read of the log of a site: now, or at the end of its pause.
    pub(super) fn add(&mut self, site: &str, now: Instant) {
        let at = self.failed.get(site).map_or(now, |(_, end)| *end);
        self.sites.entry(site.to_owned()).or_insert(at);
    }

    /// Takes the site that has been due for the longest time. If none is due: the time of the next
    /// read, if there is one.
    pub(super) fn take(&mut self, now: Instant) -> Result<String, Option<Instant>> {
        let first = self.sites.iter().min_by_key(|(_, at)| **at);
        let Some((site, at)) = first.map(|(site, at)| (site.clone(), *at)) else {
            return Err(None);
        };
        if at > now {
            return Err(Some(at));
        }
        self.sites.remove(&site);
        Ok(site)
    }

    /// Records the result of a read. A failed one is repeated after a pause.
    pub(super) fn is_read(&mut self, site: &str, has_failed: bool, now: Instant) {
        if !has_failed {
            self.failed.remove(site);
            return;
        }
        let before = self.failed.get(site).map(|(pause, _)| *pause);
        let pause = before.map_or(FIRST_PAUSE, |pause| (pause * 2).min(MAX_PAUSE));
        self.failed.insert(site.to_owned(), (pause, now + pause));
        self.sites.insert(site.to_owned(), now + pause);
    }

    /// Forgets all reads and failures.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn site_that_cannot_be_read_keeps_no_other_one_waiting() {
        let (mut due, start) = (Due::default(), Instant::now());
        due.add("a", start);
        due.add("b", start + Duration::from_millis(1));
        assert_eq!(due.take(start + FIRST_PAUSE), Ok("a".to_owned()));
        due.is_read("a", true, start);
        // An event does not end the pause.
        due.add("a", start);
        assert_eq!(due.take(start + FIRST_PAUSE / 2), Ok("b".to_owned()));
        due.is_read("b", false, start);
        assert_eq!(due.take(start + FIRST_PAUSE / 2), Err(Some(start + FIRST_PAUSE)));
        assert_eq!(due.take(start + FIRST_PAUSE), Ok("a".to_owned()));
        assert_eq!(due.take(start + FIRST_PAUSE), Err(None));
    }

    #[test]
    fn pause_of_a_site_doubles_and_ends_with_a_success() {
        let (mut due, mut now) = (Due::default(), Instant::now());
        let mut pauses = Vec::new();
        for _ in 0..6 {
            due.is_read("a", true, now);
            let end = due.take(now).unwrap_err().unwrap();
            pauses.push((end - now).as_millis());
            now = end;
            assert_eq!(due.take(now), Ok("a".to_owned()));
        }
        assert_eq!(pauses, [500, 1_000, 2_000, 4_000, 8_000, 8_000]);
        due.is_read("a", false, now);
        due.add("a", now);
        assert_eq!(due.take(now), Ok("a".to_owned()));
    }
}
