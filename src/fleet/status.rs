//! What is shown of a list that instances share: its version on this instance, and its lag.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The versions of one list that this instance has seen. It survives a reload of the settings.
#[derive(Debug, Default)]
pub struct VersionStatus(Mutex<Versions>);

#[derive(Debug, Default)]
struct Versions {
    /// The one in use on this instance.
    current: Option<u64>,
    /// The newest published one that is not in use here, and when the first such one was published.
    missing: Option<(u64, Instant)>,
    /// From the publication of a version to its adoption, the last time.
    lag: Option<Duration>,
}

impl VersionStatus {
    /// Records that this instance has published a version.
    pub fn published(&self, version: u64) {
        let mut versions = self.0.lock();
        versions.current = Some(version);
        versions.missing = None;
    }

    /// Records that another instance published a version at this time.
    pub fn announced(&self, version: u64, at: Instant) {
        let mut versions = self.0.lock();
        if versions.current.is_some_and(|current| version <= current) {
            return;
        }
        // The first one that is missing says how late this instance is.
        let at = versions.missing.map_or(at, |(_, first)| first);
        versions.missing = Some((version, at));
    }

    /// Records that this instance now uses a version that another one has published.
    pub fn adopted(&self, version: u64) {
        let mut versions = self.0.lock();
        versions.current = Some(version);
        if let Some((_, at)) = versions.missing.take_if(|(newest, _)| *newest <= version) {
            versions.lag = Some(at.elapsed());
        }
    }

    /// Forgets the versions: the engine is away or another one, and numbers may begin again.
    pub fn forget(&self) {
        let mut versions = self.0.lock();
        versions.current = None;
        versions.missing = None;
    }

    /// The version in use on this instance; `None`: its copy is not that of the fleet.
    #[must_use]
    pub fn current(&self) -> Option<u64> {
        self.0.lock().current
    }

    /// How long a published version has been missing here; if none is, how long the last adoption
    /// took from the publication.
    #[must_use]
    pub fn lag(&self) -> Option<Duration> {
        let versions = self.0.lock();
        versions.missing.map(|(_, since)| since.elapsed()).or(versions.lag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    /// A minute ago.
    fn earlier() -> Instant {
        Instant::now().checked_sub(MINUTE).expect("the clock has run for a minute")
    }

    #[test]
    fn an_adoption_has_the_lag_since_its_publication() {
        let status = VersionStatus::default();
        assert_eq!((status.current(), status.lag()), (None, None));
        status.announced(1, earlier());
        status.adopted(1);
        let lag = status.lag().expect("there was an adoption");
        assert!((MINUTE..MINUTE * 2).contains(&lag), "{lag:?}");
        assert_eq!((status.current(), status.lag()), (Some(1), Some(lag)));
    }

    #[test]
    fn a_missing_version_has_the_lag_of_the_first_that_was_missed() {
        let status = VersionStatus::default();
        status.announced(1, earlier());
        status.announced(2, Instant::now());
        assert!(status.lag().is_some_and(|lag| lag >= MINUTE), "{:?}", status.lag());
        // It is still one behind.
        status.adopted(1);
        assert!(status.lag().is_some_and(|lag| lag >= MINUTE), "{:?}", status.lag());
        status.adopted(2);
        assert_eq!(status.current(), Some(2));
    }

    #[test]
    fn an_old_announcement_leaves_the_lag_as_it_is() {
        let status = VersionStatus::default();
        status.published(5);
        status.announced(5, earlier());
        status.announced(4, earlier());
        assert_eq!((status.current(), status.lag()), (Some(5), None));
    }

    #[test]
    fn versions_that_begin_again_are_seen_after_the_old_ones_are_forgotten() {
        let status = VersionStatus::default();
        status.published(5);
        status.forget();
        assert_eq!(status.current(), None);
        status.announced(1, earlier());
        assert!(status.lag().is_some_and(|lag| lag >= MINUTE));
    }
}
