//! The status of Redis and of shared snapshots, as `/readyz` and the metrics show it.

use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};

use crate::checks::limit::CheckCounts;
use crate::redis;
use crate::{Role, SnapshotGroup};

/// The status of Redis now. As JSON, it is `shared` of `/readyz`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RedisStatus {
    /// `connecting`, `available` or `unavailable`.
    pub state: &'static str,
    /// Why it is unavailable, or what does not work although it is available; `None`: nothing.
    pub problem: Option<String>,
    /// The number of other deployments that use the same keys.
    #[serde(skip)]
    pub other_deployments: usize,
    /// Seconds since it became usable or ceased to be; if it never was usable, since the start.
    pub seconds: u64,
    /// The last known number of instances, this one included.
    pub instances: usize,
    /// The URL checks of this instance.
    pub url_checks: CheckCounts,
}

impl RedisStatus {
    /// The status of this Redis, with these URL checks.
    pub(super) fn of(
        redis: &redis::Client,
        unpublished: Option<String>,
        url_checks: CheckCounts,
    ) -> Self {
        let others = redis.other_deployments();
        let (state, problem) = match redis.availability() {
            redis::Availability::Connecting => ("connecting", None),
            redis::Availability::Available { .. } => {
                ("available", unpublished.or_else(|| shared_prefix(&others)))
            }
            redis::Availability::Unavailable { reason, .. } => {
                ("unavailable", Some(reason.to_string()))
            }
        };
        let other_deployments = if state == "available" { others.len() } else { 0 };
        let (seconds, instances) = (redis.availability_age().as_secs(), redis.instances());
        Self { state, problem, other_deployments, seconds, instances, url_checks }
    }
}

/// The problem that other deployments use the same keys.
fn shared_prefix(others: &[String]) -> Option<String> {
    let first = others.first()?;
    Some(format!(
        "another deployment uses the same keys ({first}): unless this one replaces it, set another `shared.prefix`"
    ))
}

/// The status of a snapshot on this instance now. As JSON, it is `shared` of a content type in `/readyz`.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct SnapshotStatus {
    /// The role of the instance for it.
    #[serde(serialize_with = "name")]
    pub role: Role,
    /// How long the instance has had the lease, if it is the leader.
    #[serde(rename = "leaseSeconds", serialize_with = "whole_seconds")]
    pub lease_age: Option<Duration>,
    /// The version that the instance has published or adopted last.
    pub version: Option<u64>,
    /// [`VersionStatus::missing_for`].
    #[serde(rename = "missingSeconds", serialize_with = "seconds")]
    pub missing_for: Option<Duration>,
    /// [`VersionStatus::lag`].
    #[serde(rename = "lagSeconds", serialize_with = "seconds")]
    pub lag: Option<Duration>,
}

fn name<S: Serializer>(role: &Role, to: S) -> Result<S::Ok, S::Error> {
    role.name().serialize(to)
}

#[expect(clippy::ref_option, reason = "serde calls it with a reference to the field")]
fn whole_seconds<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs()).serialize(to)
}

/// In seconds, exact to the millisecond.
#[expect(clippy::ref_option, reason = "serde calls it with a reference to the field")]
fn seconds<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    time.map(|time| (time.as_secs_f64() * 1e3).round() / 1e3).serialize(to)
}

impl SnapshotStatus {
    /// The status of a snapshot of this group. While Redis is unavailable, no version counts as
    /// missing.
    pub(super) fn of(group: &SnapshotGroup, versions: VersionStatus, is_unavailable: bool) -> Self {
        let role = group.role();
        // Without Redis, the lease expires some seconds later.
        let lead = group.lead().filter(|_| matches!(role, Role::Leader(_)));
        Self {
            role,
            lease_age: lead.and_then(|lead| lead.lease().held_for()),
            version: versions.current,
            missing_for: versions.missing_for().filter(|_| !is_unavailable),
            lag: versions.lag,
        }
    }
}

/// The versions of one snapshot that this instance has seen. They survive a reload of the settings.
#[derive(Clone, Copy, Debug, Default)]
pub struct VersionStatus {
    /// The version that this instance serves; `None`: its snapshot is not a published one.
    pub current: Option<u64>,
    /// The newest published version that this instance has not adopted, and when the first of these
    /// was published.
    missing: Option<(u64, Instant)>,
    /// The time from the publication of a version to its adoption, the last time.
    pub lag: Option<Duration>,
}

impl VersionStatus {
    /// Records that this instance has published a version.
    pub fn published(&mut self, version: u64) {
        self.current = Some(version);
        self.missing = None;
    }

    /// Records that another instance published a version at this time.
    pub fn announced(&mut self, version: u64, at: Instant) {
        if self.current.is_some_and(|current| version <= current) {
            return;
        }
        // The time counts from the first missing version.
        let at = self.missing.map_or(at, |(_, first)| first);
        self.missing = Some((version, at));
    }

    /// Records that this instance has adopted a version that another one has published. If it is
    /// before the last one, Redis has lost the versions, and numbers begin again.
    pub fn adopted(&mut self, version: u64) {
        if self.current.is_some_and(|current| version < current) {
            self.missing = None;
        }
        self.current = Some(version);
        if let Some((_, at)) = self.missing.take_if(|(newest, _)| *newest <= version) {
            self.lag = Some(at.elapsed());
        }
    }

    /// The time since the publication of the first version that this instance has not adopted;
    /// `None`: it has adopted all.
    pub fn missing_for(&self) -> Option<Duration> {
        self.missing_since().map(|since| since.elapsed())
    }

    /// When the first version was published that this instance has not adopted.
    pub(super) fn missing_since(&self) -> Option<Instant> {
        self.missing.map(|(_, since)| since)
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

    /// Whether this is about a minute.
    fn is_a_minute(time: Option<Duration>) -> bool {
        time.is_some_and(|time| (MINUTE..MINUTE * 2).contains(&time))
    }

    #[test]
    fn an_adoption_has_the_lag_since_its_publication() {
        let mut status = VersionStatus::default();
        assert_eq!((status.current, status.missing_for(), status.lag), (None, None, None));
        status.announced(1, earlier());
        assert!(is_a_minute(status.missing_for()));
        status.adopted(1);
        assert_eq!((status.current, status.missing_for()), (Some(1), None));
        assert!(is_a_minute(status.lag));
    }

    #[test]
    fn a_missing_version_counts_from_the_first_that_was_missed() {
        let mut status = VersionStatus::default();
        status.announced(1, earlier());
        status.announced(2, Instant::now());
        // It is still one behind.
        status.adopted(1);
        assert!(is_a_minute(status.missing_for()));
        status.adopted(2);
        assert!(is_a_minute(status.lag));
        assert_eq!((status.current, status.missing_for()), (Some(2), None));
    }

    #[test]
    fn an_old_announcement_changes_nothing() {
        let mut status = VersionStatus::default();
        status.published(5);
        status.announced(5, earlier());
        status.announced(4, earlier());
        assert_eq!((status.current, status.missing_for(), status.lag), (Some(5), None, None));
    }

    #[test]
    fn versions_that_begin_again_replace_the_old_ones() {
        let mut status = VersionStatus::default();
        status.published(5);
        status.announced(6, earlier());
        status.adopted(1);
        assert_eq!((status.current, status.missing_for(), status.lag), (Some(1), None, None));
        status.announced(2, earlier());
        assert!(is_a_minute(status.missing_for()));
    }
}
