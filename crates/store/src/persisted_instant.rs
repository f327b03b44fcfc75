//! Persisted instants: times that survive the process, and from which a later process computes
//! ages.
//!
//! The clock of the system may be set back. The time since the machine has started cannot, but it is
//! of no use after a restart of the machine. An age is never less than the true one.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use frontend_map_platform::clock::unix_ms;

/// A time, by both clocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PersistedInstant {
    /// Milliseconds since 1970.
    pub(super) unix_ms: i64,
    /// The id of the boot, and the milliseconds since then; `None` where the system has no such id.
    boot: Option<(String, i64)>,
}

impl PersistedInstant {
    pub(super) fn now() -> Self {
        Self { unix_ms: unix_ms(), boot: boot() }
    }

    /// The time that is this much earlier.
    pub(super) fn before(&self, duration: Duration) -> Self {
        let duration = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        let boot = self.boot.as_ref();
        Self {
            unix_ms: self.unix_ms.saturating_sub(duration),
            boot: boot.map(|(id, ms)| (id.clone(), ms.saturating_sub(duration))),
        }
    }

    /// The time since an earlier one. `written` is the latest time that a process is known to have
    /// seen, in milliseconds since 1970. `None`: the clock has been set back, and the machine has been
    /// restarted since.
    pub(super) fn since(&self, earlier: &Self, written: Option<i64>) -> Option<Duration> {
        let by_clock = self.unix_ms.saturating_sub(earlier.unix_ms);
        let by_boot = match (&self.boot, &earlier.boot) {
            (Some((id, now)), Some((other, then))) if id == other && now >= then => {
                Some(now - then)
            }
            _ => None,
        };
        let is_set_back = by_clock < 0 || written.is_some_and(|written| self.unix_ms < written);
        let age = match by_boot {
            Some(by_boot) => by_boot.max(by_clock),
            None if is_set_back => return None,
            None => by_clock,
        };
        u64::try_from(age).ok().map(Duration::from_millis)
    }
}

/// The id of the present boot, and the milliseconds since then, in which the machine may have been
/// suspended.
#[cfg(target_os = "linux")]
fn boot() -> Option<(String, i64)> {
    use rustix::time::{ClockId, clock_gettime};
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let now = clock_gettime(ClockId::Boottime);
    Some((
        id.trim().to_owned(),
        now.tv_sec.saturating_mul(1000).saturating_add(now.tv_nsec / 1_000_000),
    ))
}

/// Other systems have no such id.
#[cfg(not(target_os = "linux"))]
fn boot() -> Option<(String, i64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(unix_ms: i64, boot: Option<(&str, i64)>) -> PersistedInstant {
        PersistedInstant { unix_ms, boot: boot.map(|(id, ms)| (id.to_owned(), ms)) }
    }

    #[test]
    fn age_is_never_less_than_the_true_one() {
        let walk = instant(10_000, Some(("a", 1_000)));
        for (now, written, expected) in [
            // The clock runs as it should, in the same start of the machine and in a later one.
            (instant(15_000, Some(("a", 6_000))), Some(12_000), Some(5_000)),
            (instant(15_000, Some(("b", 100))), Some(12_000), Some(5_000)),
            (instant(15_000, None), Some(12_000), Some(5_000)),
            (instant(15_000, None), None, Some(5_000)),
            // It was set back.
            (instant(5_000, Some(("a", 6_000))), Some(12_000), Some(5_000)),
            (instant(11_000, Some(("a", 6_000))), Some(12_000), Some(5_000)),
            (instant(5_000, Some(("b", 6_000))), None, None),
            (instant(11_000, Some(("b", 6_000))), Some(12_000), None),
            (instant(11_000, None), Some(12_000), None),
            // It was set forward: the snapshot seems older than it is.
            (instant(90_000, Some(("a", 6_000))), Some(12_000), Some(80_000)),
            // The time since the start has run backwards: it is not used.
            (instant(15_000, Some(("a", 500))), Some(12_000), Some(5_000)),
        ] {
            let age = now.since(&walk, written);
            assert_eq!(age, expected.map(Duration::from_millis), "{now:?} {written:?}");
        }
    }

    #[test]
    fn instant_before_now_is_so_old() {
        let now = PersistedInstant::now();
        let hour = Duration::from_hours(1);
        assert_eq!(now.since(&now.before(hour), Some(now.unix_ms)), Some(hour));
        assert!(now.since(&now.before(Duration::MAX), None).is_some());
        let text = serde_json::to_string(&now).unwrap();
        assert_eq!(serde_json::from_str::<PersistedInstant>(&text).unwrap(), now);
    }
}
