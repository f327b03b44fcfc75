//! Differences between single documents and their snapshots. A document is read again for the snapshot
//! when one is found, and ever more rarely while the difference stays: then the CMS contradicts itself.

use std::time::{Duration, Instant};

use quick_cache::sync::Cache;

use frontend_map_rules::Locale;

/// The documents that are remembered.
const MAX_DOCUMENTS: usize = 10_000;
/// The pause after the first report of a difference: the update of the document takes less.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// The longest pause between two reports of a difference.
const LAST_PAUSE: Duration = Duration::from_hours(1);

/// The differences of documents, by content type and `documentId`.
pub(super) struct Differences(Cache<(String, String), Difference>);

#[derive(Clone, Debug)]
struct Difference {
    /// When it was last reported, by any instance.
    reported: Instant,
    /// How long it is not reported again.
    pause: Duration,
    /// The version that this instance has found to differ; `None`: another instance has found it.
    version: Option<Version>,
}

/// A version of a document: `Site::fingerprint` and the locale.
pub(super) type Version = (u128, Locale);

impl Default for Differences {
    fn default() -> Self {
        Self(Cache::new(MAX_DOCUMENTS))
    }
}

impl Differences {
    /// This instance finds a difference. Returns whether it is to be reported.
    pub(super) fn find(&self, uid: &str, id: &str, version: Version, now: Instant) -> bool {
        let key = (uid.to_owned(), id.to_owned());
        let before = self.0.get(&key);
        let is_paused = before.as_ref().is_some_and(|before| before.is_paused(now));
        if !is_paused {
            let next = Difference::after(before.as_ref(), now);
            self.0.insert(key, Difference { version: Some(version), ..next });
        }
        !is_paused
    }

    /// An instance, this one or another, has reported a difference. Returns whether it was reported
    /// before and has stayed.
    pub(super) fn hear(&self, uid: &str, id: &str, now: Instant) -> bool {
        let key = (uid.to_owned(), id.to_owned());
        let before = self.0.get(&key);
        match before {
            // It is the same report.
            Some(before) if before.is_paused(now) => before.pause > FIRST_PAUSE,
            before => {
                let next = Difference::after(before.as_ref(), now);
                let has_stayed = next.pause > FIRST_PAUSE;
                self.0.insert(key, next);
                has_stayed
            }
        }
    }

    /// A version agrees with its snapshot. That another version of the document still differs does not
    /// end its pause.
    pub(super) fn end(&self, uid: &str, id: &str, version: &Version) {
        let key = (uid.to_owned(), id.to_owned());
        let is_of = |one: Difference| one.version.is_none_or(|differs| differs == *version);
        if self.0.get(&key).is_some_and(is_of) {
            self.0.remove(&key);
        }
    }
}

impl Difference {
    fn is_paused(&self, now: Instant) -> bool {
        now < self.reported + self.pause
    }

    /// A difference that is reported now. One that was not reported for long is a new one.
    fn after(before: Option<&Self>, now: Instant) -> Self {
        let before = before.filter(|before| now < before.reported + before.pause + LAST_PAUSE);
        let pause = before.map_or(FIRST_PAUSE, |before| (before.pause * 2).min(LAST_PAUSE));
        let version = before.and_then(|before| before.version.clone());
        Self { reported: now, pause, version }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UID: &str = "api::a.a";

    fn version(locale: &str) -> Version {
        (1, Locale::parse(locale).unwrap())
    }

    #[test]
    fn pause_between_reports_of_a_document_doubles_up_to_an_hour() {
        let (differences, start) = (Differences::default(), Instant::now());
        let find = |id, seconds| {
            differences.find(UID, id, version("en"), start + Duration::from_secs(seconds))
        };
        let seconds: Vec<u64> = (0..4 * 3_600).filter(|second| find("a", *second)).collect();
        let pauses: Vec<u64> = seconds.windows(2).map(|two| two[1] - two[0]).collect();
        let expected = [5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600];
        assert_eq!(pauses, expected);
        assert!(find("b", 1), "another document");
        assert!(find("a", 10 * 3_600), "it was not read for hours");
        assert!(!find("a", 10 * 3_600 + 4) && find("a", 10 * 3_600 + 5));
    }

    #[test]
    fn pauses_begin_anew_when_the_version_that_differed_agrees() {
        let (differences, now) = (Differences::default(), Instant::now());
        assert!(differences.find(UID, "a", version("en"), now));
        differences.end(UID, "a", &version("de"));
        assert!(!differences.find(UID, "a", version("en"), now), "another version agrees");
        differences.end(UID, "a", &version("en"));
        assert!(differences.find(UID, "a", version("en"), now));
    }

    #[test]
    fn report_of_another_instance_counts() {
        let (differences, start) = (Differences::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(!differences.hear(UID, "a", at(0)), "the first one");
        assert!(!differences.hear(UID, "a", at(1)), "the same one");
        assert!(!differences.find(UID, "a", version("en"), at(4)));
        assert!(differences.hear(UID, "a", at(5)), "it has stayed");
        assert!(differences.hear(UID, "a", at(6)), "the same one");
        assert!(!differences.find(UID, "a", version("en"), at(14)));
        assert!(differences.find(UID, "a", version("en"), at(15)));
    }
}
